package scenario

import (
	"math"
	"time"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
)

var linkTypes = map[string]uint16{
	"ethernet": packet.LinkEthernet, "sll": packet.LinkLinuxSLL, "sll2": packet.LinkLinuxSLL2,
	"raw": packet.LinkRaw, "null": packet.LinkNull, "loop": packet.LinkLoop,
}

var formats = map[string]pcapng.Format{"pcap": pcapng.PCAP, "pcapng": pcapng.PCAPNG}

// usualCapture is the capture point where a scenario says nothing.
func usualCapture() link.Capture {
	return link.Capture{
		Format: pcapng.PCAPNG, Link: packet.LinkEthernet,
		Epoch: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(),
	}
}

// capture reads the capture point.
func (c *compiler) capture(n *node) {
	p := &c.script.Capture
	c.onlyKeys(n, ofCapture)
	c.Mapping(n, keys{
		"format":  word(c, &p.Format, "format", formats),
		"time":    word(c, &p.Micro, "resolution", map[string]bool{"nano": false, "micro": true}),
		"snaplen": size(c, &p.Snaplen, 1, math.MaxUint16),
		"skip": func(n *node) {
			number(c, &p.Skip, 0, math.MaxInt32)(n)
			c.await(n, "a packet after "+itoa(p.Skip)+" that are skipped", p.Skip+1, 0)
		},
		"start": func(n *node) {
			c.duration(&p.Start, false)(n)
			c.await(n, "the start of the capture", 0, p.Start)
		},
		"stop": c.duration(&p.Stop, false),
		"only": word(c, &p.Only, "side", map[string]link.Direction{"both": link.Both, "client": link.FromClient, "server": link.FromServer}),
		"drop": c.share(&p.Drop),
		"missing": func(n *node) {
			p.Missing = nil
			c.List(n, func(n *node) {
				v := 0
				number(c, &v, 1, math.MaxInt32)(n)
				p.Missing = append(p.Missing, v)
				c.await(n, "the missing packet "+itoa(v), v, 0)
			})
		},
		"interfaces":   word(c, &p.PerSide, "choice of interfaces", map[string]bool{"one": false, "per-side": true}),
		"clock_offset": c.duration(&p.ClockOffset, true),
		"merge":        c.Boolean(&p.Merge),
		"clock_steps":  func(n *node) { c.List(n, c.clockStep) },
		"offload": func(n *node) {
			p.Offload = [2]bool{}
			c.List(n, func(n *node) {
				side := -1
				if word(c, &side, "side", sides)(n); side >= 0 {
					p.Offload[side] = true
				}
			})
		},
		"link":  c.linkType(&p.Link),
		"epoch": c.epoch(&p.Epoch),
	})
	if p.Stop > 0 && p.Stop <= p.Start {
		c.Fail(n.Pos, "the capture stops before it starts")
	}
	if p.ClockOffset != 0 && !p.PerSide {
		c.Fail(n.Pos, "clock_offset is of the second interface, and there is one: interfaces: per-side makes two")
	}
	if p.PerSide && p.Format != pcapng.PCAPNG {
		c.Fail(n.Pos, "only pcapng has several interfaces")
	}
}

// framed checks that frames have a header for what is set in it.
func (c *compiler) framed() {
	switch c.script.Capture.Link {
	case packet.LinkRaw, packet.LinkNull, packet.LinkLoop:
	default:
		return
	}
	for _, key := range c.untagged {
		if key.Text == "vlan" || len(c.script.Link.Tunnels) == 0 {
			c.Fail(key.Pos, "%s has no effect: the capture is one of packets without a link layer; link: ethernet or sll has one", key.Text)
		}
	}
}

// linkType is a word; null is one too, though YAML has another idea of it.
func (c *compiler) linkType(p *uint16) setter {
	return func(n *node) {
		if n.Kind == null && n.Text == "null" {
			*p = packet.LinkNull
			return
		}
		word(c, p, "link type", linkTypes)(n)
	}
}

// numbers reads a list of numbers.
func (c *compiler) numbers(p *[]int, lo uint64) setter {
	return func(n *node) {
		*p = nil
		c.List(n, func(n *node) {
			v := 0
			number(c, &v, lo, math.MaxInt32)(n)
			*p = append(*p, v)
		})
	}
}

// await notes what the capture point does at a packet or at a time.
func (c *compiler) await(n *node, what string, packet int, at int64) {
	c.script.Awaited = append(c.script.Awaited, synth.Awaited{
		Place: synth.Place(n.Pos), What: what, Packet: packet, At: at, OfCapture: true,
	})
}

func (c *compiler) clockStep(n *node) {
	var s link.Step
	if c.Mapping(n, keys{"at": c.duration(&s.At, false), "by": c.duration(&s.By, true)}) {
		c.script.Capture.Steps = append(c.script.Capture.Steps, s)
		c.await(n, "the step of the clock", 0, s.At)
	}
}

func (c *compiler) epoch(p *int64) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		t, err := time.Parse(time.RFC3339Nano, n.Text)
		if err != nil || t.Year() < 1971 || t.Year() > 2099 {
			c.Fail(n.Pos, "expected a time of day from 1971 to 2099 such as 2026-01-01T00:00:00Z, not %q", n.Text)
			return
		}
		*p = t.UnixNano()
	}
}

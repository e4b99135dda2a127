package scenario

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// setMessage sets a modifier of a Send or of Immediate Data.
func setMessage(c *compiler, s *step, key string, n *node) {
	switch {
	case key == "solicited":
		c.Boolean(&s.Work.Solicited)(n)
	case n.Kind == scalar && (n.Text == "true" || n.Text == "false"):
		fresh := false
		if c.Boolean(&fresh)(n); fresh {
			s.Invalidate = &synth.Memory{New: true}
		}
	default:
		s.Invalidate = &synth.Memory{}
		c.memory(n, s, 1-s.From, s.Invalidate)
		c.invalidated(s, 1-s.From, s.Invalidate.Region)
	}
}

// setMemory sets where the octets of a message are from or go to.
func setMemory(c *compiler, s *step, key string, n *node) {
	if key == "into" {
		c.memory(n, s, s.From, &s.Local)
		return
	}
	c.memory(n, s, 1-s.From, &s.Remote)
}

// setAtomic sets a modifier of an atomic operation.
func setAtomic(c *compiler, s *step, key string, n *node) {
	switch key {
	case "mask":
		number(c, &s.Work.Mask, 0, allOnes)(n)
	case "id":
		number(c, &s.Work.RequestID, 0, math.MaxUint32)(n)
	case "at":
		c.memory(n, s, 1-s.From, &s.Remote)
	}
}

// checkResponse refuses what an Atomic Response has no use for: it is untagged, and all are of one size.
func checkResponse(c *compiler, s *step, n *node) {
	if !s.Work.Atomic {
		return
	}
	if to := n.Get("to"); to != nil {
		c.Fail(to.Pos, "to has no effect: an Atomic Response is untagged; leave it out, or atomic")
	}
	if value := n.Get("response"); value.Kind != null {
		c.Fail(value.Pos, "the size has no effect: an Atomic Response has 12 octets; leave it out, or atomic")
	}
}

// memory reads a place in the memory of a side: the name of a region, or where
// in it.
func (c *compiler) memory(n *node, s *step, side synth.Side, m *synth.Memory) {
	name := func(n *node) {
		c.name(&m.Region)(n)
		if m.Region != "" && !c.timeline.regions[c.regionOf(s, side, m.Region)] {
			c.Fail(n.Pos, "the %s has no region %q up to here", sideName(side), m.Region)
		}
	}
	if n.Kind == scalar {
		name(n)
		return
	}
	var stag uint32
	var to uint64
	c.Mapping(n, keys{
		"region": name,
		"offset": size(c, &m.Offset, 0, allOnes),
		"stag":   func(n *node) { m.STag = &stag; number(c, &stag, 0, math.MaxUint32)(n) },
		"to":     func(n *node) { m.TO = &to; number(c, &to, 0, allOnes)(n) },
	})
	if m.TO != nil && m.Offset != 0 {
		c.Fail(n.Pos, "to is where in memory the place is, so that offset has no effect: leave one of them out")
	}
}

func (c *compiler) regionOf(s *step, side synth.Side, name string) region {
	conn := s.on
	if conn == "" && len(c.conns) > 0 {
		conn = c.conns[0].Name
	}
	return region{conn, side, name}
}

func sideName(s synth.Side) string {
	if s == synth.Client {
		return "client"
	}
	return "server"
}

// immediate reads Immediate Data: a number, or eight octets.
func (c *compiler) immediate(p *[8]byte, n *node) {
	if n.Kind == null {
		return
	}
	if v, ok := unsigned(n.Text); ok && n.Kind == scalar && !n.Quoted {
		binary.BigEndian.PutUint64(p[:], v)
		return
	}
	var b []byte
	if c.octets(&b)(n); b != nil && len(b) != len(p) {
		c.Fail(n.Pos, "immediate data are a number or 8 octets, not %d", len(b))
		return
	}
	copy(p[:], b)
}

// cmpSwap reads the operands of a compare and swap; the masks cover all bits.
func (c *compiler) cmpSwap(w *rnic.Work, n *node) {
	w.Operand, w.Mask, w.CompareMask = 1, allOnes, allOnes
	if n.Kind == null {
		return
	}
	c.Mapping(n, keys{
		"compare":      number(c, &w.Compare, 0, allOnes),
		"swap":         number(c, &w.Operand, 0, allOnes),
		"compare_mask": number(c, &w.CompareMask, 0, allOnes),
		"swap_mask":    number(c, &w.Mask, 0, allOnes),
	})
}

// termCode reads layer, type and code of a Terminate, in hexadecimal as the
// RFCs have them: 2/0/06.
func (c *compiler) termCode(w *rnic.Work, n *node) {
	if !c.Is(n, scalar) {
		return
	}
	parts := strings.Split(n.Text, "/")
	ok := len(parts) == 3
	for i, p := range []*uint8{&w.Layer, &w.EType, &w.Code} {
		if !ok {
			break
		}
		v, err := strconv.ParseUint(parts[i], 16, 8)
		ok = err == nil && (i == 2 || v <= 0xf)
		*p = uint8(v)
	}
	if !ok {
		c.Fail(n.Pos, "expected layer/type/code in hexadecimal such as 1/1/02, not %q", n.Text)
	}
}

var tcpFlags = map[string]uint16{
	"fin": packet.FlagFIN, "syn": packet.FlagSYN, "rst": packet.FlagRST, "psh": packet.FlagPSH, "ack": packet.FlagACK,
	"urg": packet.FlagURG, "ece": packet.FlagECE, "cwr": packet.FlagCWR, "ns": packet.FlagNS,
}

// craft reads a TCP segment that is made by hand.
func (c *compiler) craft(p *synth.Craft, n *node) {
	if n.Kind == null {
		return
	}
	at := n.Pos
	c.onlyOver(n, false, "seq", "ack", "window", "flags", "payload")
	c.onlyOver(n, true, "chunks")
	c.Mapping(n, keys{
		"seq":     c.signed(&p.Seq),
		"ack":     c.signed(&p.Ack),
		"flags":   bits(c, &p.Flags, "flag", tcpFlags),
		"payload": c.octets(&p.Payload),
		"window":  c.signed(&p.Window),
		"deliver": c.Boolean(&p.Deliver),
		"chunks":  c.octets(&p.Payload),
	})
	if len(p.Payload) > largestSegment {
		c.Fail(at, "a packet holds at most %d octets", largestSegment)
	}
}

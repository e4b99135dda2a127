package rnic_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// The ends of a pair.
const (
	initiator = iota
	responder
)

// end is an endpoint with what it has said.
type end struct {
	*rnic.Endpoint
	units  []pdu.Unit
	told   []rnic.Message
	region rnic.Region
	closed bool
}

// pair is two endpoints on pipes of octets.
type pair struct {
	ends [2]*end
	pipe [2][]byte // from that end
	rnd  *rand.Rand
	// watch is told of every unit in the order of all of them, if not nil.
	watch func(from int, u pdu.Unit)
}

// plain is RFC 5044 without markers, so that tests can read the octets.
func plain(set ...func(side int, c *rnic.Config)) [2]rnic.Config {
	var c [2]rnic.Config
	for side := range c {
		c[side] = rnic.Config{
			Startup: startup.Config{Initiator: side == initiator, Rev: 1, CRC: true, IRD: 4, ORD: 4},
			EMSS:    1460, Seed: uint64(side) + 7,
		}
		for _, f := range set {
			f(side, &c[side])
		}
	}
	return c
}

func newPair(t testing.TB, c [2]rnic.Config) *pair {
	t.Helper()
	p := &pair{rnd: rand.New(rand.NewPCG(1, 2))}
	for side := range c {
		e := &end{}
		if c[side].Sent == nil {
			c[side].Sent = func(m rnic.Message) {
				m.Data = bytes.Clone(m.Data)
				e.told = append(e.told, m)
			}
		}
		c[side].PeerName = func(msn uint32) (string, int) { return p.ends[1-side].RequestName(msn) }
		ep, err := rnic.New(c[side])
		if err != nil {
			t.Fatal(err)
		}
		e.Endpoint = ep
		e.region = ep.Register(rnic.Region{Address: rnic.Address{TO: 0x10000}, Size: 1 << 20, Read: true, Write: true})
		p.ends[side] = e
	}
	return p
}

// pull moves what an end has to say now into its pipe.
func (p *pair) pull(side, most int) bool {
	e := p.ends[side]
	n := 0
	for ; n < most; n++ {
		u, ok := e.Next()
		if !ok {
			break
		}
		e.units = append(e.units, u)
		p.pipe[side] = append(p.pipe[side], u.Data...)
		if p.watch != nil {
			p.watch(side, u)
		}
	}
	return n > 0
}

// run lets both talk until neither has anything to say.
func (p *pair) run(t testing.TB) {
	t.Helper()
	for range 1 << 20 {
		moved := false
		for side, e := range p.ends {
			moved = p.pull(side, 1+p.rnd.IntN(4)) || moved
			if n := len(p.pipe[side]); n > 0 {
				n = 1 + p.rnd.IntN(n)
				p.ends[1-side].Receive(p.pipe[side][:n:n])
				p.pipe[side] = p.pipe[side][n:]
				moved = true
			}
			if !e.closed && len(p.pipe[side]) == 0 && e.Want() != rnic.Nothing && !p.pull(side, 1) {
				e.closed, moved = true, true
				p.ends[1-side].PeerClosed(e.Want() == rnic.WantReset)
			}
		}
		if !moved {
			return
		}
	}
	t.Fatal("they never come to an end")
}

// connect does the startup.
func (p *pair) connect(t testing.TB) {
	t.Helper()
	p.ends[responder].Start()
	p.ends[initiator].Start()
	p.run(t)
}

// ulpdu is the ULPDU of a unit in a stream without markers.
func ulpdu(t testing.TB, u pdu.Unit) []byte {
	t.Helper()
	if u.Kind != pdu.Segment || len(u.Data) < 6 {
		t.Fatalf("%v is no FPDU", u.Place)
	}
	n := int(u.Data[0])<<8 | int(u.Data[1])
	return u.Data[2 : 2+n]
}

// segments are the DDP segments of an end, with their payload.
func (p *pair) segments(t testing.TB, side int) (all []ddp.Segment, payload [][]byte) {
	t.Helper()
	for _, u := range p.ends[side].units {
		if u.Kind != pdu.Segment {
			continue
		}
		b := ulpdu(t, u)
		s, err := ddp.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		all, payload = append(all, s), append(payload, b[s.HeaderLen:])
	}
	return all, payload
}

// terminate is the Terminate that an end has sent, if it has.
func (p *pair) terminate(t testing.TB, side int) (rdmap.Terminate, bool) {
	t.Helper()
	segs, payload := p.segments(t, side)
	for i, s := range segs {
		if rdmap.ControlOf(s.RsvdULP).Opcode != rdmap.OpTerminate {
			continue
		}
		if s.QN != rdmap.QueueTerminate || s.MSN != 1 || i != len(segs)-1 {
			t.Errorf("Terminate on QN %d with MSN %d, segment %d of %d", s.QN, s.MSN, i+1, len(segs))
		}
		m, err := rdmap.DecodeTerminate(payload[i])
		if err != nil {
			t.Fatal(err)
		}
		return m, true
	}
	return rdmap.Terminate{}, false
}

// message is what an end has told of the message with the name.
func (e *end) message(t testing.TB, name string, number int) rnic.Message {
	t.Helper()
	for _, m := range e.told {
		if m.Name == name && m.Number == number {
			return m
		}
	}
	t.Fatalf("no message %s %d among %d", name, number, len(e.told))
	return rnic.Message{}
}

func at(r rnic.Region, off uint64) rnic.Address { return rnic.Address{STag: r.STag, TO: r.TO + off} }

func enhanced(rtr mpa.RTRSet) func(int, *rnic.Config) {
	return func(_ int, c *rnic.Config) {
		c.Startup.Rev, c.Startup.Dialect, c.Startup.PeerToPeer, c.Startup.RTR = 2, startup.Enhanced, rtr != 0, rtr
	}
}

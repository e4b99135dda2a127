package pipeline_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestSCTP_Differs: a chunk that comes again with other octets is told, whatever stands beside it now, and one with another I flag is not.
func TestSCTP_Differs(t *testing.T) {
	for _, tt := range []struct {
		name                string
		idata, sacked       bool // the first packet has a SACK in front of the chunk
		again               func(a *assoc, c []byte) [][]byte
		differs, uncompared uint64
	}{
		{"the same", false, false, func(_ *assoc, c []byte) [][]byte { return [][]byte{c} }, 0, 0},
		{"the same behind a SACK", false, false, func(a *assoc, c []byte) [][]byte { return [][]byte{a.ack(0), c} }, 0, 0},
		{"the same, and a SACK the first time", true, true, func(_ *assoc, c []byte) [][]byte { return [][]byte{c} }, 0, 0},
		{"I flag", false, false, func(_ *assoc, c []byte) [][]byte { c[1] |= flagI; return [][]byte{c} }, 0, 0},
		{"an octet", false, false, func(_ *assoc, c []byte) [][]byte { c[30] ^= 1; return [][]byte{c} }, 1, 0},
		{"an octet of I-DATA", true, false, func(_ *assoc, c []byte) [][]byte { c[30] ^= 1; return [][]byte{c} }, 1, 0},
		{"an octet, behind a SACK", false, true, func(a *assoc, c []byte) [][]byte { c[30] ^= 1; return [][]byte{a.ack(0), c} }, 1, 0},
		{"the stream", false, false, func(_ *assoc, c []byte) [][]byte { c[9] ^= 1; return [][]byte{c} }, 1, 0},
		{"several the first time", false, false, nil, 0, 1},
	} {
		a := newAssoc(&wire{})
		a.idata = tt.idata
		a.open(0)
		a.begin(0, 0)
		c := a.say(0, 0, "what is sent again")
		again := bytes.Clone(c)
		switch {
		case tt.again == nil:
			a.send(0, c, a.say(0, 0, "and another one"))
			a.send(0, again)
		case tt.sacked:
			a.send(0, a.ack(0), c)
			a.send(0, tt.again(a, again)...)
		default:
			a.send(0, c)
			a.send(0, tt.again(a, again)...)
		}
		a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
		s := a.run(t).Conns[0].Side[0].SCTP
		if k := s.Odd[trace.OddDiffers]; k.Count != tt.differs || s.Uncompared != tt.uncompared || k.Count > 0 && k.Frame != 8 {
			t.Errorf("%s: %+v, %d not compared", tt.name, k, s.Uncompared)
		}
	}
}

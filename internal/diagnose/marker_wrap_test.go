package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestMarkerWrap: where the places of markers shift because the sequence numbers wrap, that is why CRCs are wrong, and no memory and
// no path is blamed.
func TestMarkerWrap(t *testing.T) {
	const isn, wrap, first = 0xfffff600 + 76, 0xa00 - 77, 20 // offsets in the stream of the client
	const shifted, memory = "the initiator places markers by the TCP sequence number", "memory of the initiator"
	for _, c := range []struct {
		name           string
		shifts, damage bool
		want           []string
		not            string
	}{
		{"right", false, false, nil, "wrong"},
		{"they shift", true, false, []string{shifted, "initiator's MPA implementation"}, memory},
		{"a CRC is wrong", false, true, []string{memory}, shifted},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Markers: [2]bool{true, false}})
		d.Request()
		d.Reply()
		off := first
		for msn := uint32(1); off < wrap+2048; msn++ {
			wire := tracetest.Marked(off, tracetest.Send(rdmap.OpSend, 0, msn, 0, true, make([]byte, 150)), func(at, _ int) bool {
				if c.shifts && at >= wrap {
					return (at-wrap)%512 == 0
				}
				return (at-first)%512 == 0
			})
			if c.damage && msn == 3 {
				wire[len(wire)-1] ^= 0x55
			}
			off += len(wire)
			d.Break()
			d.Raw(tracetest.Client, wire)
		}
		said := text(diagnosed(t, tracetest.Source(tracetest.Net{ISN: [2]uint32{isn, 5}}.Frames(tracetest.Connection(d, 0)))))
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: it lacks %q:\n%s", c.name, want, said)
			}
		}
		if c.not != "" && strings.Contains(said, c.not) {
			t.Errorf("%s: it says %q:\n%s", c.name, c.not, said)
		}
	}
}

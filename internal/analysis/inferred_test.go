package analysis_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// TestInferred_OtherSideWaits: the Reply was not captured, so that FPDUs of the initiator wait
// until the first one of the responder is found. They are framed then, and leave that one as it
// is: its header is not that of another one.
func TestInferred_OtherSideWaits(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Markers: [2]bool{true, true}})
	d.Request()
	d.Reply()
	for i := range 4 {
		d.Tagged(0, rdmap.OpWrite, 0x11, uint64(i)<<16, tracetest.Octets(1, 1300), 1300)
		d.Break()
	}
	for i := range 4 {
		d.Tagged(1, rdmap.OpWrite, 0x22, uint64(i)<<16, tracetest.Octets(2, 1300), 1300)
		d.Break()
	}
	ps := tracetest.Connection(d, 0)
	lost := slices.DeleteFunc(ps, func(p tracetest.Packet) bool { return p.Side == 1 && p.Off <= 0 })
	r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(lost))
	for dir, stag := range []uint32{0x11, 0x22} {
		var got [][]byte
		for _, p := range r.Of(0, trace.Dir(dir)) {
			if p.FPDU == nil {
				continue
			}
			if p.Segment == nil || p.Segment.STag != stag {
				t.Errorf("direction %d: FPDU at %d has %+v", dir, p.From, p.Segment)
			}
			got = append(got, p.FPDU.ULPDU)
		}
		var want [][]byte
		for _, x := range d.Truth[dir] {
			if x.ULPDU != nil {
				want = append(want, x.ULPDU)
			}
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("direction %d: %d FPDUs, want %d", dir, len(got), len(want))
		}
	}
}

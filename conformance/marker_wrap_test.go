package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestMarkers_Wrap: small FPDUs, of which none has a right place of a marker and a place of a count from sequence number 0.
func TestMarkers_Wrap(t *testing.T) {
	const isn, wrap, first = 0xfffff600 + 76, 0xa00 - 77, 20 // offsets in the stream of the client
	for _, c := range []struct {
		name string
		is   func(at, fpdu int) bool // whether a marker is at an offset of the stream, in an FPDU that begins at one
		want string
	}{
		{"right", func(at, _ int) bool { return (at-first)%512 == 0 }, ""},
		{"from 0 on", func(at, _ int) bool { return at < wrap && (at-first)%512 == 0 || at >= wrap && (at-wrap)%512 == 0 }, "MPA-MARKER-WRAP-01"},
		{"from the first FPDU behind it on", func(at, fpdu int) bool {
			return fpdu < wrap && (at-first)%512 == 0 || fpdu >= wrap && (at-wrap)%512 == 0
		}, "MPA-MARKER-WRAP-01"},
		{"one is left out later", func(at, _ int) bool { return (at-first)%512 == 0 && (at < wrap+512 || at >= wrap+1024) }, "MPA-MARKER-POS-01"},
		{"one is left out before", func(at, _ int) bool { return (at-first)%512 == 0 && (at < wrap-512 || at >= wrap) }, "MPA-MARKER-POS-01"},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Markers: [2]bool{true, false}})
		d.Request()
		d.Reply()
		off := first
		for msn := uint32(1); off < wrap+2048; msn++ {
			u := tracetest.Send(rdmap.OpSend, 0, msn, 0, true, make([]byte, 150))
			wire := tracetest.Marked(off, u, c.is)
			off += len(wire)
			d.Break()
			d.Raw(tracetest.Client, wire)
		}
		var got []string
		j := judged(t, tracetest.Net{ISN: [2]uint32{isn, 5}}.Frames(tracetest.Connection(d, 0)))
		for i := range j.findings {
			if f := &j.findings[i]; f.Severity == conformance.Error {
				got = append(got, f.Rule.ID)
			}
		}
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, got, want, text(j.findings))
		}
	}
}

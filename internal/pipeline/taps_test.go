package pipeline_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// TestCopies: packets that were captured twice are none that were sent again. Where nothing proves that they are copies,
// they count as sent again.
func TestCopies(t *testing.T) {
	const ip = 14 // where the header begins
	numbered := func(id func(i int) uint16) func([]capture.Frame) {
		return func(fs []capture.Frame) {
			for i := range fs {
				binary.BigEndian.PutUint16(fs[i].Data[ip+4:], id(i))
			}
		}
	}
	rising := numbered(func(i int) uint16 { return uint16(i + 1) })
	same := func(*capture.Frame) {}
	hop := func(f *capture.Frame) { f.Data[ip+8]-- }
	for _, tt := range []struct {
		name   string
		v6     bool
		number func([]capture.Frame)
		copied func(*capture.Frame)
		late   int64
		again  bool // each packet comes twice, but for a few until it is known
	}{
		{"both ports of a switch", false, rising, same, 3000, true},
		{"two places", false, rising, hop, 50_000, true},
		{"two places, no identification", false, numbered(func(int) uint16 { return 0 }), hop, 50_000, true},
		{"two places, IPv6", true, nil, func(f *capture.Frame) { f.Data[ip+7]-- }, 50_000, true},
		{"two interfaces", true, nil, func(f *capture.Frame) { f.Interface = 1 }, 50_000, true},
		{"no identification", false, numbered(func(int) uint16 { return 0 }), same, 3000, false},
		{"one identification for all", false, numbered(func(int) uint16 { return 7 }), same, 3000, false},
		{"sent again", false, rising, func(f *capture.Frame) { f.Data[ip+4] ^= 0x80 }, 50_000, false},
		{"sent again as it was, late", false, rising, same, 250e6, false},
		{"IPv6", true, nil, same, 3000, false},
	} {
		d := tracetest.Sends(100)
		c := tracetest.TCP{Step: 10_000}
		c.Handshake()
		c.Play(d)
		c.Close()
		fs := tracetest.Net{V6: tt.v6}.Frames(c.Packets)
		if tt.number != nil {
			tt.number(fs)
		}
		all := slices.Clone(fs)
		for _, f := range fs {
			f.Data = slices.Clone(f.Data)
			f.Time += tt.late
			tt.copied(&f)
			all = append(all, f)
		}
		slices.SortStableFunc(all, func(a, b capture.Frame) int { return int(a.Time - b.Time) })
		r := pipeline.New(pipeline.Options{Brief: true}, nil)
		if err := r.Read(tracetest.Source(tracetest.Number(all))); err != nil {
			t.Fatal(err)
		}
		records := r.Finish().Collect()
		again := records[0].Flow[trace.I2R].Rare().Retransmitted
		copies := r.Totals().Copies
		if n := r.Totals(); !tt.again && (n.AlikeBare*10 > n.ComparedBare*4) != (tt.late < 100e6 && !strings.HasPrefix(tt.name, "sent again")) {
			t.Errorf("%s: %d of %d without data are alike", tt.name, n.AlikeBare, n.ComparedBare)
		}
		got := fmt.Sprintf("copies %t, sent again %t", copies > 95, again > 95)
		if want := fmt.Sprintf("copies %t, sent again %t", tt.again, !tt.again); got != want || tt.again && again > 6 || !tt.again && copies > 0 {
			t.Errorf("%s: %d copies, %d sent again: %s", tt.name, copies, again, cmp.Diff(want, got))
		}
	}
}

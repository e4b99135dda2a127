package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestEmptyIndication: draft -01 has an empty ULPDU for an indication, if the Reply names it. Any other ULPDU without
// a DDP header is a fault.
func TestEmptyIndication(t *testing.T) {
	only, both := mpa.Enhanced{A: true, IRD: 4, ORD: 4}, mpa.Enhanced{A: true, B: true, IRD: 4, ORD: 4}
	write := mpa.Enhanced{B: true, IRD: 4, ORD: 4}
	forced := pipeline.Options{Layout: mpa.LayoutDraft01, Forced: true}
	header := map[string]int{"DDP-HDR-01": 1}
	for _, c := range []struct {
		name           string
		request, reply mpa.Enhanced
		opt            pipeline.Options
		empty          []int // the messages that are empty ULPDUs
		want           map[string]int
	}{
		{"the Reply names it", only, only, pipeline.Options{}, []int{0}, nil},
		{"the Reply names it, of two", both, only, pipeline.Options{}, []int{0}, nil},
		{"the layout is given", both, both, forced, []int{0}, nil},
		{"another one behind it", only, only, pipeline.Options{}, []int{0, 2}, header},
		{"not the first message", both, both, forced, []int{1}, header},
		{"RFC 6581 has a Send", both, both, pipeline.Options{}, []int{0}, header},
		{"the Reply names a Write", both, write, forced, []int{0}, header},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{c.request, c.reply}})
		d.Request()
		d.Reply()
		for i, next := 0, 0; i < 4; i++ {
			if next < len(c.empty) && c.empty[next] == i {
				next++
				d.FPDU(tracetest.Client, nil)
				continue
			}
			d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, min(i, 1)*40), 1000)
		}
		d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(2, 40), 1000)
		found, j := alarms(t, c.opt, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		delete(found, "ADV-SILENT-CLOSE")
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, c.want, text(j.findings))
		}
	}
}

package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestDeep: as many Reads as IRD and ORD can announce may wait for their answers. Where more do, those that were forgotten
// accuse nobody.
func TestDeep(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup tracetest.Setup
		reads int
	}{
		{"announced", tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{{IRD: 0x3ffe, ORD: 0x3ffe}, {IRD: 0x3ffe, ORD: 0x3ffe}}}, 0x3ffe},
		{"beyond all", tracetest.Setup{Rev: 1, CRC: true}, 17_000},
	} {
		d := tracetest.NewDialog(tt.setup)
		d.Request()
		d.Reply()
		d.Message(0, rdmap.OpSend, []byte("first"), 1400)
		for i := range tt.reads {
			d.Read(0, 0x55, uint64(i)*8, 8)
		}
		d.Break()
		for i := range tt.reads {
			d.Tagged(1, rdmap.OpReadResponse, 0x55, uint64(i)*8, make([]byte, 8), 1400)
		}
		found, _ := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		if len(found) > 0 {
			t.Errorf("%s: %v", tt.name, found)
		}
	}
}

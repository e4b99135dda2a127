package conformance_test

import (
	"encoding/binary"
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestSwallowed_Inside: without CRCs, the length of an FPDU reaches over FPDUs behind it in the same TCP segment, to the end of one or
// into one. The length is told, at the FPDU. What looks like that in payload, and is not skipped, is payload.
func TestSwallowed_Inside(t *testing.T) {
	for _, tt := range []struct {
		name   string
		longer int // octets; the FPDUs have 48
		inner  bool
		want   map[string]int
	}{
		{"one", 48, false, map[string]int{"MPA-FPDU-LEN-01": 1}},
		{"two", 96, false, map[string]int{"MPA-FPDU-LEN-01": 1}},
		{"half of one", 24, false, map[string]int{"MPA-FPDU-LEN-01": 1}},
		{"one and a half", 72, false, map[string]int{"MPA-FPDU-LEN-01": 1}},
		{"payload", 0, true, nil},
		{"none", 0, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tracetest.NewDialog(tracetest.Setup{Rev: 1})
			d.Request()
			d.Reply()
			d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 24), 1000)
			d.Break()
			const messages, wrong = 10, 3
			for i := range messages {
				payload := tracetest.Octets(2, 24)
				if tt.inner && i == wrong { // the next message seems to stand in it
					var e mpa.Encoder
					inner := tracetest.Framed(e.Append(nil, tracetest.Send(rdmap.OpSend, 0, wrong+3, 0, true, payload)))
					payload = append(tracetest.Octets(1, 4), inner[:len(inner)-4]...)
				}
				d.Message(tracetest.Client, rdmap.OpSend, payload, 1000)
			}
			all := d.Turns[len(d.Turns)-1].Data // in one TCP segment
			length := all[wrong*48:]
			binary.BigEndian.PutUint16(length, binary.BigEndian.Uint16(length)+uint16(tt.longer))
			found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
			if delete(found, "ADV-SILENT-CLOSE"); !maps.Equal(found, tt.want) && len(found)+len(tt.want) > 0 {
				t.Errorf("%v, want %v\n\t%s", found, tt.want, text(j.findings))
			}
			for _, f := range j.findings {
				if f.Rule.ID == "MPA-FPDU-LEN-01" && f.PDU != wrong+3 {
					t.Errorf("told of PDU %d, want %d", f.PDU, wrong+3)
				}
			}
		})
	}
}

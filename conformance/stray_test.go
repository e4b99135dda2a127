package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// TestStray: octets between the startup and the first FPDU are found even if they look
// like an FPDU that reaches into the first one, and no PDU is made of them. A first FPDU
// with a wrong length or CRC stays one.
func TestStray(t *testing.T) {
	const sends = "timeline: [connect, send 100, send 24, send 24, send 24, send 24, close]\n"
	for _, c := range []struct {
		name, yaml string
		want       []string
		first      string // the first PDUs of the initiator after its Request
	}{
		{"four that are a length and the controls of a Write", sends + `faults: [{at: send1, before: {hex: "00 20 c1 40"}}, {by: server, ignores: [errors]}]`, []string{"MPA-CONN-POINT-01 error"}, "streaming 4, fpdu 124"},
		{"eight of them", sends + `faults: [{at: send1, before: {hex: "00 14 41 43 00 00 00 00"}}, {by: server, ignores: [errors]}]`, []string{"MPA-CONN-POINT-01 error"}, "streaming 8, fpdu 124"},
		{"a length that reaches into the third FPDU", sends + `faults: [{at: send1, before: {hex: "00 a8 41 43"}}, {by: server, ignores: [errors]}]`, []string{"MPA-CONN-POINT-01 error"}, "streaming 4, fpdu 124"},
		{"CRC off", "both: {mpa: {crc: false}}\n" + sends + `faults: [{at: send1, before: {hex: "00 20 c1 40"}}, {by: server, ignores: [errors]}]`, []string{"MPA-CONN-POINT-01 error"}, "streaming 4, fpdu 124"},
		{"none", sends, nil, "fpdu 124, fpdu 48"},
		{"CRC off, none", "both: {mpa: {crc: false}}\n" + sends, nil, "fpdu 124, fpdu 48"},
		{"a wrong CRC", sends + `faults: [{at: send1, crc: bad}, {by: server, ignores: [errors]}]`, []string{"MPA-CRC-VALUE-01 error"}, "fpdu 124, fpdu 48"},
		{"a length that counts the CRC", sends + `faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 122}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-LEN-01 error"}, "fpdu 128, fpdu 48"},
		{"a length that is too short", sends + `faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 40}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}, "fpdu 48, unframed 76"},
		{"a length that is impossible", sends + `faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 3}}, {by: server, ignores: [errors]}]`, []string{"MPA-FPDU-FMT-01 error"}, "fpdu 124, unframed 48"},
		{"octets between FPDUs", sends + `faults: [{at: send2, before: {hex: "de ad be ef"}}, {by: server, ignores: [errors]}]`, []string{"MPA-CONN-BOTH-01 error"}, "fpdu 124, streaming 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace\n"+c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			frames := framesOf(t, s.Script(false))
			wantFindings(t, frames, c.want)
			var pdus []string
			for _, p := range tracerun.Run(t, pipeline.Options{}, frames).Of(0, trace.I2R)[1:] {
				pdus = append(pdus, fmt.Sprintf("%v %d", p.Kind, p.Length))
			}
			if all := strings.Join(pdus, ", "); !strings.HasPrefix(all, c.first) {
				t.Errorf("%s, want %s", all, c.first)
			}
		})
	}
}

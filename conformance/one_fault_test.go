package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestOneFault: one wrong field of a header is one finding, of the rule that says what is wrong.
func TestOneFault(t *testing.T) {
	for _, c := range []struct {
		name  string
		byte  int
		value byte
		want  string
	}{
		{"a later DDP version is 0", 0, 0x40, "DDP-DV-02"},
		{"a later RDMAP version is 0", 1, 0x03, "RDMAP-RV-02"},
		{"the MSN is that of the message before, with the same payload", 13, 2, "DDP-DUP-01"},
		{"the MSN is ahead", 13, 5, "DDP-UNTAG-MSN-02"},
	} {
		for _, crc := range []bool{true, false} {
			for side := range 2 {
				d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: crc})
				d.Request()
				d.Reply()
				if side == tracetest.Server {
					d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 8), 1000)
				}
				for i := range 5 {
					d.Break()
					ulpdu := tracetest.Send(rdmap.OpSend, 0, d.Next(side, 0), 0, true, tracetest.Octets(2, 40))
					if i == 2 {
						ulpdu[c.byte] = c.value
					}
					d.FPDU(side, ulpdu)
				}
				found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
				delete(found, "ADV-SILENT-CLOSE")
				if !maps.Equal(found, map[string]int{c.want: 1}) {
					t.Errorf("%s, CRC %v, side %d: %v\n\t%s", c.name, crc, side, found, text(j.findings))
				}
			}
		}
	}
}

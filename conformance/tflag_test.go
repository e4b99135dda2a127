package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestLostTaggedFlag: a Write or a Read Response without its T bit is one finding, however few octets its header leaves.
func TestLostTaggedFlag(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	for _, c := range []struct {
		name   string
		octets int
		answer bool
		last   bool
		lost   bool
		want   map[string]int
	}{
		{"a Write", 4, false, true, false, map[string]int{}},
		{"none", 4, false, true, true, map[string]int{"RDMAP-TFLAG-01": 1}},
		{"none, not the last", 4, false, false, true, map[string]int{"RDMAP-TFLAG-01": 1}},
		{"some", 40, false, true, true, map[string]int{"RDMAP-TFLAG-01": 1}},
		{"some, not the last", 40, false, false, true, map[string]int{"RDMAP-TFLAG-01": 1}},
		{"of an answer, none", 4, true, true, true, map[string]int{"RDMAP-TFLAG-01": 1}},
		{"of an answer, some", 40, true, true, true, map[string]int{"RDMAP-TFLAG-01": 1}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 8), 1000)
		side, b := client, tracetest.Write(7, 0, c.last, tracetest.Octets(2, c.octets))
		if c.answer {
			d.Read(client, 7, 0, uint32(c.octets))
			side, b = server, tracetest.ReadResponse(7, 0, c.last, tracetest.Octets(2, c.octets))
		}
		if c.lost {
			b[0] &^= 0x80
		}
		d.Break()
		d.FPDU(side, b)
		if !c.last {
			d.Break()
			d.FPDU(side, tracetest.Write(7, uint64(c.octets), true, tracetest.Octets(3, 8)))
		}
		d.Break()
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 8), 1000)
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		delete(found, "ADV-SILENT-CLOSE")
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v\n\t%s", c.name, found, text(j.findings))
		}
	}
}

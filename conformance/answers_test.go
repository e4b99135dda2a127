package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestAnswers_OneSink: an upper layer reads into the same place again and again. The answer
// behind an empty one is that of the next Read, unless no other Read is outstanding.
func TestAnswers_OneSink(t *testing.T) {
	const sink, size = 7, 8
	empty, whole := make([]byte, 0), make([]byte, size)
	for _, c := range []struct {
		name    string
		ahead   int // Reads that are asked for before the first answer
		answers [][]byte
		want    map[string]int
	}{
		{"all are whole", 3, [][]byte{whole, whole, whole}, nil},
		{"the first is empty", 3, [][]byte{empty, whole, whole}, map[string]int{"RDMAP-READRESP-LEN-01": 1}},
		{"the second is empty", 3, [][]byte{whole, empty, whole}, map[string]int{"RDMAP-READRESP-LEN-01": 1}},
		{"an empty one and a whole one for one Read", 1, [][]byte{empty, whole}, map[string]int{"RDMAP-READRESP-MSG-01": 1}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		for range c.ahead {
			d.Read(tracetest.Client, sink, 0, size)
		}
		for _, a := range c.answers {
			d.Tagged(tracetest.Server, rdmap.OpReadResponse, sink, 0, a, 1000)
		}
		d.Message(tracetest.Client, rdmap.OpSend, whole, 1000)
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, c.want, text(j.findings))
		}
	}
}

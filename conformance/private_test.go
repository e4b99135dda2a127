package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestPrivateData_TooMuch: a startup frame with too much private data is one behind octets of
// the streaming mode as well. Text with a key in it is none.
func TestPrivateData_TooMuch(t *testing.T) {
	const most = 512
	manual := []byte("We begin with MPA ID Req Frame and some text behind it, as a manual does.")
	for _, c := range []struct {
		name   string
		before []byte
		octets int
		want   map[string]int
	}{
		{"as much as there may be", []byte("hello"), most, map[string]int{}},
		{"at the start of the stream", nil, most + 1, map[string]int{"MPA-PDLEN-02": 1, "MPA-PDLEN-CLOSE-01": 1}},
		{"behind octets of the streaming mode", []byte("hello"), most + 1, map[string]int{"MPA-PDLEN-02": 1, "MPA-PDLEN-CLOSE-01": 1}},
		{"behind text with a key", manual, 0, map[string]int{}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Private: [2][]byte{make([]byte, c.octets)}})
		if c.before != nil {
			d.Streaming(d.Initiator, c.before)
			d.Streaming(1-d.Initiator, c.before)
		}
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, make([]byte, 10), 1000)
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, c.want, text(j.findings))
		}
	}
}

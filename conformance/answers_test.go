package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
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

// asked is a dialog in which the client has asked for Reads of some octets each, one place behind
// the other.
func asked(reads, size int) *tracetest.Dialog {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, []byte("ready"), 1000)
	for i := range reads {
		d.Read(tracetest.Client, 7, uint64(i*size), uint32(size)) //nolint:gosec // a test knows its sizes
	}
	return d
}

// TestAnswers_Parts: an answer in several messages, or within another one, is one fault. It stands
// where it begins to be one.
func TestAnswers_Parts(t *testing.T) {
	const size, split, order = 512, "RDMAP-READRESP-MSG-01", "RDMAP-READRESP-ORDER-01"
	type part struct { // of the answer to a Read
		read, from, octets int
		last               bool
	}
	for _, c := range []struct {
		name  string
		reads int
		parts []part
		want  []string
	}{
		{"in four segments", 1, []part{{0, 0, 128, false}, {0, 128, 128, false}, {0, 256, 128, false}, {0, 384, 128, true}}, nil},
		{"in two messages", 1, []part{{0, 0, 256, true}, {0, 256, 256, true}}, []string{split + " 1"}},
		{"in four messages", 1, []part{{0, 0, 128, true}, {0, 128, 128, true}, {0, 256, 128, true}, {0, 384, 128, true}}, []string{split + " 1"}},
		{"both in three messages", 2, []part{
			{0, 0, 128, true}, {0, 128, 128, true}, {0, 256, 256, true}, {1, 0, 128, true}, {1, 128, 128, true}, {1, 256, 256, true},
		}, []string{split + " 1", split + " 4"}},
		{"in turns", 2, []part{{0, 0, 256, false}, {1, 0, 256, false}, {0, 256, 256, true}, {1, 256, 256, true}}, []string{order + " 1"}},
		{"in turns, the second one ends first", 2, []part{{0, 0, 256, false}, {1, 0, 256, false}, {1, 256, 256, true}, {0, 256, 256, true}}, []string{order + " 1"}},
		{"in many turns", 2, []part{
			{0, 0, 128, false}, {1, 0, 128, false}, {0, 128, 128, false}, {1, 128, 128, false}, {0, 256, 256, true}, {1, 256, 256, true},
		}, []string{order + " 1"}},
		{"the second one between", 3, []part{{0, 0, 256, false}, {1, 0, 512, true}, {0, 256, 256, true}, {2, 0, 512, true}}, []string{order + " 1"}},
		{"three in turns", 3, []part{
			{0, 0, 256, false}, {1, 0, 256, false}, {2, 0, 256, false}, {2, 256, 256, true}, {0, 256, 256, true}, {1, 256, 256, true},
		}, []string{order + " 1", order + " 2"}},
		{"in turns, and others behind them", 4, []part{
			{0, 0, 256, false}, {1, 0, 256, false}, {0, 256, 256, true}, {1, 256, 256, true}, {3, 0, 512, true}, {2, 0, 256, false}, {2, 256, 256, true},
		}, []string{order + " 1", order + " 4"}},
		{"in turns, and the rest of one is too long", 2, []part{
			{0, 0, 256, false}, {1, 0, 256, false}, {0, 256, 256, true}, {1, 256, 384, true},
		}, []string{"RDMAP-READRESP-LEN-01 3", order + " 1"}},
	} {
		d := asked(c.reads, size)
		at := map[int64]int{} // by the end of the FPDU in the stream
		for i, p := range c.parts {
			d.FPDU(tracetest.Server, tracetest.ReadResponse(7, uint64(p.read*size+p.from), p.last, make([]byte, p.octets))) //nolint:gosec // a test knows its sizes
			at[d.Truth[tracetest.Server][len(d.Truth[tracetest.Server])-1].From] = i
		}
		d.Message(tracetest.Client, rdmap.OpSend, []byte("done"), 1000)
		var got []string
		j := judged(t, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		for i := range j.findings {
			if f := &j.findings[i]; f.Severity > conformance.Note {
				got = append(got, fmt.Sprintf("%s %d", f.Rule.ID, at[d.Truth[tracetest.Server][0].To+f.Offset]))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, got, c.want, text(j.findings))
		}
	}
}

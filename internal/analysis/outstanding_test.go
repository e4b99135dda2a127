package analysis_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// TestTransactions_ManyOutstanding: with more requests outstanding than are kept the oldest ones
// are given up, and each of the others is paired with its own answer.
func TestTransactions_ManyOutstanding(t *testing.T) {
	const kept, reads = 1 << 14, 1<<14 + 100
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for i := range reads {
		d.Read(0, 0x55, uint64(i)*16, 16)
	}
	payload := make([]byte, 16)
	answer := func(i int) { d.Tagged(1, rdmap.OpReadResponse, 0x55, uint64(i)*16, payload, 16) }
	for i := reads - kept; i < reads; i++ {
		answer(i)
		// Further ones keep so many outstanding, while the queue goes round in its memory.
		d.Read(0, 0x66, uint64(i)*16, 16)
	}
	r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
	reply, n := uint64(0), 0
	for _, x := range r.Transactions {
		if x.Kind.String() != "read" {
			continue
		}
		// PDUs: the two startup frames, the requests.
		if want := uint64(2 + reads - kept + n); x.Request != want || len(x.Responses) != 1 || x.Responses[0] <= reply {
			t.Fatalf("answer %d: request %d, want %d; responses %d", n, x.Request, want, x.Responses)
		}
		reply = x.Responses[0]
		n++
	}
	fl := &r.Conns[0].Flow[0]
	if n != kept || fl.MostOutstanding != kept || fl.Answered != kept || fl.Rare().Unanswered != kept {
		t.Errorf("%d transactions; %d outstanding at most, %d answered, %d not", n, fl.MostOutstanding, fl.Answered, fl.Rare().Unanswered)
	}
	if got := r.Totals.RequestsForgotten; got != reads-kept {
		t.Errorf("%d requests were forgotten, want %d", got, reads-kept)
	}
}

package analysis_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// TestEarly_Proof: a response that was captured before a request answers it only if its sender had
// received the request by then, as its acknowledgement says.
func TestEarly_Proof(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(0, rdmap.OpSend, []byte("first"), 1400)
	d.Message(1, rdmap.OpSend, []byte("first"), 1400)
	d.Atomic(0, 7)
	d.Break()
	d.Atomic(0, 8)
	d.Answer(1, 7)
	ps := packets(d, shape{segment: 1448})
	request, other, answer := -1, -1, -1
	for i := range ps {
		switch n := len(ps[i].Data); {
		case n == 0:
		case ps[i].Side == 0:
			request, other = other, i
		default:
			answer = i
		}
	}
	for _, c := range []struct {
		name    string
		ack     int64 // of the answer
		matches bool
	}{
		{"its sender had received the request", ps[other].Off, true},
		{"its sender had not", ps[request].Off, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The requests come in the other order, the first of them behind the answer.
			var all []tracetest.Packet
			for i := range ps[:request] {
				all = append(all, ps[i])
			}
			late, now, reply := ps[request], ps[other], ps[answer]
			reply.Ack = c.ack
			late.Time = reply.Time + 1
			all = append(all, now, reply, late)
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(all))
			conn := r.Conns[0]
			request, unmatched := conn.Flow[trace.I2R].Answered, conn.Flow[trace.R2I].Rare().Unmatched
			if c.matches && (request != 1 || unmatched != 0) || !c.matches && (request != 0 || unmatched != 1) {
				t.Errorf("%d requests answered, %d responses without a request", request, unmatched)
			}
		})
	}
}

package conformance_test

import (
	"maps"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestUnknownRequests: a message without a known opcode that may be a request explains one answer to its sender, in its turn
// or later. Answers to the other side, and those behind its place, are judged.
func TestUnknownRequests(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	const opcode, unsolicited, stag, short = "RDMAP-OPCODE-01", "RDMAP-READRESP-UNSOL-01", "RDMAP-READRESP-STAG-01", "RDMAP-READRESP-LEN-01"
	type step struct {
		what byte // u: an unknown one, r: a Read, a: an answer to one, h: half of that
		side int
		sink uint32
	}
	// turns are so many Reads of the client with their answers, into two places in turn.
	turns := func(n int) (all []step) {
		for i := range uint32(n) {
			all = append(all, step{'r', client, 1 + i%2}, step{'a', server, 1 + i%2})
		}
		return all
	}
	for _, c := range []struct {
		name  string
		steps []step
		then  []step
		want  map[string]int
	}{
		{"it is not answered", []step{{'u', client, 0}}, turns(4), nil},
		{"it is answered", []step{{'u', client, 0}, {'a', server, 9}}, turns(4), nil},
		{"it is answered twice", []step{{'u', client, 0}, {'a', server, 9}, {'a', server, 9}}, turns(4), map[string]int{unsolicited: 1}},
		{"two are answered", []step{{'u', client, 0}, {'u', client, 0}, {'a', server, 9}, {'a', server, 8}}, turns(4), nil},
		{"two are answered, and a third time", []step{{'u', client, 0}, {'u', client, 0}, {'a', server, 9}, {'a', server, 8}, {'a', server, 7}}, nil, map[string]int{unsolicited: 1}},
		{"its place has passed", append([]step{{'u', client, 0}}, turns(4)...), []step{{'a', server, 9}}, map[string]int{unsolicited: 1}},
		{"the place of both has passed", append([]step{{'u', client, 0}, {'u', client, 0}}, append(turns(4), step{'r', client, 3}, step{'a', server, 3}, step{'r', client, 4}, step{'a', server, 4})...), []step{{'a', server, 9}}, map[string]int{unsolicited: 1}},
		{"two, and the places of the Reads are in turns: they may be two answers behind", append([]step{{'u', client, 0}, {'u', client, 0}}, turns(8)...), []step{{'a', server, 1}, {'a', server, 2}}, nil},
		{"a wrong answer behind its place", append([]step{{'u', client, 0}}, turns(4)...), []step{{'r', client, 1}, {'a', server, 9}}, map[string]int{stag: 1}},
		{"the same place as in the next Read", []step{{'u', client, 0}, {'r', client, 1}, {'r', client, 2}, {'a', server, 1}, {'a', server, 1}, {'a', server, 2}}, turns(4), nil},
		{"the same place in all Reads", []step{{'u', client, 0}, {'r', client, 1}, {'a', server, 1}, {'r', client, 1}, {'a', server, 1}}, []step{{'a', server, 1}}, nil},
		{"the same place, and shorter", []step{{'u', client, 0}, {'r', client, 1}, {'r', client, 2}, {'h', server, 1}, {'a', server, 1}, {'a', server, 2}}, turns(4), nil},
		{"a short answer behind its place", append([]step{{'u', client, 0}}, turns(4)...), []step{{'r', client, 1}, {'h', server, 1}, {'r', client, 2}, {'a', server, 2}}, map[string]int{short: 1}},
		{"a wrong answer to the other side", []step{{'u', client, 0}}, []step{{'r', server, 1}, {'a', client, 9}}, map[string]int{stag: 1}},
		{"an answer of its sender that nobody asked for", []step{{'u', client, 0}}, []step{{'a', client, 9}}, map[string]int{unsolicited: 1}},
		{"five, of which none can be told any more", []step{{'u', client, 0}, {'u', client, 0}, {'u', client, 0}, {'u', client, 0}, {'u', client, 0}}, append(turns(6), step{'a', server, 9}), nil},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, make([]byte, 8), 1000)
		want, msn := map[string]int{}, [2]uint32{}
		for _, s := range append(c.steps[:len(c.steps):len(c.steps)], c.then...) {
			switch s.what {
			case 'u':
				msn[s.side]++
				want[opcode]++
				d.FPDU(s.side, unassigned(asked(msn[s.side], s.sink)))
			case 'r':
				msn[s.side]++
				d.FPDU(s.side, asked(msn[s.side], s.sink))
			case 'a':
				d.FPDU(s.side, answered(s.sink, 64))
			case 'h':
				d.FPDU(s.side, answered(s.sink, 32))
			}
			d.Break()
		}
		d.Message(client, rdmap.OpSend, make([]byte, 8), 1000)
		maps.Copy(want, c.want)
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		delete(found, "ADV-SILENT-CLOSE")
		if !maps.Equal(found, want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, found, want, text(j.findings))
		}
	}
}

// TestAnswers_MayBe: whether a request was answered is not judged where a message without a known opcode may be the answer.
func TestAnswers_MayBe(t *testing.T) {
	const rule = "RDMAX-AREQ-ANSWER-01"
	for _, wrong := range []bool{false, true} {
		d := asking(0, 0)
		d.Atomic(tracetest.Client, 1)
		u := tracetest.AtomicResponse(1, rdmap.AtomicResponse{RequestID: 1})
		want := conformance.Pass
		if wrong {
			u, want = unassigned(u), conformance.NotJudged
		}
		d.FPDU(tracetest.Server, u)
		d.Message(tracetest.Client, rdmap.OpSend, []byte("done"), 1000)
		j := judged(t, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		if got := j.verdict(rule); got != want {
			t.Errorf("unassigned opcode %v: %v, want %v", wrong, got, want)
		}
	}
}

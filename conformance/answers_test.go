package conformance_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
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

// asking is a dialog in which the client has asked for Reads of some octets each, one place behind
// the other.
func asking(reads, size int) *tracetest.Dialog {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, []byte("ready"), 1000)
	for i := range reads {
		d.Read(tracetest.Client, 7, uint64(i*size), uint32(size))
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
		{"a gap between two segments", 1, []part{{0, 0, 250, false}, {0, 256, 256, true}}, []string{"DDP-TO-01 1"}},
		{"two segments overlap", 1, []part{{0, 0, 260, false}, {0, 256, 256, true}}, []string{"DDP-TO-01 1"}},
		{"in two segments, too short", 1, []part{{0, 0, 256, false}, {0, 256, 250, true}}, []string{"RDMAP-READRESP-LEN-01 1"}},
		{"in two segments, too long", 1, []part{{0, 0, 256, false}, {0, 256, 260, true}}, []string{"RDMAP-READRESP-LEN-01 1"}},
		{"in two messages, the second in two segments", 1, []part{{0, 0, 128, true}, {0, 128, 128, false}, {0, 256, 256, true}}, []string{split + " 1"}},
		{"in two messages of two segments", 1, []part{
			{0, 0, 128, false}, {0, 128, 128, true}, {0, 256, 128, false}, {0, 384, 128, true},
		}, []string{split + " 2"}},
		{"in two messages, the second too short", 1, []part{{0, 0, 128, true}, {0, 128, 128, false}, {0, 256, 128, true}}, []string{"RDMAP-READRESP-LEN-01 2", split + " 1"}},
		{"in two messages, the second too long", 1, []part{{0, 0, 128, true}, {0, 128, 128, false}, {0, 256, 384, true}}, []string{"RDMAP-READRESP-LEN-01 2", split + " 1"}},
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
		d := asking(c.reads, size)
		at := map[int64]int{} // by the end of the FPDU in the stream
		for i, p := range c.parts {
			d.FPDU(tracetest.Server, tracetest.ReadResponse(7, uint64(p.read*size+p.from), p.last, make([]byte, p.octets)))
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

// asked is a Read Request of 64 octets as a ULPDU, answered a whole answer to one.
func asked(msn, sink uint32) []byte {
	return tracetest.ReadRequest(msn, rdmap.ReadRequest{SinkSTag: sink, Size: 64, SrcSTag: 0x66, SrcTO: 0x3000})
}

func answered(sink uint32, octets int) []byte {
	return tracetest.ReadResponse(sink, 0, true, make([]byte, octets))
}

// untag takes the T bit from a ULPDU, tag sets it.
func untag(u []byte) []byte { u[0] &^= 0x80; return u }
func tag(u []byte) []byte   { u[0] |= 0x80; return u }

// unassigned gives a ULPDU an opcode that is not assigned.
func unassigned(u []byte) []byte { u[1] = u[1]&0xf0 | 0xd; return u }

// TestAnswers_OneFault: a request that its receiver may refuse is answered or not, and an answer
// that is wrong is one or not. The answers behind it are right.
func TestAnswers_OneFault(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	type pdu struct {
		side  int
		ulpdu []byte
	}
	source := func(to uint64) []byte {
		return tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 1, Size: 64, SrcSTag: 0x66, SrcTO: to})
	}
	atomic := func(op rdmap.AOpCode) []byte {
		return tracetest.AtomicRequest(1, rdmap.AtomicRequest{AOpCode: op, RequestID: 1, RemoteSTag: 0x77, RemoteTO: 0x4000, CompareMask: math.MaxUint64})
	}
	send := func(msn uint32) []byte { return tracetest.Send(rdmap.OpSend, 0, msn, 0, true, make([]byte, 8)) }
	half, whole := make([]byte, 32), make([]byte, 64)
	onQueue0 := asked(1, 1)
	onQueue0[9] = 0
	version := asked(1, 1)
	version[1] |= 0x80
	offset, atomicOffset := asked(1, 1), atomic(rdmap.FetchAddOp)
	offset[17], atomicOffset[17] = 4, 4
	answer := pdu{server, answered(1, 64)}
	one, two := pdu{client, asked(1, 1)}, []pdu{{client, asked(1, 1)}, {client, asked(2, 2)}}
	for _, c := range []struct {
		name    string
		first   []pdu // with one fault; the answers of the rest come behind it
		left    []pdu // what comes between the Reads of the rest and their answers
		msn     uint32
		answers bool // the faulty request may be answered: try that, too
		want    []string
	}{
		{"a Read again", []pdu{one, one, answer}, nil, 2, true, []string{"DDP-DUP-01"}},
		{"a Read on queue 0", []pdu{{client, onQueue0}}, nil, 2, true, []string{"RDMAP-QN-01"}},
		{"a tagged Read", []pdu{{client, tag(asked(1, 1))}}, nil, 2, true, []string{"RDMAP-TFLAG-01"}},
		{"a tagged Send, which takes a number", []pdu{{client, tag(send(2))}, {client, send(3)}}, nil, 1, false, []string{"RDMAP-TFLAG-01"}},
		{"a tagged Send, which takes none", []pdu{{client, tag(send(2))}, {client, send(2)}}, nil, 1, false, []string{"RDMAP-TFLAG-01"}},
		{"a tagged Read with another number", []pdu{{client, tag(asked(9, 1))}}, nil, 1, true, []string{"RDMAP-TFLAG-01"}},
		{"a long Read", []pdu{{client, append(asked(1, 1), 0, 0, 0, 0)}}, nil, 2, true, []string{"RDMAP-READREQ-LEN-01"}},
		{"a short Read", []pdu{{client, asked(1, 1)[:18+24]}}, nil, 2, true, []string{"RDMAP-READREQ-LEN-01"}},
		{"a source that wraps", []pdu{{client, source(math.MaxUint64 - 8)}}, nil, 2, true, []string{"RDMAP-READREQ-WRAP-01"}},
		{"a version that is not defined", []pdu{{client, version}}, nil, 2, true, []string{"RDMAP-RV-01"}},
		{"a long atomic", []pdu{{client, append(atomic(rdmap.FetchAddOp), 0, 0, 0, 0)}}, nil, 2, false, []string{"RDMAX-AREQ-LEN-01"}},
		{"an unknown atomic", []pdu{{client, atomic(rdmap.ReservedOp)}}, nil, 2, false, []string{"RDMAX-AREQ-AOP-01"}},
		{"a long Read into the same place", []pdu{{client, append(asked(1, 3), 0, 0, 0, 0)}}, nil, 2, true, []string{"RDMAP-READREQ-LEN-01"}},
		{
			"one that is answered behind the next Read",
			[]pdu{{client, append(asked(1, 3), 0, 0, 0, 0)}},
			[]pdu{{server, answered(3, 64)}},
			2, false,
			[]string{"RDMAP-READREQ-LEN-01"},
		},
		{"an answer without L", []pdu{one}, []pdu{{server, tracetest.ReadResponse(1, 0, false, whole)}}, 2, false, []string{"DDP-L-01"}},
		{"half an answer, without L", []pdu{one}, []pdu{{server, tracetest.ReadResponse(1, 0, false, half)}}, 2, false, []string{"RDMAP-READRESP-ORDER-01"}},
		{"an untagged answer", []pdu{one}, []pdu{{server, untag(answered(1, 64))}}, 2, false, []string{"RDMAP-TFLAG-01"}},
		{
			"an answer with an untagged end",
			[]pdu{one},
			[]pdu{{server, tracetest.ReadResponse(1, 0, false, half)}, {server, untag(tracetest.ReadResponse(1, 32, true, half))}},
			2, false,
			[]string{"RDMAP-TFLAG-01"},
		},
		{
			"an answer with an untagged beginning",
			[]pdu{one},
			[]pdu{{server, untag(tracetest.ReadResponse(1, 0, false, half))}, {server, tracetest.ReadResponse(1, 32, true, half)}},
			2, false,
			[]string{"RDMAP-TFLAG-01"},
		},
		{
			"a Write that goes on as an answer", nil,
			[]pdu{{server, tracetest.Write(0x500, 0, false, half)}, {server, tracetest.ReadResponse(0x500, 32, true, half)}},
			1, false,
			[]string{"DDP-RSVDULP-TAG-01"},
		},
		{
			"an answer that goes on as a Write",
			[]pdu{one},
			[]pdu{{server, tracetest.ReadResponse(1, 0, false, half)}, {server, tracetest.Write(1, 32, true, half)}},
			2, false,
			[]string{"DDP-RSVDULP-TAG-01"},
		},
		{
			"an answer that begins as a Write",
			[]pdu{one},
			[]pdu{{server, tracetest.Write(1, 0, false, half)}, {server, tracetest.ReadResponse(1, 32, true, half)}},
			2, false,
			[]string{"DDP-RSVDULP-TAG-01"},
		},
		{"a Read with an offset", []pdu{{client, offset}}, nil, 2, true, []string{"DDP-UNTAG-MO-01"}},
		{"an atomic with an offset", []pdu{{client, atomicOffset}}, nil, 2, false, []string{"DDP-UNTAG-MO-01"}},
		{
			"an atomic with an offset that is answered",
			[]pdu{{client, atomicOffset}, {server, tracetest.AtomicResponse(1, rdmap.AtomicResponse{RequestID: 1})}},
			nil, 2, false,
			[]string{"DDP-UNTAG-MO-01"},
		},
		{"a Read without a known opcode", []pdu{{client, unassigned(asked(1, 1))}}, nil, 2, true, []string{"RDMAP-OPCODE-01"}},
		{"an answer without a known opcode", []pdu{one}, []pdu{{server, unassigned(answered(1, 64))}}, 2, false, []string{"RDMAP-OPCODE-01"}},
		{
			"an answer that begins without a known opcode",
			[]pdu{one},
			[]pdu{{server, unassigned(tracetest.ReadResponse(1, 0, false, half))}, {server, tracetest.ReadResponse(1, 32, true, half)}},
			2, false,
			[]string{"RDMAP-OPCODE-01"},
		},
		{
			"an answer that ends without a known opcode",
			[]pdu{one},
			[]pdu{{server, tracetest.ReadResponse(1, 0, false, half)}, {server, unassigned(tracetest.ReadResponse(1, 32, true, half))}},
			2, false,
			[]string{"RDMAP-OPCODE-01"},
		},
		{
			"an atomic whose answer has no known opcode",
			[]pdu{{client, atomic(rdmap.FetchAddOp)}},
			[]pdu{{server, unassigned(tracetest.AtomicResponse(1, rdmap.AtomicResponse{RequestID: 1}))}},
			2, false,
			[]string{"RDMAP-OPCODE-01"},
		},
		{"an untagged Write", []pdu{{client, untag(tracetest.Write(0x500, 0, true, half))}}, nil, 1, false, []string{"RDMAP-TFLAG-01"}},
		{"an answer with another STag", []pdu{one}, []pdu{{server, answered(9, 64)}}, 2, false, []string{"RDMAP-READRESP-STAG-01"}},
		{"an answer that nobody asked for", two, []pdu{{server, answered(9, 5)}, answer, {server, answered(2, 64)}}, 3, false, []string{"RDMAP-READRESP-STAG-01"}},
	} {
		for _, answers := range []bool{false, true} {
			if answers && !c.answers {
				continue
			}
			d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
			d.Request()
			d.Reply()
			d.Message(client, rdmap.OpSend, make([]byte, 8), 1000)
			say := func(all ...pdu) {
				for _, p := range all {
					d.FPDU(p.side, p.ulpdu)
				}
			}
			say(c.first...)
			if answers {
				say(pdu{server, answered(uint32(c.first[0].ulpdu[21]), 64)})
			}
			say(pdu{client, asked(c.msn, 3)}, pdu{client, asked(c.msn+1, 4)})
			say(c.left...)
			say(pdu{server, answered(3, 64)}, pdu{server, answered(4, 64)})
			want := map[string]int{}
			for _, id := range c.want {
				want[id]++
			}
			found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
			delete(found, "ADV-SILENT-CLOSE")
			if !maps.Equal(found, want) {
				t.Errorf("%s, answered %v: %v, want %v\n\t%s", c.name, answers, found, want, text(j.findings))
			}
		}
	}
}

// TestAnswers_Overtaken: a request whose answer is overtaken, or never comes, is one fault, told at the first answer that
// overtakes it. It is no fault of those behind it, nor of the requester, whose other requests count without it.
func TestAnswers_Overtaken(t *testing.T) {
	const reads, atomics, other = "RDMAP-READRESP-ORDER-01", "RDMAX-ORDER-01", "RDMAX-ORDER-02"
	const pair, answer = "RDMAP-READ-PAIR-01", "RDMAX-AREQ-ANSWER-01"
	const client, server = tracetest.Client, tracetest.Server
	for _, c := range []struct {
		name     string
		requests string // a Read each r, an atomic each a
		ahead    int    // so many before the first answer
		answers  []int
		want     []string
	}{
		{"in order", "rarara", 6, []int{0, 1, 2, 3, 4, 5}, nil},
		{"the first Read is not answered", "rrrrrr", 1, []int{1, 2, 3, 4, 5}, []string{reads + " 0"}},
		{"every second Read is not answered", "rrrrrr", 1, []int{1, 3, 5}, []string{reads + " 0", reads + " 1", reads + " 2"}},
		{"nor is the fourth", "rrrrrr", 6, []int{1, 2, 4, 5}, []string{reads + " 0", reads + " 2"}},
		{"the first atomic is not answered", "aaaaaa", 1, []int{1, 2, 3, 4, 5}, []string{atomics + " 0"}},
		{"the first atomic is not answered, Reads are", "arararar", 8, []int{1, 2, 3, 4, 5, 6, 7}, []string{other + " 0"}},
		{"the first Read is not answered, atomics are", "rararara", 8, []int{1, 2, 3, 4, 5, 6, 7}, []string{other + " 0"}},
		{"nor is the last Read", "rarararar", 8, []int{1, 2, 3, 4, 5, 6, 7}, []string{pair + " 0", other + " 0"}},
		{"the first two change places", "rrrr", 4, []int{1, 0, 2, 3}, []string{reads + " 0"}},
		{"the last comes first", "rrrr", 4, []int{3, 0, 1, 2}, []string{reads + " 0"}},
		{"the first comes last", "aaaa", 4, []int{1, 2, 3, 0}, []string{atomics + " 0"}},
		{"two pairs change places", "aaaa", 4, []int{1, 0, 3, 2}, []string{atomics + " 0", atomics + " 2"}},
	} {
		depth := mpa.Enhanced{IRD: uint16(max(c.ahead, c.answers[0]+1))}
		depth.ORD = depth.IRD
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{depth, depth}})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, []byte("ready"), 1000)
		asked, at := 0, map[int64]int{}
		for i, n := range c.answers {
			for ; asked < len(c.requests) && asked < max(c.ahead+i, n+1); asked++ {
				if c.requests[asked] == 'r' {
					d.Read(client, 7, uint64(64*asked), 64)
				} else {
					d.Atomic(client, uint32(asked))
				}
			}
			if c.requests[n] == 'r' {
				d.FPDU(server, tracetest.ReadResponse(7, uint64(64*n), true, make([]byte, 64)))
			} else {
				d.Answer(server, uint32(n))
			}
			at[d.Truth[server][len(d.Truth[server])-1].From] = i
		}
		d.Message(client, rdmap.OpSend, []byte("done"), 1000)
		var got []string
		j := judged(t, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
		for i := range j.findings {
			if f := &j.findings[i]; f.Severity > conformance.Note || f.Rule.ID == pair || f.Rule.ID == answer {
				got = append(got, fmt.Sprintf("%s %d", f.Rule.ID, at[d.Truth[server][0].To+f.Offset]))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v\n\t%s", c.name, got, c.want, text(j.findings))
		}
	}
}

// TestAnswers_Ahead: an answer that fits no request, of a side that had none of them as the
// acknowledgement in it shows, is not the answer to any.
func TestAnswers_Ahead(t *testing.T) {
	const readFPDU = 2 + 18 + rdmap.ReadRequestLen + 4
	for _, ahead := range []bool{false, true} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, make([]byte, 8), 1000)
		d.Break()
		d.FPDU(tracetest.Client, asked(1, 1))
		d.FPDU(tracetest.Server, answered(9, 64))
		d.Break()
		d.FPDU(tracetest.Server, answered(1, 64))
		ps, want := tracetest.Connection(d, 0), map[string]int{"RDMAP-READRESP-STAG-01": 1}
		if ahead {
			i := slices.IndexFunc(ps, func(p tracetest.Packet) bool { return p.Side == tracetest.Server && len(p.Data) > 64 })
			ps[i].Ack -= readFPDU
			want = map[string]int{"RDMAP-READRESP-UNSOL-01": 1}
		}
		found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
		delete(found, "ADV-SILENT-CLOSE")
		if !maps.Equal(found, want) {
			t.Errorf("ahead %v: %v, want %v\n\t%s", ahead, found, want, text(j.findings))
		}
	}
}

// TestAnswers_Numbers: one wrong MSN of an Atomic Response is one fault, however the count goes on, and
// also where requests are missing.
func TestAnswers_Numbers(t *testing.T) {
	for _, c := range []struct {
		name string
		msns []uint32
		want int
	}{
		{"right", []uint32{1, 2, 3}, 0},
		{"the first, then the old count", []uint32{8, 2, 3}, 1},
		{"the first, then counted from", []uint32{8, 9, 10}, 1},
		{"the second, then the old count", []uint32{1, 9, 3}, 1},
		{"the second, then counted from", []uint32{1, 9, 10}, 1},
		{"the second and the third", []uint32{1, 9, 20}, 2},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, make([]byte, 8), 1000)
		d.Break()
		for i := range c.msns {
			d.Atomic(tracetest.Client, uint32(i))
		}
		for i, msn := range c.msns {
			d.FPDU(tracetest.Server, tracetest.AtomicResponse(msn, rdmap.AtomicResponse{RequestID: uint32(i), Original: 5}))
			d.Break()
		}
		ps := tracetest.Connection(d, 0)
		asks := slices.IndexFunc(ps, func(p tracetest.Packet) bool {
			return p.Side == tracetest.Client && len(p.Data) > 3*rdmap.AtomicRequestLen
		})
		for _, lost := range []bool{false, true} {
			seen := ps
			if lost {
				seen = slices.Delete(slices.Clone(ps), asks, asks+1)
			}
			found, j := alarms(t, pipeline.Options{}, tracetest.Net{}.Frames(seen))
			delete(found, "ADV-SILENT-CLOSE")
			if found["RDMAX-ARESP-MSN-01"] != c.want || len(found) > min(c.want, 1) {
				t.Errorf("%s, requests lost %v: %v, want %d\n\t%s", c.name, lost, found, c.want, text(j.findings))
			}
		}
	}
}

// TestAnswers_NamesRequests: where two requests came in one frame, a finding on the order of their answers tells them apart.
func TestAnswers_NamesRequests(t *testing.T) {
	const src = `
client: {tcp: {packing: packed}}
timeline:
  - connect
  - {region: {name: sink, of: client, stag: 0x500, size: 4KiB, access: [read, write]}}
  - together:
      - {read: 64, into: sink}
      - {read: 128, into: {region: sink, offset: 1024}}
  - close
faults:
  - {at: read1.response, hold: 1}
  - {by: client, ignores: [errors]}
`
	j := judged(t, framesOf(t, parsed(t, src)))
	for i := range j.findings {
		f := &j.findings[i]
		if f.Rule.ID != "RDMAP-READRESP-ORDER-01" {
			continue
		}
		const observed, expected = "the response to the request with MSN 2 in frame 6", "the response to the request with MSN 1 in frame 6 first"
		if f.Observed != observed || f.Expected != expected {
			t.Errorf("observed %s, expected %s; want %s, %s", f.Observed, f.Expected, observed, expected)
		}
		return
	}
	t.Error("no finding")
}

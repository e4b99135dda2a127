package analysis_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// described are the messages that the PDUs of a direction tell of.
func described(r *tracerun.Result, d trace.Dir) (out []string) {
	for _, p := range r.Of(0, d) {
		if p.Message == nil {
			continue
		}
		m := p.Message
		s := fmt.Sprintf("%v %d/%d", p.Control.Opcode, m.Length, m.Segments)
		if m.Done {
			s += " done"
		}
		if !m.StartKnown {
			s += " tail"
		}
		out = append(out, s)
	}
	return out
}

func TestMessages_Segments(t *testing.T) {
	d := started(tracetest.Setup{CRC: true, Markers: [2]bool{true, true}})
	b := tracetest.Octets(1, 2500)
	d.Message(0, rdmap.OpSend, b, 1000)
	d.Message(0, rdmap.OpSendSE, nil, 1000)
	d.Tagged(0, rdmap.OpWrite, 1, 10, b[:1000], 1000)
	d.Tagged(0, rdmap.OpWrite, 1, 10, b[:1001], 1000)
	d.Tagged(0, rdmap.OpWrite, 2, 0, nil, 1000)
	d.FPDU(0, tracetest.Immediate(rdmap.OpImmediateSE, d.Next(0, 0), [8]byte{1}))
	d.Read(0, 3, 0, 7)
	d.Atomic(0, 1)
	r := run(t, d, 0)
	if diff := tracetest.Diff(described(r, trace.I2R), []string{
		"Send 1000/1", "Send 2000/2", "Send 2500/3 done", "Send with SE 0/1 done",
		"RDMA Write 1000/1 done", "RDMA Write 1000/1", "RDMA Write 1001/2 done", "RDMA Write 0/1 done",
		"Immediate Data with SE 8/1 done", "RDMA Read Request 28/1 done", "Atomic Request 52/1 done",
	}); diff != "" {
		t.Error(diff)
	}
	flow := &only(t, r).Flow[0]
	for op, want := range map[rdmap.Opcode]trace.Ops{
		rdmap.OpSend:        {Segments: 3, Messages: 1, Octets: 2500, Least: 2500, Most: 2500, Whole: 2500},
		rdmap.OpSendSE:      {Segments: 1, Messages: 1},
		rdmap.OpWrite:       {Segments: 4, Messages: 3, Octets: 2001, Most: 1001, Whole: 2001},
		rdmap.OpReadRequest: {Segments: 1, Messages: 1, Octets: 28, Least: 28, Most: 28, Whole: 28},
	} {
		if got := flow.Op(op); got != want {
			t.Errorf("%v: %+v, want %+v", op, got, want)
		}
	}
}

// TestMessages_Interleaved has a Write and a Read Response of one STag with
// their segments mixed, and two queues.
func TestMessages_Interleaved(t *testing.T) {
	d := started(tracetest.Setup{})
	d.Read(1, 1, 0, 40)
	b := tracetest.Octets(1, 40)
	d.FPDU(0, tracetest.Write(1, 0, false, b[:10]))
	d.FPDU(0, tracetest.ReadResponse(1, 0, false, b[:20]))
	d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, 1, 0, false, b[:4]))
	d.FPDU(0, tracetest.Write(1, 10, true, b[:10]))
	d.FPDU(0, tracetest.ReadResponse(1, 20, true, b[:20]))
	d.Read(0, 1, 0, 40)
	d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, 1, 4, true, b[:4]))
	if diff := tracetest.Diff(described(run(t, d, 0), trace.I2R), []string{
		"RDMA Write 10/1", "RDMA Read Response 20/1", "Send 4/1", "RDMA Write 20/2 done",
		"RDMA Read Response 40/2 done", "RDMA Read Request 28/1 done", "Send 8/2 done",
	}); diff != "" {
		t.Error(diff)
	}
}

// TestMessages_Gap loses the middle of a message: what follows is its tail, up to the end of a
// message: behind that the next one begins.
func TestMessages_Gap(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	b := tracetest.Octets(1, 5000)
	d.Tagged(0, rdmap.OpWrite, 1, 0, b, 1000)
	d.Message(0, rdmap.OpSend, b, 1000)
	d.Message(0, rdmap.OpSend, b[:1500], 1000)
	for range 2 {
		d.Tagged(0, rdmap.OpWrite, 1, 0, b[:1500], 1000)
	}
	for _, c := range []struct {
		lost int
		want []string
	}{
		{2, []string{
			"RDMA Write 1000/1", "RDMA Write 1000/1 tail", "RDMA Write 2000/2 tail", "RDMA Write 3000/3 done tail",
			"Send 1000/1", "Send 2000/2", "Send 3000/3", "Send 4000/4", "Send 5000/5 done", "Send 1000/1", "Send 1500/2 done",
			"RDMA Write 1000/1", "RDMA Write 1500/2 done", "RDMA Write 1000/1", "RDMA Write 1500/2 done",
		}},
		{8, []string{
			"RDMA Write 1000/1", "RDMA Write 2000/2", "RDMA Write 3000/3", "RDMA Write 4000/4", "RDMA Write 5000/5 done",
			"Send 1000/1", "Send 2000/2", "Send 1000/1 tail", "Send 2000/2 done tail", "Send 1000/1", "Send 1500/2 done",
			"RDMA Write 1000/1", "RDMA Write 1500/2 done", "RDMA Write 1000/1", "RDMA Write 1500/2 done",
		}},
	} {
		lost := d.Truth[0][c.lost]
		tcp := tracetest.TCP{}
		tcp.Handshake()
		tcp.Send(0, d.Stream(0)[:d.Truth[0][0].To])
		tcp.Send(1, d.Stream(1))
		for _, w := range d.Truth[0][1:] {
			tcp.Send(0, d.Stream(0)[w.From:w.To])
		}
		ps, _ := tracetest.DropRange(tcp.Packets, 0, lost.From, lost.To)
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
		if diff := tracetest.Diff(described(r, trace.I2R), c.want); diff != "" {
			t.Errorf("without FPDU %d: %s", c.lost, diff)
		}
	}
}

// TestMessages_Whole loses a part of a message: it is not counted as one, and its size is that of
// none. What comes behind its end is whole.
func TestMessages_Whole(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	b := tracetest.Octets(1, 2000)
	d.Tagged(0, rdmap.OpWrite, 1, 0, b, 1000)
	d.Tagged(0, rdmap.OpWrite, 2, 0, b[:10], 1000)
	d.Tagged(0, rdmap.OpWrite, 3, 0, b[:20], 1000)
	tcp := tracetest.TCP{}
	tcp.Handshake()
	tcp.Send(0, d.Stream(0)[:d.Truth[0][0].To])
	tcp.Send(1, d.Stream(1))
	begun := len(tcp.Packets) // of them one for each FPDU follows
	for _, w := range d.Truth[0][1:] {
		tcp.Send(0, d.Stream(0)[w.From:w.To])
	}
	lost, _ := tracetest.DropRange(tcp.Packets, 0, d.Truth[0][1].From, d.Truth[0][1].To)
	for name, ps := range map[string][]tracetest.Packet{
		"the first segment is lost":    lost,
		"the capture begins behind it": tcp.Packets[begun+1:],
	} {
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
		if diff := tracetest.Diff(described(r, trace.I2R), []string{"RDMA Write 1000/1 done tail", "RDMA Write 10/1 done", "RDMA Write 20/1 done"}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		want := trace.Ops{Segments: 3, Messages: 2, Octets: 1030, Least: 10, Most: 20, Whole: 30}
		if got := only(t, r).Flow[0].Op(rdmap.OpWrite); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

package analysis_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// ahead are the frames of the PDUs of a direction that came out of order.
type ahead struct {
	*tracerun.Result
	frames []uint64
	behind uint64
}

func (a *ahead) PDU(p *trace.PDU) { a.frames = append(a.frames, p.OutOfOrder...) }

func (a *ahead) Gap(g *trace.GapEvent) { a.behind = g.Behind }

// TestOutOfOrder: what comes behind a gap of the capture is in order. What waits for a packet that comes late is not.
func TestOutOfOrder(t *testing.T) {
	d := tracetest.Sends(12)
	c := tracetest.TCP{AckEvery: 100}
	c.Handshake()
	c.Play(d)
	at := len(c.Packets) - 6
	for _, late := range []bool{true, false} {
		packets := append(c.Packets[:at:at], c.Packets[at+1:]...)
		if late {
			packets = append(packets[:at+2:at+2], append([]tracetest.Packet{c.Packets[at]}, c.Packets[at+3:]...)...)
		}
		a := ahead{Result: new(tracerun.Result)}
		r := pipeline.New(pipeline.Options{Brief: true, Marks: true}, &a)
		if err := r.Read(tracetest.Source(tracetest.Net{MSS: 1460}.Frames(packets))); err != nil {
			t.Fatal(err)
		}
		r.Finish()
		if (len(a.frames) > 0) != late || (a.behind == uint64(at)+1) == late {
			t.Errorf("a packet comes late: %t: out of order %v, a gap before frame %d", late, a.frames, a.behind)
		}
	}
}

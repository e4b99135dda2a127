package analysis_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/trace"
)

// nobody wants no results.
type nobody struct{}

func (nobody) PDU(*trace.PDU)                 {}
func (nobody) Gap(*trace.GapEvent)            {}
func (nobody) Transaction(*trace.Transaction) {}
func (nobody) Connection(*trace.Connection)   {}
func (nobody) Frame(*pipeline.Frame)          {}

// onAccount is what is on account behind the frames of packets, and when the capture has ended.
func onAccount(ps []tracetest.Packet) (used, left int) {
	account := budget.New(1 << 30)
	run := pipeline.New(pipeline.Options{Memory: account}, nobody{})
	fs := tracetest.Net{}.Frames(ps)
	for i := range fs {
		run.Frame(&fs[i])
	}
	used = account.Used()
	run.Finish()
	return used, account.Used()
}

// unanswered are count Read Requests without an answer.
func unanswered(count int) []tracetest.Packet {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(0, rdmap.OpSend, []byte("first"), 1400)
	for i := range count {
		d.Break()
		d.Read(0, 7, uint64(i)<<8, 8)
	}
	ps := packets(d, shape{segment: 1448})
	return ps[:len(ps)-4] // it goes on
}

// early are count Atomic Responses that were captured before their requests, which their sender had
// received: the requests are still to come.
func early(count int) []tracetest.Packet {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(0, rdmap.OpSend, []byte("first"), 1400)
	d.Message(1, rdmap.OpSend, []byte("first"), 1400)
	for i := range count {
		d.Break()
		d.Atomic(0, uint32(i))
		d.Answer(1, uint32(i))
	}
	requests := 0
	return tracetest.Drop(packets(d, shape{segment: 1448}), func(p *tracetest.Packet) bool {
		if p.Side == 0 && p.Off > 0 && len(p.Data) > 0 {
			requests++
		}
		return requests > 1 && p.Side == 0
	})
}

// TestAccount: what waits on a connection is on account, and given back at the end.
func TestAccount(t *testing.T) {
	for _, c := range []struct {
		name    string
		packets func(n int) []tracetest.Packet
		least   int // octets for each
	}{
		{"requests", unanswered, 64},
		{"octets behind a hole", func(n int) []tracetest.Packet {
			return tracetest.Drop(unanswered(n), func(p *tracetest.Packet) bool {
				return p.Side == 0 && p.Off > 60 && p.Off < 200 || p.Side == 1 && p.Off > 0
			})
		}, 30},
		{"responses before their requests", early, 64},
	} {
		few, _ := onAccount(c.packets(20))
		many, left := onAccount(c.packets(2020))
		if got := (many - few) / 2000; got < c.least {
			t.Errorf("%s: %d octets for each are on account, at least %d wanted", c.name, got, c.least)
		}
		if left > many/2 {
			t.Errorf("%s: %d octets of %d are still on account", c.name, left, many)
		}
	}
}

package analysis_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// TestReset_EndBehindIt: a connection that goes on behind a reset ends as any other.
func TestReset_EndBehindIt(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	for _, tt := range []struct {
		name      string
		by        int64 // how far the number of the reset is from the right one
		challenge bool
		closes    func(*tracetest.TCP)
		ending    trace.Ending
		endedBy   trace.Dir
	}{
		{"in the window, challenged, the server closes", 100, true, func(c *tracetest.TCP) { c.FIN(server); c.Ack(client); c.FIN(client) }, trace.FIN, trace.R2I},
		{"in the window, challenged, the client closes", 100, true, func(c *tracetest.TCP) { c.FIN(client); c.Ack(server); c.FIN(server); c.Ack(client) }, trace.FIN, trace.I2R},
		{"beyond the announced window", 1 << 20, false, func(c *tracetest.TCP) { c.FIN(client); c.Ack(server); c.FIN(server) }, trace.FIN, trace.I2R},
		{"beyond the announced window, open", 1 << 20, false, func(c *tracetest.TCP) { c.Ack(client) }, trace.Open, 0},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		c.RST(server)
		if c.Packets[len(c.Packets)-1].Off += tt.by; tt.challenge {
			c.Ack(client)
		}
		for _, side := range [...]int{client, server} {
			d.Turns = d.Turns[:0]
			d.Message(side, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			c.Play(d)
			c.Ack(1 - side)
		}
		tt.closes(&c)
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(c.Packets))
		got := r.Conns[0]
		if s := got.Flow[trace.R2I].Rare().DoubtfulResets; len(s) != 1 || got.Ending != tt.ending || got.Ending != trace.Open && got.EndedBy != tt.endedBy {
			t.Errorf("%s: %v by %v, resets %+v", tt.name, got.Ending, got.EndedBy, s)
		}
	}
}

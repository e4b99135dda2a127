package analysis_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// TestFarFIN: a FIN far from its direction closes it when it turns out to be of it.
func TestFarFIN(t *testing.T) {
	const client, server, gib = tracetest.Client, tracetest.Server, 1 << 30
	for _, tt := range []struct {
		name   string
		by     int64
		rest   func(*tracetest.TCP, func(side int))
		ending trace.Ending
	}{
		{"in its place", 0, func(*tracetest.TCP, func(int)) {}, trace.FIN},
		{"the direction goes on", 3 * gib, func(_ *tracetest.TCP, says func(int)) { says(server) }, trace.Open},
		{"the direction goes on, less than 2 GiB", gib, func(_ *tracetest.TCP, says func(int)) { says(server) }, trace.Open},
		{"nothing behind it", 3 * gib, func(*tracetest.TCP, func(int)) {}, trace.Open},
		{"nothing behind it, less than 2 GiB", gib, func(*tracetest.TCP, func(int)) {}, trace.FIN},
		{"it is acknowledged", 3 * gib, func(c *tracetest.TCP, _ func(int)) {
			c.Ack(client)
			c.Packets[len(c.Packets)-1].Ack += 3*gib + 1
		}, trace.FIN},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		var c tracetest.TCP
		c.Step = 1e9 // gigabytes may have been sent in between
		c.Handshake()
		says := func(side int) {
			d.Turns = d.Turns[:0]
			d.Message(side, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			c.Play(d)
		}
		c.Play(d)
		says(server)
		c.Ack(server)
		fin := &c.Packets[len(c.Packets)-1]
		fin.Flags |= 1
		fin.Off += tt.by
		frame := uint64(len(c.Packets))
		tt.rest(&c, says)
		got := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(c.Packets)).Conns[0]
		if got.Ending != tt.ending || got.Ending == trace.FIN && (got.EndFrame != frame || got.EndedBy != trace.R2I) {
			t.Errorf("%s: %v in frame %d by %v, want %v in frame %d", tt.name, got.Ending, got.EndFrame, got.EndedBy, tt.ending, frame)
		}
	}
}

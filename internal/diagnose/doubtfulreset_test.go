package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestDoubtfulReset tells of resets that their receiver ignored, of those that their sender contradicts, and of plain ones.
func TestDoubtfulReset(t *testing.T) {
	message := func(side int) func(*tracetest.TCP, *tracetest.Dialog) {
		return func(c *tracetest.TCP, d *tracetest.Dialog) {
			d.Turns = d.Turns[:0]
			d.Message(side, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			c.Play(d)
			c.Ack(1 - side)
		}
	}
	// reset is a RST whose number differs by so much from the right one.
	reset := func(side int, by int64) func(*tracetest.TCP, *tracetest.Dialog) {
		return func(c *tracetest.TCP, _ *tracetest.Dialog) {
			c.RST(side)
			c.Packets[len(c.Packets)-1].Off += by
		}
	}
	ack := func(side int) func(*tracetest.TCP, *tracetest.Dialog) {
		return func(c *tracetest.TCP, _ *tracetest.Dialog) { c.Ack(side) }
	}
	closes := func(c *tracetest.TCP, _ *tracetest.Dialog) { c.Close() }
	unheard := func(side int) func(*tracetest.TCP, *tracetest.Dialog) {
		return func(c *tracetest.TCP, d *tracetest.Dialog) {
			d.Turns = d.Turns[:0]
			d.Message(side, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			c.Play(d)
		}
	}
	const client, server = tracetest.Client, tracetest.Server
	var b strings.Builder
	for _, tt := range []struct {
		name  string
		steps []func(*tracetest.TCP, *tracetest.Dialog)
	}{
		{"plain", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 0)}},
		{"in front of the window", []func(*tracetest.TCP, *tracetest.Dialog){message(client), message(client), reset(client, -100), message(client), closes}},
		{"in front of the window, nothing behind it", []func(*tracetest.TCP, *tracetest.Dialog){message(client), message(client), reset(client, -100)}},
		{"far beyond the window", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 1<<30+1000), message(server), closes}},
		{"beyond the announced window", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 1<<20), message(server), message(client), closes}},
		{"beyond the announced window, nothing behind it", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 1<<20)}},
		{"in the window, challenged, what the other side sends is acknowledged", []func(*tracetest.TCP, *tracetest.Dialog){
			message(client), reset(client, 100), ack(server), unheard(server), unheard(server), ack(client),
		}},
		{"in the window, challenged, reset with the right number", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 100), ack(server), reset(client, 0)}},
		{"in both names, and one side goes on", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(server, 0), reset(client, 0), unheard(client), unheard(client)}},
		{"in both names", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(server, 0), reset(client, 0)}},
		{"right, and its sender sends much behind it", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 0), unheard(client), unheard(client), unheard(client)}},
		{"in the window, challenged, goes on", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 100), ack(server), message(client), message(client), closes}},
		{"the same, both ways", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 5000), ack(server), message(server), message(client), closes}},
		{"two of them", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 100), reset(client, 200), message(client), message(client), closes}},
		{"right, and its sender goes on", []func(*tracetest.TCP, *tracetest.Dialog){message(client), reset(client, 0), unheard(client), reset(server, 0)}},
		{"right, and what came before it is captured behind it", []func(*tracetest.TCP, *tracetest.Dialog){message(client), unheard(client), reset(client, 0), func(c *tracetest.TCP, _ *tracetest.Dialog) {
			n := len(c.Packets)
			c.Packets[n-1], c.Packets[n-2] = c.Packets[n-2], c.Packets[n-1]
			c.Ack(server)
		}}},
		{"behind the close", []func(*tracetest.TCP, *tracetest.Dialog){message(client), func(c *tracetest.TCP, _ *tracetest.Dialog) { c.FIN(client) }, ack(server), reset(client, -1), ack(server)}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		for _, step := range tt.steps {
			step(&c, d)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets)))))
	}
	golden(t, "doubtfulreset.txt", b.String())
}

// TestDoubtfulAbort tells of ABORTs behind which their side goes on, and says which of them ended the association.
func TestDoubtfulAbort(t *testing.T) {
	const abort = "{packet: {chunks: {hex: \"06 00 00 04\"}}}, wait 50ms, "
	var b strings.Builder
	for _, tt := range []struct{ name, timeline string }{
		{"none", "connect, write 3000, end, close"},
		{"both go on", "connect, write 3000, " + abort + "write 3000, read 100, end, close"},
		{"it is only closed behind it", "connect, write 3000, " + abort + "end, close"},
		{"nothing behind it", "connect, write 3000, " + abort + "wait 1ms"},
	} {
		fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: ["+tt.timeline+"]\n", false))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(fs))))
	}
	golden(t, "doubtfulabort.txt", b.String())
}

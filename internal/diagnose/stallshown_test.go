package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestStallShown: a stall that the packets show is told although a longer one may be none, because octets of the direction were not captured.
func TestStallShown(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	for _, tt := range []struct {
		name           string
		lacking, again bool
		want           string
	}{
		{"all was captured, and a packet is sent again", false, true, "warning : stalled for 3 s"},
		{"octets are missing, and a packet is sent again", true, true, "note : stalled for 400 ms"},
		{"octets are missing", true, false, ""},
	} {
		d := greeting()
		var c tracetest.TCP
		c.Handshake()
		says := func(say func()) {
			d.Turns = d.Turns[:0]
			say()
			c.Play(d)
		}
		c.Play(d)
		c.Ack(client)
		says(func() { d.Read(client, 0x55, 0x2000, 64) })
		c.Ack(server)
		c.Wait(3e9)
		says(func() { d.Tagged(server, rdmap.OpReadResponse, 0x55, 0x2000, tracetest.Octets(1, 64), 100) })
		c.Ack(client)
		says(func() { d.Message(server, rdmap.OpSend, tracetest.Octets(1, 400), 1000) })
		if tt.lacking {
			c.Packets = c.Packets[:len(c.Packets)-1]
		}
		c.Ack(client)
		says(func() { d.Message(server, rdmap.OpSend, tracetest.Octets(1, 400), 1000) })
		if again := c.Packets[len(c.Packets)-1]; tt.again {
			c.Wait(200e6)
			again.Time += 200e6
			c.Packets = append(c.Packets, again)
			c.Wait(200e6)
		}
		c.Ack(client)
		c.Close()
		got := text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets))), diagnose.Stalled)
		head, _, _ := strings.Cut(got, "\n")
		if severity, title, _ := strings.Cut(tt.want, " "); !strings.HasPrefix(head, severity) || !strings.HasSuffix(head, title) || tt.want == "" && got != "" {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

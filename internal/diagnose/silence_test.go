package diagnose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestSilence tells what silence a reset comes behind: probes without an answer, or a long time without a packet.
func TestSilence(t *testing.T) {
	const client, server, minute = tracetest.Client, tracetest.Server, int64(60e9)
	probe := func(c *tracetest.TCP, side int) {
		c.Ack(side)
		c.Packets[len(c.Packets)-1].Off--
	}
	// The server sends what is not captured, and the client acknowledges it with its probes.
	probesOfUnseen := func(c *tracetest.TCP) {
		for i := range int64(3) {
			c.Wait(75e9)
			probe(c, client)
			c.Packets[len(c.Packets)-1].Ack += 60 * (i + 1)
		}
	}
	message := func(c *tracetest.TCP, side int) {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Next(side, 0)
		d.Message(side, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
		c.Play(d)
	}
	var b strings.Builder
	for _, tt := range []struct {
		name string
		end  func(c *tracetest.TCP)
	}{
		{"nine probes", func(c *tracetest.TCP) {
			c.Wait(120 * minute)
			for range 9 {
				probe(c, client)
				c.Wait(75e9)
			}
			c.RST(client)
		}},
		{"a reset long behind the last of several probes", func(c *tracetest.TCP) {
			c.Wait(120 * minute)
			for range 5 {
				probe(c, client)
				c.Wait(10e9)
			}
			c.RST(server)
		}},
		{"the last of several probes is answered by a reset", func(c *tracetest.TCP) {
			c.Wait(120 * minute)
			for range 4 {
				probe(c, client)
				c.Wait(10e9)
			}
			probe(c, client)
			c.RST(server)
		}},
		{"probes that are answered", func(c *tracetest.TCP) {
			for range 9 {
				probe(c, client)
				c.Ack(server)
				c.Wait(75e9)
			}
			c.RST(client)
		}},
		{"probes without an answer to the end", func(c *tracetest.TCP) {
			c.Wait(120 * minute)
			for range 3 {
				probe(c, client)
				c.Wait(75e9)
			}
			probe(c, client)
		}},
		{"probes to the end, the last of which was answered", func(c *tracetest.TCP) {
			c.Wait(120 * minute)
			for range 3 {
				probe(c, client)
				c.Wait(75e9)
			}
			c.Ack(server)
		}},
		{"probes to the end that acknowledge octets that were not captured", func(c *tracetest.TCP) {
			probesOfUnseen(c)
		}},
		{"probes before a reset that acknowledge octets that were not captured", func(c *tracetest.TCP) {
			probesOfUnseen(c)
			c.RST(client)
		}},
		{"a probe at the end, and copies of it", func(c *tracetest.TCP) {
			for range 3 {
				probe(c, client)
			}
		}},
		{"probes at the end of the side of which alone packets were captured", func(c *tracetest.TCP) {
			c.Packets = slices.DeleteFunc(c.Packets, func(p tracetest.Packet) bool { return p.Side == server })
			for range 3 {
				probe(c, client)
				c.Wait(75e9)
			}
		}},
		{"a probe is answered with a reset", func(c *tracetest.TCP) {
			c.Wait(120 * minute)
			probe(c, client)
			c.RST(server)
		}},
		{"octets behind a long silence are answered with a reset", func(c *tracetest.TCP) {
			c.Wait(60 * minute)
			message(c, client)
			c.RST(server)
		}},
		{"octets behind a long silence get no answer", func(c *tracetest.TCP) {
			c.Wait(60 * minute)
			message(c, client)
			last := c.Packets[len(c.Packets)-1]
			for i := range int64(6) {
				again := last
				c.Wait(int64(200e6) << i)
				c.Ack(client)
				again.Time = c.Packets[len(c.Packets)-1].Time
				c.Packets[len(c.Packets)-1] = again
			}
			c.Wait(20e9)
			c.RST(client)
		}},
		{"a reset behind a long silence", func(c *tracetest.TCP) {
			c.Wait(60 * minute)
			c.RST(client)
		}},
		{"the sides speak again", func(c *tracetest.TCP) {
			c.Wait(60 * minute)
			message(c, client)
			c.Ack(server)
			c.RST(client)
		}},
		{"a short silence", func(c *tracetest.TCP) {
			c.Wait(minute)
			c.RST(client)
		}},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(client, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
		d.Message(server, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		c.Ack(client)
		tt.end(&c)
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets)))))
	}
	golden(t, "silence.txt", b.String())
}

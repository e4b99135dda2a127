package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestWindowProbe: the octet that probes a closed window, and is sent again with what follows it, is no segment that cuts an
// FPDU. One that is cut behind its first octet while the window is open is.
func TestWindowProbe(t *testing.T) {
	for _, shut := range []bool{true, false} {
		d := tracetest.Sends(30)
		c := tracetest.TCP{AckEvery: 1}
		c.Handshake()
		c.Play(d)
		last := len(c.Packets) - 2 // in front of its acknowledgement
		c.Packets[last-1].Shut = shut
		whole, ack := c.Packets[last], c.Packets[last+1]
		octet := whole
		octet.Data = whole.Data[:1]
		whole.Time += 2e9
		deaf, open := c.Packets[last-1], c.Packets[last-1]
		deaf.Time, open.Time, open.Shut = octet.Time+1000, whole.Time-1000, false
		ack.Time = whole.Time + 1000
		c.Packets = append(c.Packets[:last], octet, deaf, open, whole, ack)
		said := text(diagnosed(t, tracetest.Source(tracetest.Net{MSS: 1460}.Frames(c.Packets))))
		if got := strings.Contains(said, "MPA-ALIGN-02"); got == shut {
			t.Errorf("the window is shut: %t: %s", shut, said)
		}
	}
}

// TestProbesOfNothing: most senders probe a closed window with packets that have no octets. They prove that there was more to send,
// whatever follows, and so soon behind the close they are no keep-alives.
func TestProbesOfNothing(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	for _, tt := range []struct {
		name      string
		wait      int64
		answered  bool
		reset     bool
		want, not string
	}{
		{"answered", 200e6, true, false, "probed the closed window 5 times", "answered none"},
		{"unanswered", 200e6, false, false, "answered none of these probes", "no problem"},
		{"answered, and a reset", 200e6, true, true, "The receive window of the responder was closed: nothing took", "check the log"},
		{"unanswered, and a reset", 200e6, false, true, "answered none of these probes", "check the log"},
		{"keep-alives", 60e9, true, false, "", "stalled"},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		for range 9 {
			d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			d.Break()
		}
		c := tracetest.TCP{AckEvery: 1}
		c.Handshake()
		c.Play(d)
		shut := func() {
			c.Ack(server)
			c.Packets[len(c.Packets)-1].Shut = true
		}
		shut()
		for i := range int64(5) {
			c.Wait(tt.wait << i)
			c.Ack(client)
			c.Packets[len(c.Packets)-1].Off--
			if tt.answered {
				shut()
			}
		}
		if tt.reset {
			c.Wait(1e9)
			c.RST(client)
		}
		said := text(diagnosed(t, tracetest.Source(tracetest.Net{MSS: 1460}.Frames(c.Packets))))
		if !strings.Contains(said, tt.want) || strings.Contains(said, tt.not) {
			t.Errorf("%s: %s", tt.name, said)
		}
	}
}

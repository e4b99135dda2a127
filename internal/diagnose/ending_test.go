package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestEndings_Cause compares what is said of an end behind octets that are no FPDU: one problem, the cause first; and of
// one that came before what it might be for.
func TestEndings_Cause(t *testing.T) {
	const octets = "faults: [{at: send2, before: {hex: aabbcc}}]\n"
	var b strings.Builder
	for _, tt := range []struct{ name, src string }{
		{"close", "timeline: [connect, send 100 x3, read 4KiB, send 100, read 4KiB, close]\n" + octets},
		{"reset", "timeline: [connect, send 100 x3, read 4KiB, send 100, read 4KiB, server reset]\n" + octets},
		{"closed before the request", "timeline: [open, server close, start]\nfaults: [{by: client, ignores: [close]}]\n"},
		{"nothing waits", "timeline: [connect, send 100 x3, read 4KiB, send 100, close]\n" + octets},
	} {
		fs, err := tracetest.ReadFile(generate(t, tt.src, false))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(fs))))
	}
	golden(t, "endings.txt", b.String())
}

// TestUnderWay_BeyondTheCapture: of a request it is not said that it had no answer, where the other side sent something
// that was not captured: it was acknowledged.
func TestUnderWay_BeyondTheCapture(t *testing.T) {
	for captured, want := range map[bool]bool{true: true, false: false} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
		d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
		d.FPDU(tracetest.Client, tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, Size: 8, SrcSTag: 9}))
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		c.Ack(tracetest.Server)
		if c.FIN(tracetest.Server); !captured {
			c.Packets = c.Packets[:len(c.Packets)-1]
		}
		c.Wait(50e6)
		c.RST(tracetest.Client)
		said := text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets))))
		if got := strings.Contains(said, "of the initiator had no answer yet"); got != want {
			t.Errorf("the FIN is captured: %t: %s", captured, said)
		}
	}
}

// TestEndings_Unframed: a request has no answer only if the answer cannot be in octets that are in no FPDU. Without CRCs,
// a wrong length hides FPDUs.
func TestEndings_Unframed(t *testing.T) {
	const script = `
both: {mpa: {crc: false}}
timeline: [connect, send 16, wait 5ms, {send: 24, from: server}, read 64, wait 5ms, {send: 24, from: server}, {send: 24, from: server}, close]
`
	for _, c := range []struct {
		name, faults string
		want         bool
	}{
		{"a wrong length in front of the answer", "faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 58}}, {by: client, ignores: [errors]}]", false},
		{"no answer, all is framed", "faults: [{at: read1.response, skip: true}, {by: client, ignores: [errors]}]", true},
	} {
		fs, err := tracetest.ReadFile(generate(t, script+c.faults+"\n", false))
		if err != nil {
			t.Fatal(err)
		}
		said := text(diagnosed(t, tracetest.Source(fs)))
		if got := strings.Contains(said, "had no answer yet"); got != c.want {
			t.Errorf("%s: it says %q", c.name, said)
		}
	}
}

// TestUnderWay_Crossing: what a side sends while a reset is on its way to it does not count as sent by the time of the reset,
// nor do octets behind its own FIN.
func TestUnderWay_Crossing(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
	d.Request()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
	var c tracetest.TCP
	c.Handshake()
	c.Play(d)
	c.Ack(tracetest.Server)
	acked := c.Packets[len(c.Packets)-1].Ack
	more := func(n int) {
		d.Turns = d.Turns[:0]
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, n), 1000)
		c.Play(d)
	}
	more(200)
	c.RST(tracetest.Server)
	c.Packets[len(c.Packets)-1].Ack = acked
	more(400)
	const want = "224 octets of the initiator were not acknowledged"
	if said := text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets)))); !strings.Contains(said, want) {
		t.Errorf("%q is not in %s", want, said)
	}
}

// TestUnderWay_CutAnswer: a reset in the middle of an FPDU leaves the Read without its whole answer, also where the FPDU is the
// last one of that.
func TestUnderWay_CutAnswer(t *testing.T) {
	for _, c := range []struct {
		name        string
		size, stop  int // of the answer, and where it ends in the stream
		reads, side int
		want        string
	}{
		{"the first FPDU, reset by the responder", 5000, 700, 1, tracetest.Server, "1 request of the initiator had no complete answer yet: the answer to the Read in frame 7 had only begun."},
		{"the third FPDU, reset by the responder", 5000, 2500, 1, tracetest.Server, "1 request of the initiator had no complete answer yet: 2000 of 5000 octets of the answer to the Read in frame 7 had come."},
		{"the last FPDU, reset by the responder", 1500, 1400, 1, tracetest.Server, "1000 of 1500 octets of the answer to the Read in frame 7 had come."},
		{"the last FPDU, reset by the initiator", 1500, 1400, 1, tracetest.Client, "1000 of 1500 octets of the answer to the Read in frame 7 had come."},
		{"one of several Reads", 5000, 2500, 3, tracetest.Server, "3 requests of the initiator had no complete answer yet: 2000 of 5000 octets of the answer to the Read in frame 7 had come."},
		{"between FPDUs", 5000, 2040, 1, tracetest.Server, "2000 of 5000 octets of the answer to the Read in frame 7 had come."},
	} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 20), 1000)
		for i := range c.reads {
			d.Break()
			d.Read(tracetest.Client, 0x55+uint32(i), 0x1000, uint32(c.size))
		}
		d.Tagged(tracetest.Server, rdmap.OpReadResponse, 0x55, 0x1000, tracetest.Octets(3, c.size), 1000)
		last := &d.Turns[len(d.Turns)-1]
		last.Data = last.Data[:c.stop]
		var tcp tracetest.TCP
		tcp.Handshake()
		tcp.Play(d)
		tcp.Ack(tracetest.Client)
		tcp.RST(c.side)
		if said := text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(tcp.Packets)))); !strings.Contains(said, c.want) {
			t.Errorf("%s: does not say %q: %s", c.name, c.want, said)
		}
	}
}

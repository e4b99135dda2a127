package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// greeting is a dialog in which each side sends a message.
func greeting() *tracetest.Dialog {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
	d.Request()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
	d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
	return d
}

// TestHalfOpen: a client restarts and opens another connection on the same ports, and the server still has the old one.
func TestHalfOpen(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	var b strings.Builder
	for _, tt := range []struct {
		name              string
		closes, challenge bool
		resets, goesOn    bool
	}{
		{"closed before", true, false, false, true},
		{"taken as new at once", false, false, false, true},
		{"challenged, reset, goes on", false, true, true, true},
		{"challenged and reset", false, true, true, false},
	} {
		var old, next tracetest.TCP
		old.Handshake()
		old.Play(greeting())
		if old.Ack(client); tt.closes {
			old.Close()
		}
		n := len(old.Packets)
		if old.Wait(5e9); tt.challenge {
			old.Ack(server)
		}
		if tt.resets {
			old.RST(client)
		}
		next.Wait(tracetest.Start + 4e9)
		next.Handshake()
		syn := next.Packets[0]
		if next.Wait(1e9); tt.goesOn {
			next.Play(greeting())
			next.Close()
		} else {
			next.Packets = next.Packets[:1]
		}
		former := tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(old.Packets)
		again := tracetest.Net{ISN: [2]uint32{7_000_000, 9_000_000}}
		parts := tracetest.Join(former[:n], again.Frames([]tracetest.Packet{syn}), former[n:])
		if tt.challenge {
			parts = tracetest.Join(parts, again.Frames(next.Packets))
		} else {
			parts = tracetest.Join(parts, again.Frames(next.Packets[1:]))
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(parts))))
	}
	golden(t, "halfopen.txt", b.String())
}

// TestPendingSYN: a SYN with another number while a connection is open. Only what follows it shows whether it opened another one.
func TestPendingSYN(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	var b strings.Builder
	for _, tt := range []struct {
		name             string
		challenge, goes  bool
		closes, syn, ack bool // the old one closes; another one follows, with the answer to its SYN
		late             bool // the SYN comes again behind the reset of the old one
	}{
		{"challenged, goes on, closes", true, true, true, false, false, false},
		{"goes on", false, true, false, false, false, false},
		{"nothing behind it", false, false, false, false, false, false},
		{"only challenged", true, false, false, false, false, false},
		{"another one", false, false, false, true, true, false},
		{"another one, the answer to its SYN was not captured", false, false, false, true, false, false},
		{"challenged, another one", true, false, false, true, true, false},
		{"challenged, reset, the SYN again", true, false, false, true, true, true},
	} {
		var old, next tracetest.TCP
		old.Handshake()
		old.Play(greeting())
		old.Ack(client)
		n := len(old.Packets)
		if old.Wait(1e9); tt.challenge {
			old.Ack(server)
		}
		if tt.late {
			old.RST(client)
		}
		if tt.goes {
			d := greeting()
			d.Turns = d.Turns[:0]
			d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			old.Play(d)
			old.Ack(server)
		}
		if tt.closes {
			old.Close()
		}
		next.Wait(tracetest.Start + 1e9)
		next.Handshake()
		next.Wait(1e9)
		next.Play(greeting())
		next.Close()
		former := tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(old.Packets)
		again := tracetest.Net{ISN: [2]uint32{7_000_000, 9_000_000}}.Frames(next.Packets)
		parts := tracetest.Join(former[:n], again[:1], former[n:])
		if tt.late {
			parts = tracetest.Join(parts, again[:1])
		}
		if tt.syn && tt.ack {
			parts = tracetest.Join(parts, again[1:])
		} else if tt.syn {
			parts = tracetest.Join(parts, again[2:])
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(parts))))
	}
	golden(t, "pendingsyn.txt", b.String())
}

// TestPendingSYN_Others: SYN-ACKs, and SYNs with octets, while a connection is open on their ports.
func TestPendingSYN_Others(t *testing.T) {
	const client, server = tracetest.Client, tracetest.Server
	var b strings.Builder
	for _, tt := range []struct {
		name                    string
		stray                   []int // packets of another connection, while the old one is open
		challenge, goes, closes bool
		rest                    []int // those behind the old one; from the last of them on all
		open                    bool  // TCP Fast Open: the SYN has the Request
		again                   bool  // its octets were not taken, and come again
	}{
		{name: "SYN-ACK, challenged, goes on, closes", stray: []int{1}, challenge: true, goes: true, closes: true},
		{name: "SYN-ACK, goes on", stray: []int{1}, goes: true},
		{name: "SYN-ACK, nothing behind it", stray: []int{1}},
		{name: "another one, its SYN was not captured", rest: []int{1, 2, 3}},
		{name: "another one, its SYN was captured behind the SYN-ACK", rest: []int{1, 0, 2, 3}},
		{name: "SYN with octets, challenged, goes on, closes", stray: []int{0}, open: true, challenge: true, goes: true, closes: true},
		{name: "SYN with octets, goes on", stray: []int{0}, open: true, goes: true},
		{name: "SYN with octets, nothing behind it", stray: []int{0}, open: true},
		{name: "another one, SYN with octets", open: true, rest: []int{0, 1, 2, 3}},
		{name: "another one, SYN with octets that come again", open: true, again: true, rest: []int{0, 1, 2, 3}},
		{name: "another one, SYN with octets, behind the close", open: true, closes: true, rest: []int{0, 1, 2, 3}},
	} {
		var old, next tracetest.TCP
		next.Wait(tracetest.Start + 1e9)
		next.Handshake()
		next.Play(greeting())
		next.Close()
		old.Handshake()
		old.Play(greeting())
		old.Ack(client)
		n := len(old.Packets)
		if old.Wait(1e9); tt.challenge {
			old.Ack(1 - next.Packets[tt.stray[0]].Side)
		}
		if tt.goes {
			d := greeting()
			d.Turns = d.Turns[:0]
			d.Message(server, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			d.Message(client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			old.Play(d)
			old.Ack(server)
		}
		if tt.closes {
			old.Close()
		}
		if p := next.Packets; tt.open {
			p[0].Data = p[3].Data
			if !tt.again {
				p[1].Ack = int64(len(p[3].Data))
				p[2].Off = p[1].Ack
				next.Packets = append(p[:3], p[4:]...)
			}
		}
		former := tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(old.Packets)
		again := tracetest.Net{ISN: [2]uint32{7_000_000, 9_000_000}}.Frames(next.Packets)
		parts := tracetest.Join(former[:n])
		for _, i := range tt.stray {
			parts = tracetest.Join(parts, again[i:i+1])
		}
		parts = tracetest.Join(parts, former[n:])
		for at, i := range tt.rest {
			if at == len(tt.rest)-1 {
				parts = tracetest.Join(parts, again[i:])
			} else {
				parts = tracetest.Join(parts, again[i:i+1])
			}
		}
		run := pipeline.New(pipeline.Options{Sums: true, Brief: true}, nil)
		if err := run.Read(tracetest.Source(parts)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s\n", tt.name)
		for _, c := range run.Finish().Collect() {
			fmt.Fprintf(&b, "connection %d, frames %d to %d: %d and %d FPDUs, %v\n", c.Number, c.FirstFrame, c.LastFrame, c.Flow[0].FPDUs, c.Flow[1].FPDUs, c.Ending)
		}
		b.WriteString(text(diagnosed(t, tracetest.Source(parts))))
	}
	golden(t, "pendingsyn_others.txt", b.String())
}

// TestHalfOpen_SCTP: a session that is open when its side begins another association on the same addresses and ports.
func TestHalfOpen_SCTP(t *testing.T) {
	for _, tt := range []struct{ end, want string }{
		{"", "note half-open initiator frames [11] pdus [] of 1: ports used again while it was open\nThe initiator opened another association on the same addresses and ports in frame 11,"},
		{"end, close, ", ""},
	} {
		src := "transport: sctp\nconnections: {a: {association: one, client: {address: \"10.0.0.1:5002\"}}, b: {association: two, client: {address: \"10.0.0.1:5002\"}}}\n" +
			"timeline: [connect, write 3000, " + tt.end + "{connect: , on: b}, {write: 3000, on: b}, {end: , on: b}, {close: , on: b}]\n"
		fs, err := tracetest.ReadFile(generate(t, src, false))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.HalfOpened); !strings.HasPrefix(all, tt.want) || (tt.want == "") != (all == "") {
			t.Errorf("%q: %q", tt.end, all)
		}
	}
}

// TestHalfOpen_Init: an INIT in the middle of an association, and what its side does behind it.
func TestHalfOpen_Init(t *testing.T) {
	initWith := func(tag string) string {
		return "{packet: {chunks: {hex: \"01 00 00 14 " + tag + " 00 10 00 00 00 10 00 10 00 00 10 00\"}}}"
	}
	const (
		other  = "00 00 00 99"
		asked  = "note half-open initiator frames [11] pdus [] of 1: ports used again while it was open\nThe initiator asked for another association on the same addresses and ports in frame 11, and neither "
		vain   = "note half-open initiator frames [11 12] pdus [] of 1: INIT without effect\nAn INIT in the name of the initiator in frame 11, with another tag, did not open another association on the same addresses and ports: the initiator went on with this one in frame 12. It may be left over from another association, or it may not have come from the initiator.\n"
		second = "note half-open initiator frames [11 13] pdus [] of 1: INIT without effect\n"
	)
	for _, tt := range []struct{ timeline, want string }{
		{"connect, write 3000, " + initWith(other) + ", wait 50ms", asked},
		{"connect, write 3000, " + initWith(other) + ", wait 50ms, server send 10", second},
		{"connect, write 3000, " + initWith(other) + ", write 3000", asked}, // may have been under way
		{"connect, write 3000, " + initWith(other) + ", wait 50ms, write 3000, end, close", vain},
		{"connect, write 3000, " + initWith(other) + ", wait 50ms, close", vain},
		{"connect, write 3000, " + initWith(other) + ", " + initWith("00 00 00 98") + ", wait 50ms, write 3000, end, close", second},
		{"connect, write 3000, end, close, " + initWith(other), ""},
	} {
		fs, err := tracetest.ReadFile(generate(t, "transport: sctp\ntimeline: ["+tt.timeline+"]\n", false))
		if err != nil {
			t.Fatal(err)
		}
		for i := range fs {
			if b := fs[i].Data[14+20:]; b[sctp.HeaderLen] == byte(sctp.TypeInit) {
				clear(b[4:8]) // made by hand, it has the tag of the association
				sctp.Seal(b)
			}
		}
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.HalfOpened); !strings.HasPrefix(all, tt.want) || (tt.want == "") != (all == "") {
			t.Errorf("%q: %q", tt.timeline, all)
		}
	}
}

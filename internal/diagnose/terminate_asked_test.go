package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// TestTerminate_OwnFault: where a side refuses what it asked for itself, or what it had answered already, the other one is
// not said to be wrong.
func TestTerminate_OwnFault(t *testing.T) {
	const read, atomic = "{read: 1KiB}, ", "{fetch_add: 1, at: {offset: 8}}, "
	for _, c := range []struct {
		name, script, want string
		dir                trace.Dir
	}{
		{"an STag", "[connect, " + read + "{terminate: 1/1/00, from: client, quote: last}, close]", "The initiator's own Read Request in frame 6 names that place", trace.I2R},
		{"one of several", "[connect, " + read + "{read: 64, into: {to: 7}}, {terminate: 1/1/02, from: client, quote: last}, close]", "The initiator's own Read Request in frame 8 names that place", trace.I2R},
		{"bounds", "[connect, " + read + "{terminate: 1/1/01, from: client, quote: last}, close]", "The initiator's own Read Request in frame 6 names that place", trace.I2R},
		{"an opcode", "[connect, " + read + "{terminate: 0/2/06, from: client, quote: last}, close]", "the answer to the initiator's own Read Request in frame 6", trace.I2R},
		{"a wrap", "[connect, {read: 16, into: {to: 0xfffffffffffffff0}}, send 5, close]", "The initiator's own Read Request in frame 6 names that place", trace.I2R},
		{"a queue", "[connect, " + atomic + "{terminate: 1/2/01, from: client, quote: last}, close]", "the answers to its own Atomic Requests", trace.I2R},
		{"an atomic that was answered", "[connect, " + atomic + "{terminate: 0/2/07, from: server, quote: last}, close]", "The responder had already answered it in frame 7.", trace.R2I},
		{"a Read that was answered", "[connect, " + read + "{terminate: 0/1/01, from: server, quote: last}, close]", "The responder had already answered it in frame 7.", trace.R2I},
		{"a Write up to the end", "[connect, {write: 16, to: {to: 0xfffffffffffffff0}}, send 5, close]", "The initiator wrote up to the end of the address space", trace.I2R},
		{"a wrap without a Write", "[connect, send 10, {terminate: 1/1/03, from: server}, close]", "Nothing that the initiator sent can cause that error", trace.R2I},
		{"an STag without a message", "[connect, send 10, {terminate: 0/1/00}, close]", "Nothing that the responder sent can cause that error", trace.I2R},
		{"an opcode without a message", "[connect, send 10, {terminate: 0/2/06}, close]", "Nothing that the responder sent can cause that error", trace.I2R},
		{"an opcode that is always expected", "[connect, send 10, write 10, wait 1ms, {terminate: 0/2/06, from: server}, close]", "Nothing that the initiator sent can cause that error", trace.R2I},
		{"an opcode that was asked for", "[connect, read 10, wait 1ms, {terminate: 0/2/06}, close]", "Nothing that the responder sent can cause that error", trace.I2R},
		{"a CRC without an FPDU", "[connect, send 10, {terminate: 2/0/02}, close]", "Nothing that the responder sent can cause that error", trace.I2R},
		{"a buffer without a Send", "[connect, write 10, {terminate: 1/2/02, from: server}, close]", "Nothing that the initiator sent can cause that error", trace.R2I},
		{"a depth that fits", "[connect, send 10, {terminate: 2/0/06, from: server}, close]\nboth: {mpa: {ird: 4, ord: 4}}", "No ORD in the startup is above the IRD", trace.R2I},
		{"no depth", "[open, start, {terminate: 2/0/06}, end, close]\ntransport: sctp\nboth: {session: {enhanced: false}}", "The startup carries no IRD and ORD", trace.I2R},
		{"no indication", "[connect, send 100, {terminate: 2/0/07, from: server}, close]", "asks for no ready-to-receive indication", trace.R2I},
		{"a Request that was accepted", "[connect, send 100, {terminate: 2/0/04, from: server}, close]", "It had accepted the startup frame of the initiator, in frame 5", trace.R2I},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse("t.yaml", []byte("summary: a test\ntimeline: "+c.script+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range diagnosed(t, written(t, s, false)) {
				if d.Kind != diagnose.Terminated {
					continue
				}
				if said := d.Sentences() + strings.Join(d.Also, " "); !strings.Contains(said, c.want) || strings.Contains(said, "says the") || strings.Contains(said, "DDP-STAG-02") {
					t.Errorf("it says %q, and not %q", said, c.want)
				}
				if !d.HasDir || d.Dir != c.dir {
					t.Errorf("it is about the %s", d.Dir.Sender())
				}
				return
			}
			t.Error("no Terminate")
		})
	}
}

// TestTerminate_Markers: a CRC error of a side that expects markers which are not there is not held against it.
func TestTerminate_Markers(t *testing.T) {
	s, err := scenario.Parse("t.yaml", []byte("summary: a test\nboth: {mpa: {revision: 1}}\ntimeline: [connect, send 10, write 2KiB, server send 1KiB, close]\nfaults: [{at: reply, set: {iwarp_mpa.rev: 0}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[trace.Dir]string{trace.I2R: "The responder sends no markers, though there should be some.", trace.R2I: "The initiator sends markers, as in revision 0"}
	for _, d := range diagnosed(t, written(t, s, false)) {
		if d.Kind != diagnose.Terminated {
			continue
		}
		from := 1 - d.Dir // the diagnosis is about the side that is refused
		if said := d.Sentences(); !strings.Contains(said, want[from]) || strings.Contains(said, "breaks MPA-TERM-LLP-02") {
			t.Errorf("of the Terminate of the %s it says %q, and not %q", from.Sender(), said, want[from])
		}
		delete(want, from)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// TestTerminate_InPlaceOfIndication: a Send is always expected, but not in place of the indication that the Reply asks for.
func TestTerminate_InPlaceOfIndication(t *testing.T) {
	s, err := scenario.Parse("t.yaml", []byte("summary: a test\nboth: {mpa: {rtr: [write]}}\ntimeline: [connect, send 100, {terminate: 0/2/06, from: server}, close]\n"+
		"faults: [{by: client, ignores: [rtr]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diagnosed(t, written(t, s, false)) {
		if d.Kind != diagnose.Terminated {
			continue
		}
		if said := d.Sentences(); d.Dir != trace.I2R || strings.Contains(said, "can cause that error") || !strings.Contains(said, "That breaks MPA2-RTR-FIRST-01") {
			t.Errorf("it says of the %s: %q", d.Dir.Sender(), said)
		}
		return
	}
	t.Error("no Terminate")
}

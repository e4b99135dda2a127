package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// TestConnection_Terminate compares the whole text about a Terminate.
func TestConnection_Terminate(t *testing.T) {
	one := trace.QuotedMessage{Octets: 100, Segments: 1, FirstFrame: 10, LastFrame: 10}
	write := trace.Quote{
		HasHeader: true, Header: ddp.Segment{Tagged: true, STag: 0x95a01a00, TO: 0x1000}, Match: trace.Matched, PDU: 3, Frame: 10, Candidates: 1, Message: one,
	}
	long, several, never := write, write, write
	long.Message = trace.QuotedMessage{Octets: 2856, Segments: 2, FirstFrame: 10, LastFrame: 14}
	several.Match, several.Candidates = trace.MatchedSeveral, 3
	never.Match = trace.NeverSent
	send := trace.Quote{HasHeader: true, Opcode: rdmap.OpSend, Header: ddp.Segment{MSN: 7}, Match: trace.Matched, PDU: 3, Frame: 10, Candidates: 1, Message: one}
	read := trace.Quote{
		HasHeader: true, HasRead: true, Opcode: rdmap.OpReadRequest, Read: rdmap.ReadRequest{Size: 5000, SrcSTag: 9, SrcTO: 0x2000},
		Match: trace.Matched, PDU: 3, Frame: 10, Candidates: 1, Message: one,
	}
	rest, misquoted := read, read
	rest.HasSent, rest.Sent = true, read.Read
	misquoted.HasSent, misquoted.Sent = true, read.Read
	rest.Read = rdmap.ReadRequest{Size: 4900, SrcSTag: 9, SinkTO: 100, SrcTO: 0x2064}
	misquoted.Read = rdmap.ReadRequest{Size: 5000, SrcSTag: 8, SrcTO: 0x2064}
	var b strings.Builder
	for _, c := range []struct {
		name string
		term trace.Terminate
		flow func(peer, side *trace.Flow)
	}{
		{
			"a Write",
			trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1}, Swapped: true, Quote: long},
			func(_, side *trace.Flow) { side.RST = &trace.Closing{Frame: 15} },
		},
		{
			"one of several Writes", trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1, Code: 1}, Quote: several}, nil,
		},
		{
			"a Send", trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 2, Code: 2}, Quote: send}, nil,
		},
		{
			"a Read", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 1, Code: 2}, Quote: read}, nil,
		},
		{
			"what is left of a Read", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 1, Code: 1}, Quote: rest}, nil,
		},
		{
			"a Read that is misquoted", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 1, Code: 1}, Quote: misquoted}, nil,
		},
		{
			"another error", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 2, Code: 7}, Quote: read}, nil,
		},
		{
			"what was never sent", trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1}, Quote: never}, nil,
		},
		{
			"a reading with a reason", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 2, Code: 6}, Swapped: true, Why: "the segment in frame 11 has opcode 8"}, nil,
		},
		{
			"the depth, by the side that sent the Reply", trace.Terminate{Code: rdmap.TermCode{Layer: 2, Code: 6}}, nil,
		},
		{
			"the indication, by the side that sent the Reply", trace.Terminate{Code: rdmap.TermCode{Layer: 2, Code: 7}}, nil,
		},
		{
			"a CRC that is right", trace.Terminate{Code: rdmap.TermCode{Layer: 2, Code: 2}}, func(peer, _ *trace.Flow) { peer.CRCGood = 5 },
		},
	} {
		c.term.Frame, c.term.PDU = 12, 5
		conn := trace.Connection{Outcome: trace.Accepted, SYN: true}
		conn.Terminates[trace.R2I] = &c.term
		if c.flow != nil {
			c.flow(&conn.Flow[trace.I2R], &conn.Flow[trace.R2I])
		}
		var said []*diagnose.Diagnosis
		for _, d := range diagnose.Connection(&conn, nil, nil) {
			said = append(said, &d)
		}
		fmt.Fprintf(&b, "== %s\n%s", c.name, text(said, diagnose.Terminated))
	}
	golden(t, "terminate.txt", b.String())
}

// unfounded are Terminates that do not describe what they refuse, or refuse what they may not: the steps before
// them, the code, and what is said of it.
var unfounded = []struct{ name, steps, code, want string }{
	{"a TO that does not wrap", "write 30", "1/1/03", "Its code is wrong: TO and length of the quoted segment do not wrap."},
	{"the DDP version of the stream, tagged", "write 30", "1/1/04", "Its code is wrong: the quoted segment has the DDP version of the stream."},
	{"a queue that is always there", "send 30", "1/2/01", "Its code is wrong: the quoted queue always exists."},
	{"the MSN that is expected", "send 30", "1/2/03", "Its code may be wrong: the quoted segment has the expected MSN; error 1/2/02 is the one for a missing buffer."},
	{"the first segment", "send 30", "1/2/04", "Its code is wrong: the quoted segment is the first of its message."},
	{"the DDP version of the stream, untagged", "send 30", "1/2/06", "Its code is wrong: the quoted segment has the DDP version of the stream."},
	{"the RDMAP version of the stream", "send 30", "0/2/05", "Its code is wrong: the quoted message has the RDMAP version of the stream."},
	{"an opcode that is valid at any time", "send 30", "0/2/06", "Its code is wrong: the quoted opcode is valid at any time."},
	{"an STag, of a Send", "send 30", "1/1/00", "Its code is wrong: the error type does not fit the quoted segment."},
	{"a right to read, of a Write", "write 30", "0/1/02", "Its code is wrong: an RDMAP protection error for a message that cannot cause one."},
	{"markers that nobody asked for", "send 30", "2/0/03", "Its code is wrong: a marker error is reported for a direction without markers."},
	{"an STag that is not to be checked", "write 0", "1/1/00", "It should not refuse that: the receiver checked the STag and TO of a zero-length message."},
}

// TestTerminate_Unfounded: of a Terminate that is wrong its own word is not repeated as a fact, and its sender is at
// fault.
func TestTerminate_Unfounded(t *testing.T) {
	for _, c := range unfounded {
		t.Run(c.name, func(t *testing.T) {
			quote := ", quote: last"
			if strings.HasPrefix(c.code, "2/") {
				quote = ""
			}
			s, err := scenario.Parse("t.yaml", []byte("summary: a test\ntimeline: [connect, send 10, "+c.steps+", {terminate: "+c.code+", from: server"+quote+"}, close]\n"))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range diagnosed(t, written(t, s, false)) {
				if d.Kind != diagnose.Terminated {
					continue
				}
				if said := d.Sentences(); !strings.HasSuffix(said, c.want) || strings.Contains(said, "says that") {
					t.Errorf("it says %q, and not in the end %q", said, c.want)
				}
				if !d.HasDir || d.Dir != trace.R2I || strings.Contains(d.Advice, "initiator") {
					t.Errorf("the fault is that of the %s, try: %s", d.Dir.Sender(), d.Advice)
				}
				return
			}
			t.Error("no Terminate")
		})
	}
}

// TestTerminate_UnfoundedScenarios compares the text about scenarios in which a Terminate is wrong, and about those in
// which it is right and the STag may be valid.
func TestTerminate_UnfoundedScenarios(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{
		"MPA-C-OFF-01", "SCTP-DDP-ENH-06", "MPA2-TERM-07", "MPA2-IRDORD-03", "ADV-RTR-ONE-TYPE", "RDMAP-READ-ZERO-02", "DDP-RSVD-IGN-01",
		"RDMAP-RSV-IGN-01", "RDMAP-READ-QUEUE-01", "RDMAX-BUF-01", "RDMAP-INVSTAG-02", "ADV-TERM-ACCESS-AS-STAG", "ADV-EXT-UNSUPPORTED",
	} {
		s, ok := scenario.Find(name)
		if !ok {
			t.Fatalf("no scenario %s", name)
		}
		fmt.Fprintf(&b, "== %s\n%s", name, text(diagnosed(t, written(t, s, false)), diagnose.Terminated))
	}
	golden(t, "unfounded.txt", b.String())
}

// TestTerminate_None: what did not end the connection is not told so. A tagged segment with the opcode of a Terminate is
// none, and behind a Terminate its side may go on.
func TestTerminate_None(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"tagged", "timeline: [connect, write 64, send 16, close]\nfaults: [{at: write1, set: {iwarp_rdma.opcode: 7}}, {by: server, ignores: [errors]}]", ""},
		{
			"goes on", "timeline: [connect, write 64, {terminate: 0/0/00, from: server}, {send: 16, from: server}, send 16, close]\nfaults: [{by: both, ignores: [terminate]}]",
			"error terminate responder frames [7] pdus [3] of 1: a Terminate, and went on: Local catastrophic error\n" +
				"The responder sent the Terminate RDMAP: Local catastrophic error (frame 7), and went on with a Send in frame 8.\n" +
				"Rules: RDMAP-TERM-AFTER-01\n",
		},
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+c.script+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if said := text(diagnosed(t, written(t, s, false)), diagnose.Terminated); said != c.want {
			t.Errorf("%s: it says\n%s\nwant\n%s", c.name, said, c.want)
		}
	}
}

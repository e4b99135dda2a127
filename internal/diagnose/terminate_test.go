package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
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
			"another error", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 2, Code: 7}, Quote: read}, nil,
		},
		{
			"what was never sent", trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1}, Quote: never}, nil,
		},
		{
			"a reading with a reason", trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 2, Code: 6}, Swapped: true, Why: "the segment in frame 11 has opcode 8"}, nil,
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
		for _, d := range diagnose.Connection(&conn, nil) {
			said = append(said, &d)
		}
		fmt.Fprintf(&b, "== %s\n%s", c.name, text(said, diagnose.Terminated))
	}
	golden(t, "terminate.txt", b.String())
}

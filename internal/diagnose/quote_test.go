package diagnose

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// TestProblems_Terminate compares the whole sentences about a Terminate and the request that
// it refuses.
func TestProblems_Terminate(t *testing.T) {
	write := trace.Quote{
		HasHeader: true, Header: ddp.Segment{Tagged: true, STag: 0x95a01a00, TO: 0x1000}, Match: trace.Matched, PDU: 3, Frame: 10, Candidates: 1,
		Message: trace.QuotedMessage{Octets: 2856, Segments: 2, FirstFrame: 10, LastFrame: 14},
	}
	read := trace.Quote{
		HasHeader: true, HasRead: true, Opcode: rdmap.OpReadRequest, Read: rdmap.ReadRequest{Size: 500, SrcSTag: 9, SrcTO: 0x2000},
		Match: trace.MatchedRead, PDU: 3, Frame: 10, Candidates: 1, Message: trace.QuotedMessage{Segments: 1},
	}
	rest := read
	rest.HasSent, rest.Sent, rest.Match = true, read.Read, trace.Matched
	rest.Read = rdmap.ReadRequest{Size: 400, SrcSTag: 9, SinkTO: 100, SrcTO: 0x2064}
	send := trace.Quote{HasHeader: true, Opcode: rdmap.OpSend, Header: ddp.Segment{MSN: 99}}
	as := func(q trace.Quote, m trace.Match, candidates int) trace.Quote {
		q.Match, q.Candidates = m, candidates
		return q
	}
	const code = "Terminate from the responder in frame 12: DDP/tagged: Invalid STag"
	for _, c := range []struct {
		name                string
		term                trace.Terminate
		unanswered, refused uint64
		want                []string
	}{
		{"nothing quoted", trace.Terminate{}, 0, 0, []string{code}},
		{"swapped", trace.Terminate{Swapped: true}, 0, 0, []string{code + " (control word with its halves swapped)"}},
		{"swapped for a reason", trace.Terminate{Swapped: true, Why: "it is so"}, 0, 0, []string{code + " (control word with its halves swapped: it is so)"}},
		{"not swapped for a reason", trace.Terminate{Why: "it is so"}, 0, 0, []string{code + " (control word not swapped: it is so)"}},
		{"a Write", trace.Terminate{Quote: write}, 0, 0, []string{
			code + "; it quotes the RDMA Write to STag 0x95a01a00, TO 0x1000 in frame 10, part of a message of 2856 octets in frames 10 to 14",
		}},
		{"one of two", trace.Terminate{Quote: as(send, trace.MatchedSeveral, 2)}, 0, 0, []string{
			code + "; it quotes the Send with MSN 99 in frame 0; another one has the same header",
		}},
		{"one of three", trace.Terminate{Quote: as(send, trace.MatchedSeveral, 3)}, 0, 0, []string{
			code + "; it quotes the Send with MSN 99 in frame 0; 2 others have the same header",
		}},
		{"not captured", trace.Terminate{Quote: as(send, trace.NotCaptured, 0)}, 0, 0, []string{code + "; it quotes the Send with MSN 99, which was not captured before it"}},
		{"never sent", trace.Terminate{Quote: as(send, trace.NeverSent, 0)}, 0, 0, []string{code + "; it quotes the Send with MSN 99, which the initiator did not send"}},
		{"not complete", trace.Terminate{Quote: as(send, trace.Unfinished, 0)}, 0, 0, []string{code + "; it quotes the Send with MSN 99, of which the initiator sent only a part"}},
		{"long ago", trace.Terminate{Quote: as(send, trace.Forgotten, 0)}, 0, 0, []string{code + "; it quotes the Send with MSN 99, which was sent too long ago to be found"}},
		{"cut", trace.Terminate{Quote: as(send, trace.QuoteCut, 0)}, 0, 0, []string{code + "; it quotes a header with missing octets"}},
		{"a Read", trace.Terminate{Quote: read}, 1, 1, []string{
			code + "; it quotes the RDMA Read Request for 500 octets from STag 0x00000009, TO 0x2000 in frame 10, with another DDP header than it was sent with",
			"i2r: 1 request without an answer: refused by the Terminate in frame 12",
		}},
		{"what is left of a Read", trace.Terminate{Quote: rest}, 0, 0, []string{
			code + "; it quotes the RDMA Read Request for 500 octets from STag 0x00000009, TO 0x2000 in frame 10; it quotes it as what was left of it, 400 octets from TO 0x2064",
		}},
		{"a Read and others", trace.Terminate{}, 3, 1, []string{code, "i2r: 3 requests without an answer: 1 refused by the Terminate in frame 12"}},
		{"requests of which nothing is known", trace.Terminate{}, 3, 0, []string{code, "i2r: 3 requests without a captured answer"}},
	} {
		c.term.Frame, c.term.Code = 12, rdmap.TermCode{Layer: 1, EType: 1}
		conn := trace.Connection{Outcome: trace.Accepted}
		conn.Terminates[trace.R2I] = &c.term
		f := &conn.Flow[trace.I2R]
		if f.Rarely().Unanswered, f.Rarely().Refused = c.unanswered, c.refused; f.Rare().Refused > 0 {
			f.Rarely().RefusedFrame = 12
		}
		if got := Problems(&conn); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

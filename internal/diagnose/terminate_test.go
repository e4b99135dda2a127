package diagnose

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
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
	for _, c := range []struct {
		name         string
		term         trace.Terminate
		flow         func(peer, side *trace.Flow)
		text, advice string
		frames       []uint64
	}{
		{
			"a Write",
			trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1}, Swapped: true, Quote: long},
			func(_, side *trace.Flow) { side.RST = &trace.Closing{Frame: 15} },
			"The initiator wrote to an STag that the responder does not know: RDMA Write to STag 0x95a01a00, TO 0x1000, 2,856 octets (frames 10 to 14). " +
				"The responder refused it with the Terminate DDP/tagged: Invalid STag (frame 12) and reset the connection (frame 15). " +
				"It is in the bit order of siw; other stacks will misread it.",
			"compare the STag with the one that the responder advertised.",
			[]uint64{10, 12},
		},
		{
			"one of several Writes",
			trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1, Code: 1}, Quote: several},
			nil,
			"The initiator wrote beyond the bounds of a buffer of the responder: RDMA Write to STag 0x95a01a00, TO 0x1000, 100 octets (frame 10). " +
				"The responder refused it with the Terminate DDP/tagged: Base or bounds violation (frame 12). It may be another one: 3 PDUs have the quoted header.",
			"compare STag, offset and length with what the responder advertised.",
			[]uint64{10, 12},
		},
		{
			"a Send",
			trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 2, Code: 2}, Quote: send},
			nil,
			"The initiator sent a message for which the responder had no receive buffer: Send with MSN 7, 100 octets (frame 10). " +
				"The responder refused it with the Terminate DDP/untagged: Invalid MSN, no buffer available (frame 12).",
			"let the responder post more receive buffers, or the other side send less before it gets credits.",
			[]uint64{10, 12},
		},
		{
			"a Read",
			trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 1, Code: 2}, Quote: read},
			nil,
			"The initiator asked for memory that the responder does not give access to: RDMA Read Request for 5,000 octets from STag 0x00000009, TO 0x2000 (frame 10). " +
				"The responder refused it with the Terminate RDMAP/remote protection: Access rights violation (frame 12).",
			"let the responder register that memory with the rights that this operation needs.",
			[]uint64{10, 12},
		},
		{
			"another error",
			trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 2, Code: 7}, Quote: read},
			nil,
			"The initiator sent what the responder refuses: RDMA Read Request for 5,000 octets from STag 0x00000009, TO 0x2000 (frame 10). " +
				"The responder refused it with the Terminate RDMAP/remote operation: Catastrophic error, localized to RDMAP stream (frame 12).",
			"",
			[]uint64{10, 12},
		},
		{
			"what was never sent",
			trace.Terminate{Code: rdmap.TermCode{Layer: 1, EType: 1}, Quote: never},
			nil,
			"The responder ended the connection with the Terminate DDP/tagged: Invalid STag (frame 12). " +
				"It quotes the RDMA Write to STag 0x95a01a00, TO 0x1000, which the initiator did not send.",
			"",
			[]uint64{12},
		},
		{
			"a reading with a reason",
			trace.Terminate{Code: rdmap.TermCode{Layer: 0, EType: 2, Code: 6}, Swapped: true, Why: "the segment in frame 11 has opcode 8"},
			nil,
			"The responder ended the connection with the Terminate RDMAP/remote operation: Unexpected opcode (frame 12). " +
				"It is in the bit order of siw, because the segment in frame 11 has opcode 8; other stacks read another error.",
			"",
			[]uint64{12},
		},
		{
			"a wrong CRC",
			trace.Terminate{Code: rdmap.TermCode{Layer: 2, Code: 2}},
			func(peer, _ *trace.Flow) { peer.Faulty().FirstBadCRC = 9 },
			"The responder ended the connection with the Terminate MPA: CRC error (frame 12). The CRC of the FPDU that the initiator sent in frame 9 is wrong.",
			"",
			[]uint64{12, 9},
		},
		{
			"a CRC that is right",
			trace.Terminate{Code: rdmap.TermCode{Layer: 2, Code: 2}},
			func(peer, _ *trace.Flow) { peer.CRCGood = 5 },
			"The responder ended the connection with the Terminate MPA: CRC error (frame 12). But the CRC of each FPDU that the initiator sent is right, as it was captured.",
			"",
			[]uint64{12},
		},
	} {
		c.term.Frame = 12
		conn := trace.Connection{Outcome: trace.Accepted}
		conn.Terminates[trace.R2I] = &c.term
		if c.flow != nil {
			c.flow(&conn.Flow[trace.I2R], &conn.Flow[trace.R2I])
		}
		all := Connection(&conn, nil)
		if len(all) != 1 {
			t.Errorf("%s: %d diagnoses", c.name, len(all))
			continue
		}
		d := &all[0]
		if d.Kind != Terminated || d.Sentences() != c.text || d.Advice != c.advice || !slices.Equal(d.Frames, c.frames) {
			t.Errorf("%s: %q, advice %q, frames %v; want %q, %q, %v", c.name, d.Sentences(), d.Advice, d.Frames, c.text, c.advice, c.frames)
		}
	}
}

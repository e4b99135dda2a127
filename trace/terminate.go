package trace

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Terminate is what a Terminate says (RFC 5040 section 4.8).
type Terminate struct {
	// Frame is the frame that carried it, PDU its number, Code the error in it.
	Frame, PDU uint64
	Code       rdmap.TermCode
	// Swapped is true when the fields make sense only in swapped order, as siw sends
	// them.
	Swapped bool
	// Why says what decided for this reading, where the control word is right in both; empty
	// where the octets alone decide, or where nothing speaks against the reading of the RFC.
	Why string
	// Quote is what it quotes.
	Quote Quote
}

// Quote is what a Terminate quotes, and the PDU of the other direction that it is about.
type Quote struct {
	// Header is the DDP header, if HasHeader, and Opcode the one in it. Length is the DDP
	// Segment Length as it was sent, if HasLength. Read is the header of a Read Request, if
	// HasRead.
	HasHeader, HasLength, HasRead bool
	Opcode                        rdmap.Opcode
	Length                        uint16
	Header                        ddp.Segment
	Read                          rdmap.ReadRequest
	// Match says how the PDU was found, or why it was not. The members below are set if
	// [Match.Found].
	Match Match
	// PDU is the number of the PDU, Frame the frame that completed it. Of several
	// Candidates it is the latest.
	PDU, Frame uint64
	Candidates int
	// Offset is where it begins, as [PDU.Offset], if HasOffset.
	Offset    int64
	HasOffset bool
	// Octets is its payload.
	Octets int64
	// Message is the message that it is part of, as far as it is known by now.
	Message QuotedMessage
	// Sent is the Read Request that was found, as it was sent, if HasSent. Read differs from it where the Terminate
	// quotes what is left of the request (RFC 5040 section 4.8), or misquotes it.
	Sent    rdmap.ReadRequest
	HasSent bool
	// Asked is the frame of the request to which it is the answer, or a part of that, and goes where the
	// request says; Answered is the frame in which the answer to the quoted request was complete. They are 0
	// if there is none, or it is not known: only the latest answer is remembered.
	Asked, Answered uint64
}

// QuotedMessage is a message of which a Terminate quotes a segment.
type QuotedMessage struct {
	// Octets are its payload, Segments the number of its segments. FirstFrame and LastFrame
	// are those that completed the first and the last of them.
	Octets                int64
	Segments              int
	FirstFrame, LastFrame uint64
}

// Match says how what a Terminate quotes was found among the PDUs of the other direction.
type Match uint8

// The matches.
const (
	// NoQuote: the Terminate quotes no header.
	NoQuote Match = iota
	// QuoteCut: it announces a header, but not all of it is there.
	QuoteCut
	// Matched: one PDU has the header.
	Matched
	// MatchedSeveral: more than one PDU has it, such as Writes to the same place.
	MatchedSeveral
	// MatchedRead: no PDU has the DDP header, but an outstanding Read Request names what the
	// quoted one does.
	MatchedRead
	// NotCaptured: no PDU has it, but not all that the other side sent is known.
	NotCaptured
	// Forgotten: no PDU has it of those that are remembered.
	Forgotten
	// Unfinished: no PDU has it, but the other side had begun one that is not complete.
	Unfinished
	// NeverSent: all that the other side sent is known, and nothing has it.
	NeverSent
)

var matches = [...]string{"nothing-quoted", "quote-cut", "matched", "several", "read-request", "not-captured", "forgotten", "unfinished", "never-sent"}

// String returns the match as the records spell it.
func (m Match) String() string { return matches[m] }

// Found reports whether a PDU was found.
func (m Match) Found() bool { return m == Matched || m == MatchedSeveral || m == MatchedRead }

// QuotesRest reports whether the Terminate quotes a Read Request as what is left of it: the octets in front of that were
// answered.
func (q *Quote) QuotesRest() bool {
	if !q.HasSent || !q.HasRead {
		return false
	}
	rest, n := q.Sent, q.Sent.Size-q.Read.Size
	rest.Size, rest.SinkTO, rest.SrcTO = q.Read.Size, rest.SinkTO+uint64(n), rest.SrcTO+uint64(n)
	return q.Read.Size < q.Sent.Size && q.Read == rest
}

// Certain reports whether the PDU is the only one that was found for the quote.
func (q *Quote) Certain() bool { return q.Match.Found() && q.Candidates == 1 }

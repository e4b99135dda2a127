package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
)

// observer is told of what happens on a connection, before the model takes it in, with
// the evidence that there is for it. What it is handed is borrowed.
type observer interface {
	Startup(f *Frame, have catalogue.Gate)
	// FPDU, Segment and Message get the shape of the event too, 0 if it has none.
	FPDU(e *Fpdu, k Shape, have catalogue.Gate)
	Segment(s *Segment, k Shape, have catalogue.Gate)
	Message(m *Message, k Shape, have catalogue.Gate)
	// Malformed is told of a ULPDU that has no whole DDP header.
	Malformed(s *Segment, have catalogue.Gate)
	// Exchange is told of a segment of a request or of its answer.
	Exchange(s *Segment, have catalogue.Gate)
	Terminate(t *Terminate, have catalogue.Gate)
	Control(e *Control, have catalogue.Gate)
	Chunk(s *Segment, have catalogue.Gate)
	Loose(s *Loose, have catalogue.Gate)
	// Taken is told that the model has taken in an FPDU of a direction, whose PDU has this
	// number.
	Taken(h *Direction, pdu uint64)
	// Settled reports whether nothing is under way that the next event could settle.
	Settled() bool
}

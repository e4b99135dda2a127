package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
)

// observer is notified of each event on a connection before the model records it, with the
// evidence for it. Its arguments are borrowed.
type observer interface {
	Startup(f *Frame, have catalogue.Gate)
	// FPDU, Segment and Message also get the shape of the event, 0 if it has none.
	FPDU(e *FPDU, k Shape, have catalogue.Gate)
	Segment(s *Segment, k Shape, have catalogue.Gate)
	Message(m *Message, k Shape, have catalogue.Gate)
	// Malformed reports a ULPDU without a whole DDP header.
	Malformed(s *Segment, have catalogue.Gate)
	// Exchange reports a segment of a request or of its answer.
	Exchange(s *Segment, have catalogue.Gate)
	Terminate(t *Terminate, have catalogue.Gate)
	Control(e *Control, have catalogue.Gate)
	Chunk(s *Segment, have catalogue.Gate)
	Loose(s *Loose, have catalogue.Gate)
	// Taken reports that the model has recorded the FPDU of a direction whose PDU has this
	// number.
	Taken(h *Direction, pdu uint64)
	// Settled reports whether nothing is under way that the next event could settle.
	Settled() bool
}

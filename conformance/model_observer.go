package conformance

// observer is told of what happens on a connection, before the model takes it in, with
// the evidence that there is for it. What it is handed is borrowed.
type observer interface {
	Startup(f *frame, have Gate)
	// FPDU, Segment and Message get the shape of the event too, 0 if it has none.
	FPDU(e *fpdu, k shape, have Gate)
	Segment(s *segment, k shape, have Gate)
	Message(m *message, k shape, have Gate)
	// Malformed is told of a ULPDU that has no whole DDP header.
	Malformed(s *segment, have Gate)
	// Exchange is told of a segment of a request or of its answer.
	Exchange(s *segment, have Gate)
	Terminate(t *terminate, have Gate)
	Control(e *control, have Gate)
	Chunk(s *segment, have Gate)
	Loose(s *loose, have Gate)
	// Taken is told that the model has taken in an FPDU of a direction, whose PDU has this
	// number.
	Taken(h *half, pdu uint64)
	// Settled reports whether nothing is under way that the next event could settle.
	Settled() bool
}

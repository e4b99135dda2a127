package pdu

// Place names a PDU of one end of a connection, so that a scenario can speak
// of it: the third segment of the second message of a step, the Reply.
type Place struct {
	// Message is the name of the message: that of the step which posted it
	// ("write1"), of the step it answers with ".response" behind it
	// ("read1.response"), or "request", "reply", "rtr" (the 2007 frame, or the
	// message that is the ready-to-receive indication), "terminate".
	Message string
	// Number tells messages of one name apart, from 1.
	Number int
	// Segment is the DDP segment of the message, from 1; 1 for a startup frame.
	Segment int
	// Last is true for the last segment of its message.
	Last bool
}

// Response stands behind the name of a message for what answers it.
const Response = ".response"

// Selector picks PDUs by their place. The zero numbers stand for all.
type Selector struct {
	// Message is compared with [Place.Message].
	Message string
	// Number is compared with [Place.Number]; 0 picks every message.
	Number int
	// Segment is compared with [Place.Segment]; 0 picks every segment, -1 the
	// last one.
	Segment int
}

// Picks reports whether the selector picks the place.
func (s Selector) Picks(p Place) bool {
	return s.Message == p.Message &&
		(s.Number == 0 || s.Number == p.Number) &&
		(s.Segment == 0 || s.Segment == p.Segment || s.Segment == -1 && p.Last)
}

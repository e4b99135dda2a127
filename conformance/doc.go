// Package conformance judges connections by the rules of the RFCs.
//
// An [Engine] is a sink of the dissection. For each connection it keeps a model
// of what was said, and asks the rules about each event: a startup frame, an
// FPDU, a segment, a message that is over, a Terminate, octets that are in no
// FPDU, the end; and, once the capture was read, about each connection beside the
// others. A rule names the evidence it needs (see [Gate]); where that is missing
// it is not asked, and the verdict is "not judged".
//
// Order between the two directions is told by acknowledgements alone, never by
// time (order.go). A finding stands unless one explains it that tells its cause
// (settle.go). What follows from the shape of an event is asked once for each
// shape of a direction (shape.go), because nearly all traffic looks alike.
//
// The model is in model.go and direction.go, with what rules share in opening.go, sizes.go,
// history.go, depth.go and book.go. The rules are in lists by subject, one list a
// file; [Checked] joins them. The catalogue is the one source of what a rule is
// called, says and weighs; a check here is a function under its id. Advice is what
// no RFC demands: it is asked last, since it explains what was found.
package conformance

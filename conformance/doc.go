// Package conformance judges connections by the rules of the RFCs.
//
// An [Engine] is a sink of the dissection. For each connection it keeps a model
// of what was said, and asks the rules about each event: a startup frame, an
// FPDU, a segment, a message that is over, a Terminate, the end. A rule names
// the evidence it needs (see [Gate]); where that is missing it is not asked, and
// the verdict is "not judged". At the end of a connection findings give way to
// those that tell their cause, and are handed out with the verdicts.
//
// The catalogue is the one source of what a rule is called, says and weighs; a
// check here is a function under its id.
package conformance

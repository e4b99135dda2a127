package diagnose

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Diagnosis is one problem in words: what happened, which side did it, in which frames,
// what caused it, and what to try.
type Diagnosis struct {
	// Kind is the kind of problem.
	Kind Kind
	// Severity is Error if something failed, Warning if something is wrong that may fail or
	// costs time, Note if it is good to know.
	Severity conformance.Severity
	// Dir is the direction of what the side at fault sent, if HasDir.
	Dir    trace.Dir
	HasDir bool
	// Conn is the connection, or the first one of several; nil if it is about the whole
	// capture.
	Conn *trace.Connection
	// Frames are the frames that show it, from 1, the most telling first; PDUs the PDUs, as
	// [trace.PDU.Number] counts them.
	Frames, PDUs []uint64
	// Title says in a few words what it is, without a full stop.
	Title string
	// Text says in whole sentences what happened and what caused it.
	Text string
	// Also are further sentences: what else is to be known about it.
	Also []string
	// Advice says in a sentence what to try; "" if there is nothing.
	Advice string
	// Rules are the rules of the conformance engine whose findings it explains.
	Rules []string

	// same tells problems apart that are of one kind, severity and direction: connections
	// with the same one are folded into one diagnosis.
	same string

	// Conns are the numbers of the connections that have it, as far as they are listed; Of
	// is how many there are.
	Conns []uint64
	Of    int
}

// Sentences is all that it says but the advice.
func (d *Diagnosis) Sentences() string {
	s := d.Text
	for _, a := range d.Also {
		s += " " + a
	}
	return s
}

// Kind is the kind of a problem.
type Kind string

// The kinds. Their order in the table kinds is their rank among problems of one severity.
const (
	Terminated Kind = "terminate"
	Stalled    Kind = "stall"
	Rule       Kind = "rule"
	Lossy      Kind = "loss"
	WindowShut Kind = "zero-window"
	Reordered  Kind = "reorder"
	// DepthLimited: the negotiated depth holds Reads up.
	DepthLimited Kind = "depth-limit"
	Missing      Kind = "missing"
)

// rank is the place of a kind among those of one severity: what ends a connection comes
// first.
func (k Kind) rank() int {
	for i := range kinds {
		if kinds[i].kind == k {
			return i
		}
	}
	return len(kinds)
}

// kinds lists each kind with what it means.
var kinds = []struct {
	kind  Kind
	means string
}{
	{Terminated, "One side ended the connection with a Terminate, which names the error and quotes the segment that caused it."},
	{Stalled, "A side made no progress for 180 ms or more although it had something to do: octets were not acknowledged, a message was not whole, or a request waited for its answer."},
	{Rule, "A rule of the RFCs was broken."},
	{Lossy, "Packets were lost on their way and sent again."},
	{WindowShut, "A side announced a receive window of 0, so that the other one could send nothing."},
	{Reordered, "Packets came behind later ones."},
	{DepthLimited, "Reads wait for each other, as ORD and IRD allow fewer at once than the link could carry."},
	{Missing, "Octets are missing from the capture."},
}

// Explain returns what a kind of problem means, if there is a kind of that name.
func Explain(kind string) (means string, ok bool) {
	for i := range kinds {
		if string(kinds[i].kind) == kind {
			return kinds[i].means, true
		}
	}
	return "", false
}

// Kinds lists the names of all kinds.
func Kinds() []string {
	names := make([]string, 0, len(kinds))
	for i := range kinds {
		names = append(names, string(kinds[i].kind))
	}
	return names
}

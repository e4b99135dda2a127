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
	Rule       Kind = "rule"
	Missing    Kind = "missing"
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
	{Rule, "A rule of the RFCs was broken."},
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

package trace

import (
	"iter"
	"slices"

	"github.com/iwdissect/iwdissect/dissect"
)

// Evidence is how the upper layer of a connection was recognised.
type Evidence uint8

// The kinds of evidence, from the weakest on.
const (
	// ByPort: only the port speaks for it, and nothing against it.
	ByPort Evidence = iota
	// ByContent: messages have its form.
	ByContent
	// ByPrivateData: the private data of the startup have its form.
	ByPrivateData
)

// String returns the evidence as the records spell it.
func (e Evidence) String() string {
	switch e {
	case ByContent:
		return "content"
	case ByPrivateData:
		return "private data"
	default:
		return "port"
	}
}

// Upper is what a PDU is to the upper layer of its connection. Only headers of the upper
// layer are read: the first octets of the first segment of a message.
type Upper struct {
	// Protocol is the name of the upper layer, such as NVMe/RDMA; By is how it was
	// recognised.
	Protocol string
	By       Evidence
	// Info says in one line what the PDU is. It is made of names and numbers of this
	// module and never of text of the capture.
	Info []byte
	// Linked says that the PDU has no header of the upper layer: it moves data of an
	// operation, which Info names.
	Linked bool
	// Headers are those of the message in wire order, as far as they were captured.
	Headers []UpperHeader
	// Values are fields that stand in no header of a fixed form.
	Values []UpperValue
	// Operation is what the PDU belongs to, if HasOperation. More are further ones: a message
	// of SMB2 may have several requests or answers.
	Operation    UpperOperation
	HasOperation bool
	More         []UpperOperation
	// Answers is how many answers the PDU has, or begins, and Errors how many of them tell of
	// an error. An error counts even if its request was not captured; it has no Operation then.
	Answers, Errors int
}

// UpperHeader is a header of an upper layer.
type UpperHeader struct {
	// Header describes it. A field of it is there if it lies in Octets.
	Header *dissect.Header
	Octets []byte
}

// UpperValue is a field with its value: Number for numbers and flags, Text for others.
type UpperValue struct {
	Field  *dissect.Field
	Number uint64
	Text   string
}

// UpperOperation is a request of the upper layer and its answer.
type UpperOperation struct {
	// Name is what is done, in the words of the upper layer, such as Read.
	Name string
	// PDU is the number of the PDU that asked for it, Frame the frame of that, Time its
	// capture time in nanoseconds since the Unix epoch.
	PDU, Frame uint64
	Time       int64
	// Ended says that its answer ends with this PDU: an answer may take several segments, and
	// several messages. Failed says, of a PDU that begins or ends the answer, that it tells of
	// an error.
	Ended, Failed bool
	// Latency is the time from the request to this PDU in nanoseconds, -1 if it is not known.
	Latency int64
	// Answered is set where this PDU is the request, and its answer became known before it: octets in front
	// of the request were missing for a while, or are. It is the frame of the answer, of which Failed and Latency tell:
	// the frame with which that ended, or if its end is not known by now, with which it began, without a Latency. If
	// the end comes later, a PDU tells of it with Ended.
	Answered uint64
}

// All are the operations that the PDU belongs to.
func (u *Upper) All() iter.Seq[*UpperOperation] {
	return func(yield func(*UpperOperation) bool) {
		if !u.HasOperation || !yield(&u.Operation) {
			return
		}
		for i := range u.More {
			if !yield(&u.More[i]) {
				return
			}
		}
	}
}

// Clone returns a copy that may be kept, or nil.
func (u *Upper) Clone() *Upper {
	if u == nil {
		return nil
	}
	own := *u
	own.Info, own.Headers, own.Values = slices.Clone(u.Info), slices.Clone(u.Headers), slices.Clone(u.Values)
	own.More = slices.Clone(u.More)
	for i := range own.Headers {
		own.Headers[i].Octets = slices.Clone(own.Headers[i].Octets)
	}
	return &own
}

// UpperLayer is the upper layer of a connection.
type UpperLayer struct {
	// Protocol is its name, By how it was recognised.
	Protocol string
	By       Evidence
	// Operations are those that were answered, by name, in the order in which they came
	// first.
	Operations []UpperTally
	// Asked is how many requests each side sent.
	Asked [2]uint64
	// Outstanding is how many requests have no answer at present, Unanswered how many were
	// given up: another one took their place.
	Outstanding, Unanswered uint64
	// Failures are the answers of each side that tell of errors which do not belong to normal use.
	Failures [2]UpperFailures
}

// UpperFailures are answers of one side that tell of failed operations.
type UpperFailures struct {
	// Count is how many there are. Operation names the first one, "" if its request is not known; Asked is the frame of the
	// request, 0 if that is not known, Frame the one with which the answer became known.
	Count        uint64
	Operation    string
	Asked, Frame uint64
	// Statuses are those that were given, in the order in which they came first. Of many kinds only the first ones are kept.
	Statuses []UpperStatus
}

// UpperStatus is a status and how often it was given. Word is the name that the upper layer has for it, and Code its number, of
// Digits hexadecimal digits: 0 if its word says all, less if it is decimal.
type UpperStatus struct {
	Word   string
	Code   uint32
	Digits int8
	Count  uint64
}

// UpperTally sums up the operations of one name.
type UpperTally struct {
	Name string
	// Count counts them, Errors those whose answer tells of an error.
	Count, Errors uint64
	// Latency is from the request to the end of the answer, in nanoseconds, of those for which
	// it is known: some captures have frames without times, or lack the end of an answer.
	Latency Latency
}

func (l *UpperLayer) clone() *UpperLayer {
	if l == nil {
		return nil
	}
	own := *l
	own.Operations = slices.Clone(l.Operations)
	for i := range own.Operations {
		own.Operations[i].Latency = *l.Operations[i].Latency.clone()
	}
	for i := range own.Failures {
		own.Failures[i].Statuses = slices.Clone(l.Failures[i].Statuses)
	}
	return &own
}

// Package judges has several goroutines judge the connections of one capture, each a part of them, for one engine of
// package conformance. It is apart from that package since programs that import it have no use for that.
package judges

import "github.com/iwdissect/iwdissect/trace"

// Options are those of a part.
type Options struct {
	// Account is told of the memory that the part takes, see conformance.Account.
	Account Account
	// Crossed is called when a verdict depends on other connections, or on their order: what the parts find
	// is not to be used then. So it is when a rule panics.
	Crossed func()
	// Frame tells the frame at hand.
	Frame func() uint64
	// Parts is how many parts there are.
	Parts int
}

// Account is what conformance.Account is.
type Account interface {
	Take(octets int)
	Keep(octets int)
	Scarce() bool
}

// Part judges some of the connections of a capture. Several may do so at the same time, each in a goroutine of its own.
type Part interface {
	// It gets what is found of its connections, as an engine does, but for Connection and Ended.
	trace.Sink
	// Concluded judges a connection that is over, and returns what tells the engine of it; nil: there was nothing
	// to judge. The record may be kept. The engine is told of connections one at a time, in the order in which
	// they ended; number tells the number in the capture of the nth PDU of the part, from 0.
	Concluded(t *trace.Connection) (tell func(number func(n uint64) uint64))
	// Cut returns what the part has for all others to know, since the last cut. It may use old, which it returned
	// before, or which is nil.
	Cut(old any) any
	// Join has the engine take in what all parts cut at the same place. false: a verdict depends on it, so what the
	// parts find is not to be used.
	Join(cuts []any) bool
	// Finish finishes the engine, for all parts.
	Finish()
}

// New returns a part that judges by the rules of an engine, which is a *conformance.Engine. Package conformance
// sets it.
var New func(engine trace.Sink, opt Options) Part

// Package analysis keeps the state of one connection: the MPA startup and what it
// negotiated, the FPDUs of both directions, their messages, and requests with their
// answers.
//
// It gets the packets of a connection in capture order and reports to a [trace.Sink].
// The totals of a connection are in its [trace.Connection].
package analysis

package iwdissect

import (
	"iter"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Kinds selects what [Capture.Events] yields.
type Kinds uint8

// The kinds of events.
const (
	// PDUs are startup frames of MPA, FPDUs, and the chunks of DDP over SCTP.
	PDUs Kinds = 1 << iota
	// Transactions are requests with their answers.
	Transactions
	// Gaps are holes in the octets of a direction that nothing filled.
	Gaps
	// Findings are rules of the RFCs that were broken.
	Findings
	// Connections are those that carried iWARP and are over.
	Connections
	// Frames are the frames of the capture, whatever they hold.
	Frames
)

// Event is one step of [Capture.Events]. One of its members is set, the others are
// nil.
type Event struct {
	PDU         *trace.PDU           // borrowed, see [trace.PDU.Clone]
	Transaction *trace.Transaction   // borrowed, see [trace.Transaction.Clone]
	Gap         *trace.GapEvent      // borrowed
	Finding     *conformance.Finding // may be kept
	Connection  *trace.Connection    // may be kept
	Frame       *Frame               // borrowed
}

// Frame is a captured frame, with the connection that it belongs to.
type Frame struct {
	// Number counts the frames of the capture from 1, as Wireshark does.
	Number uint64
	// Time is when it was captured, in nanoseconds since the Unix epoch.
	Time int64
	// Length is the number of octets on the wire, Data are those of the capture.
	Length int
	Data   []byte
	// LinkType is the LINKTYPE number, for example 1 for Ethernet.
	LinkType uint16
	// Interface is the index of the interface that captured it, as the file counts
	// them from 0.
	Interface int
	// Conn is the TCP connection or DDP stream session that it belongs to, nil if
	// there is none. Whether it carries iWARP, as far as that is known by now, is
	// [trace.Connection.IsMPA]. Dir is the direction.
	Conn *trace.Connection
	Dir  trace.Dir
	// Problem says why its headers could not be read; "" if they could, and if there
	// was nothing for this package to read.
	Problem string
}

// PDUs yields the PDUs of all connections, in the order in which they become
// known: startup frames of MPA (RFC 5044 section 7.1), FPDUs (RFC 5044 section 4),
// octets that are in no FPDU, and the chunks of DDP over SCTP (RFC 5043 section
// 5.2). They are borrowed; [trace.PDU.Clone] makes a copy that may be kept.
func (c *Capture) PDUs() iter.Seq2[*trace.PDU, error] {
	return pick(c, PDUs, func(e Event) *trace.PDU { return e.PDU })
}

// Transactions yields requests with their answers, when they are answered: the
// startup, RDMA Reads and atomic operations. They are borrowed;
// [trace.Transaction.Clone] makes a copy that may be kept.
func (c *Capture) Transactions() iter.Seq2[*trace.Transaction, error] {
	return pick(c, Transactions, func(e Event) *trace.Transaction { return e.Transaction })
}

// Connections yields the connections that carried iWARP, with their totals, as they
// end; those that the capture does not see the end of come last. They may be kept.
// [trace.Connection.Clone] makes a copy that holds less memory. Their numbers count
// all connections of the capture by their first frame, iWARP or not.
//
// Sessions of one SCTP association share what is known of that, [trace.Side.SCTP],
// which goes on counting until the association is over: until then only the goroutine of the range
// may read it or clone the connection.
func (c *Capture) Connections() iter.Seq2[*trace.Connection, error] {
	return pick(c, Connections, func(e Event) *trace.Connection { return e.Connection })
}

// Findings yields the rules that were broken, of the given severity or a higher
// one, each as soon as it is certain: with the PDU that shows it, at the end of the
// connection, or at the end of the capture. They may be kept. Of a rule that is
// broken more than 100 times on a connection the first 100 are yielded, and
// [conformance.Finding.Further] of the last tells how many more there are.
//
// A rule is asked where the capture has the evidence for it, and only there: that
// there is no finding does not say that a rule was kept, see [Capture.Verdicts]. A rule
// that panics, which is a fault of this module, is yielded as an error and left out on its connection.
func (c *Capture) Findings(least conformance.Severity) iter.Seq2[*conformance.Finding, error] {
	return func(yield func(*conformance.Finding, error) bool) {
		for e, err := range c.Events(Findings) {
			if err == nil && e.Finding.Severity < least {
				continue
			}
			if !yield(e.Finding, err) {
				return
			}
		}
	}
}

// Frames yields the frames of the capture, each with the connection that it belongs
// to. They are borrowed, and so are their octets.
func (c *Capture) Frames() iter.Seq2[*Frame, error] {
	return pick(c, Frames, func(e Event) *Frame { return e.Frame })
}

// pick yields one kind of events.
func pick[T any](c *Capture, kind Kinds, of func(Event) *T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for e, err := range c.Events(kind) {
			if !yield(of(e), err) {
				return
			}
		}
	}
}

// Events yields several kinds of things in one pass over the capture, in the order
// in which they become known: a PDU, then the transactions that it completes and
// the findings that it shows, then the frame with which they became known, which is a later one than
// [trace.PDU.Frame] if something was missing at first. The findings of a connection come before the connection, but
// for those that compare several connections: these come at the end of the capture. With an error the event is empty.
//
//	for e, err := range c.Events(iwdissect.PDUs | iwdissect.Findings) {
//		switch {
//		case err != nil:
//			return err
//		case e.PDU != nil:
//			…
//		case e.Finding != nil:
//			…
//		}
//	}
func (c *Capture) Events(kinds Kinds) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		src, err := c.take()
		if err != nil {
			c.failed(err)
			yield(Event{}, err)
			return
		}
		newPass(c, kinds, yield).read(src)
	}
}

package statistics

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/waits"
	"github.com/iwdissect/iwdissect/trace"
)

// tap gathers one statistic of one capture. It implements those of the interfaces below
// whose events it needs; what it is handed is borrowed.
type tap interface {
	// report returns what was gathered. It may be called while the capture goes on.
	report() *Report
}

type (
	// clockTap is given the clock of the run.
	clockTap interface{ keeps(*clock) }
	// frameTap learns of each frame that its filter matches.
	frameTap interface{ frame(*pipeline.Frame) }
	// timeTap is a frameTap that looks at nothing but time and length.
	timeTap interface{ onlyTimes() }
	// valueTap learns of the values of its fields in each frame that its filter matches.
	valueTap interface {
		values(f *pipeline.Frame, m *matcher)
	}
	// eventTap learns of PDUs and transactions in the frames that its filter matches.
	eventTap interface{ event(*event) }
	// rowTap is an eventTap that counts a PDU with the frame that comes next.
	rowTap interface{ ofFrames() }
	// connTap learns of each connection that carried iWARP once it is over.
	connTap interface{ conn(*trace.Connection) }
	// findingTap learns of findings.
	findingTap interface {
		finding(*conformance.Finding)
	}
)

// eventKind is what an event is.
type eventKind uint8

const (
	aPDU eventKind = iota
	aTransaction
)

// event is a PDU or a transaction, with what the taps need of it: it can wait until the
// filters have decided about its frame.
type event struct {
	is   eventKind
	conn *trace.Connection
	dir  trace.Dir
	time int64
	// number is that of the PDU, frame the one that completed it.
	number, frame uint64

	pdu trace.Kind
	// hasOp: it is a segment whose headers could be read; op is its opcode and payload the
	// octets behind the DDP header, headers of RDMAP included.
	hasOp   bool
	op      rdmap.Opcode
	payload int64
	// msn is that of a message of the queue of Sends, if sends.
	msn   uint32
	sends bool
	// length is on the wire. header is the length of the DDP header.
	length int64
	header int
	// done: it completes a message of message octets, all of which are known if whole.
	done, whole bool
	message     int64
	// crc to spans are of an FPDU: its verdict, pad octets, markers; whether it begins with
	// a TCP segment, and how many segments carried it.
	crc     mpa.CRCStatus
	pad     int
	markers int
	badMark int
	begins  bool
	spans   int
	from    int64
	// waits is what shows how many requests wait for their answer.
	waits waits.Event

	// protocol is the upper layer of a PDU that has to do with operations, "" if there is none.
	// answered is the operation whose answer ends with it, or was known before it, if any, more are
	// further ones, and failed is how many answers that begin with it tell of an error.
	protocol string
	answered answered
	more     []answered
	failed   int

	// kind to bytes are of a transaction.
	kind        trace.TransactionKind
	first, last int64
	bytes       uint64
}

// answered is an operation of an upper layer, "" for none, how long it took in nanoseconds, and
// the frame of the answer.
type answered struct {
	name    string
	latency int64
	frame   uint64
}

// set makes e the event of a PDU.
func (e *event) set(p *trace.PDU) {
	*e = event{
		is: aPDU, conn: p.Conn, dir: p.Dir, time: p.Time, number: p.Number, frame: p.Frame,
		pdu: p.Kind, length: p.Length, from: p.From,
	}
	if s := p.Segment; s != nil {
		e.hasOp, e.op, e.header = true, p.Control.Opcode, s.HeaderLen
		_, n, _ := p.ULPDU()
		e.msn, e.sends = s.MSN, !s.Tagged && s.QN == 0
		e.payload = max(int64(n-s.HeaderLen), 0)
	}
	if m := p.Message; m != nil {
		e.done, e.whole, e.message = m.Done, m.StartKnown, m.Length
	}
	if f := p.FPDU; f != nil {
		e.crc, e.pad, e.markers = f.CRCStatus, f.PadLen, len(f.Markers)
		for i := range f.Markers {
			if f.Markers[i].Status() != mpa.MarkerOK {
				e.badMark++
			}
		}
		e.spans = 1
		for _, b := range p.Bounds {
			if b == 0 {
				e.begins = true
			} else {
				e.spans++
			}
		}
	}
	if p.Upper != nil {
		e.upper(p.Upper)
	}
	e.waits.PDU(p)
}

// upper notes which operations of the upper layer a PDU answers, and which of those that it asks
// for were answered before it was known.
func (e *event) upper(u *trace.Upper) {
	e.protocol, e.failed = u.Protocol, u.Errors
	for o := range u.All() {
		a := answered{o.Name, o.Latency, o.Answered}
		switch {
		case o.Ended:
			a.frame = e.frame
		case o.Answered == 0:
			continue
		}
		if e.answered.name == "" {
			e.answered = a
		} else {
			e.more = append(e.more, a)
		}
	}
}

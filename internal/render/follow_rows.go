package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// FollowRow is an entry of a dialogue, for a form that is not text. It is borrowed.
type FollowRow struct {
	// Still says that nothing happened for some time, or that entries came again. Nothing else
	// is set then.
	Still string
	// Dir is its direction, if HasDir. Event is what happened, "" of a message or another PDU.
	Dir    trace.Dir
	HasDir bool
	Event  string
	// First and Last are the frames that completed its first and last part, at the times Began
	// and Ended in nanoseconds since the Unix epoch, 0 for none.
	First, Last  uint64
	Began, Ended int64
	// PDU and LastPDU are its first and last PDU, if HasPDU.
	HasPDU       bool
	PDU, LastPDU uint64
	// Bad and Odd say that something is wrong with it, or unusual; Again that some of it is a
	// retransmission.
	Bad, Odd, Again bool
	// Failed says that it tells of an error of the upper layer.
	Failed bool

	said *spoken
}

// Plain reports whether there is nothing to say of it besides what it is.
func (r *FollowRow) Plain() bool { return r.said == nil || len(r.said.below) == 0 }

// Text says what it is. Its words are names and numbers of this module, as those of [NewFollow].
func (r *FollowRow) Text() string {
	if r.said == nil {
		return ""
	}
	e := r.said
	return string(appendMarks(appendAnswer(append([]byte(nil), e.words()...), e), e))
}

// Below is what else there is to say, such as its findings.
func (r *FollowRow) Below() (lines []string) {
	if r.said == nil {
		return nil
	}
	for line := range bytes.SplitSeq(r.said.below, []byte{'\n'}) {
		if len(line) > 0 {
			lines = append(lines, string(line))
		}
	}
	return lines
}

// Hold copies the row to another one, which keeps it. What that held before gives its memory.
func (r *FollowRow) Hold(to *FollowRow) {
	own := to.said
	*to = *r
	if r.said == nil {
		return
	}
	if own == nil {
		own = new(spoken)
	}
	text, below, trouble := append(own.text[:0], r.said.text...), append(own.below[:0], r.said.below...), append(own.trouble[:0], r.said.trouble...)
	*own = *r.said
	own.text, own.below, own.trouble, own.payload, own.rules = text, below, trouble, nil, nil
	to.said = own
}

// NewFollowRows hands each entry of a connection to put.
func NewFollowRows(opt FollowOptions, put func(*FollowRow)) *Follow {
	f := newFollow(io.Discard, opt)
	f.form = newFolder(f, &followRows{handed: put})
	return f
}

// followRows hands out entries.
type followRows struct {
	handed func(*FollowRow)
	row    FollowRow
}

func (r *followRows) saw(int64)               {}
func (r *followRows) announces() bool         { return false }
func (r *followRows) begin(*trace.Connection) {}

func (r *followRows) still(text string) {
	r.row = FollowRow{Still: text}
	r.handed(&r.row)
}

func (r *followRows) end(_ *trace.Connection, text string) { r.still(text) }

func (r *followRows) put(e *spoken) {
	r.row = FollowRow{
		Dir: e.dir, HasDir: e.hasDir, Event: e.event, First: e.first, Last: e.last, Began: e.began, Ended: e.ended,
		HasPDU: e.hasPDU, PDU: e.pdu, LastPDU: e.lastPDU,
		Bad: e.colour == red, Odd: e.colour == yellow, Failed: e.failed,
		Again: e.retransmitted > 0 || e.event == "retransmission",
		said:  e,
	}
	r.handed(&r.row)
}

// Ended says in sentences how a connection ended, and what it carried.
func Ended(c *trace.Connection) string { return endOf(c) }

// Agreed says what the startup of a connection agreed on, "" if that is not known.
func Agreed(c *trace.Connection) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(appendAgreed(nil, c)), "= "), "agreed: ")
}

package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// FollowRow is an entry of a dialogue, for a form that is not text. Its texts are as those of
// [NewFollow]: made of names and numbers of this module.
type FollowRow struct {
	// Still says that nothing happened for some time, or that entries came again; Pause is
	// how long nothing happened, in nanoseconds. Nothing else is set then but Pause.
	Still string
	Pause int64
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
	// Text says what it is, Below what else there is to say, such as its findings.
	Text  string
	Below []string
	// Bad and Odd say that something is wrong with it, or unusual; Again that some of it is a
	// retransmission.
	Bad, Odd, Again bool
}

// NewFollowRows hands each entry of a connection to put.
func NewFollowRows(opt FollowOptions, put func(*FollowRow)) *Follow {
	f := newFollow(io.Discard, opt)
	f.form = newFolder(f, &followRows{put})
	return f
}

// followRows makes values of entries.
type followRows struct{ handed func(*FollowRow) }

func (r *followRows) saw(int64)               {}
func (r *followRows) announces() bool         { return false }
func (r *followRows) begin(*trace.Connection) {}

func (r *followRows) still(text string) { r.handed(&FollowRow{Still: text}) }

func (r *followRows) end(_ *trace.Connection, text string) { r.handed(&FollowRow{Still: text}) }

func (r *followRows) put(e *spoken) {
	row := &FollowRow{
		Dir: e.dir, HasDir: e.hasDir, Event: e.event, First: e.first, Last: e.last, Began: e.began, Ended: e.ended,
		HasPDU: e.hasPDU, PDU: e.pdu, LastPDU: e.lastPDU, Pause: e.pause,
		Text: string(appendMarks(appendAnswer(append([]byte(nil), e.text...), e), e)),
		Bad:  e.colour == red, Odd: e.colour == yellow,
		Again: e.retransmitted > 0 || e.event == "retransmission",
	}
	for line := range bytes.SplitSeq(e.below, []byte{'\n'}) {
		if len(line) > 0 {
			row.Below = append(row.Below, string(line))
		}
	}
	r.handed(row)
}

// Ended says in sentences how a connection ended, and what it carried.
func Ended(c *trace.Connection) string { return endOf(c) }

// Agreed says what the startup of a connection agreed on, "" if that is not known.
func Agreed(c *trace.Connection) string {
	return strings.TrimPrefix(strings.TrimPrefix(string(appendAgreed(nil, c)), "= "), "agreed: ")
}

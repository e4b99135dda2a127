package pipeline

import (
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/trace"
)

// Span is a range of numbers, with both ends.
type Span struct{ From, To uint64 }

// Moment is a time that may depend on the capture.
type Moment struct {
	// At is a time of the clock in nanoseconds; by Kind it counts from 1970, from the
	// first frame of the capture, or from the midnight (UTC) before that frame.
	At   int64
	Kind MomentKind
}

// MomentKind says what a moment counts from.
type MomentKind uint8

// The kinds of moments.
const (
	Absolute MomentKind = iota
	SinceFirst
	TimeOfDay
)

// Selection says which part of a capture is shown. All of the capture is analysed
// nevertheless: what is selected depends on what came before it.
//
// A selection that times are part of has to see every frame, see [Options].Saw, before
// it is asked about it. It belongs to one run; [Selection.Fresh] makes one for another.
type Selection struct {
	// Conns are the numbers of connections, Frames those of frames; nil selects all.
	Conns, Frames []Span
	// After and Before bound the time, both included, if they are not nil.
	After, Before *Moment

	// only are the connections that may be selected, if it is not nil.
	only map[uint64]bool
	// matches is what a filter leaves, if it is not nil.
	matches Matches
	begun   bool
	// from and to are the bounds in time, known with the first frame that has one.
	from, to int64
	inTime   []Span // the frames within them
}

// Matches is what a filter found to match in a run.
type Matches interface {
	// Frame and PDU report whether one matches, by its number; Conn whether a frame or a
	// PDU of a connection does.
	Frame(number uint64) bool
	PDU(number uint64) bool
	Conn(number uint64) bool
}

// Matching leaves out what does not match. It is asked about frames that have been seen.
func (s *Selection) Matching(m Matches) { s.matches = m }

// Fresh returns the same selection for another run.
func (s *Selection) Fresh() *Selection {
	return &Selection{Conns: s.Conns, Frames: s.Frames, After: s.After, Before: s.Before, only: s.only}
}

// Only leaves out all connections but these.
func (s *Selection) Only(conns map[uint64]bool) { s.only = conns }

// Timed reports whether the time of frames decides.
func (s *Selection) Timed() bool { return s.After != nil || s.Before != nil }

// ByFrame reports whether frames are selected, by number or by time.
func (s *Selection) ByFrame() bool { return s.Frames != nil || s.Timed() }

// Parts reports whether parts of connections are selected.
func (s *Selection) Parts() bool { return s.ByFrame() || s.matches != nil }

// ByConn reports whether connections are selected.
func (s *Selection) ByConn() bool { return s.Conns != nil || s.only != nil }

// All reports whether nothing is left out.
func (s *Selection) All() bool { return !s.ByFrame() && !s.ByConn() && s.matches == nil }

// Saw takes note of the time of a frame; 0 is none. Frames come in their order.
func (s *Selection) Saw(number uint64, ns int64) {
	if !s.Timed() {
		return
	}
	if ns == 0 {
		return
	}
	if !s.begun {
		s.begun = true
		s.from, s.to = s.After.after(ns, -1<<63), s.Before.after(ns, 1<<63-1)
	}
	if ns < s.from || ns > s.to {
		return
	}
	if n := len(s.inTime); n > 0 && s.inTime[n-1].To+1 == number {
		s.inTime[n-1].To = number
		return
	}
	s.inTime = append(s.inTime, Span{number, number})
}

const day = int64(24 * time.Hour)

// after is the time of the clock, in a capture that begins at first.
func (m *Moment) after(first, without int64) int64 {
	if m == nil {
		return without
	}
	switch m.Kind {
	case SinceFirst:
		return first + m.At
	case TimeOfDay:
		midnight := first - first%day
		if first < 0 && first%day != 0 {
			midnight -= day
		}
		return midnight + m.At
	case Absolute:
	}
	return m.At
}

// Frame reports whether a frame is selected by its number and time.
func (s *Selection) Frame(number uint64) bool {
	return s.byNumber(number) && (s.matches == nil || s.matches.Frame(number))
}

func (s *Selection) byNumber(frame uint64) bool {
	return (s.Frames == nil || in(s.Frames, frame)) && (!s.Timed() || found(s.inTime, frame))
}

// Finding reports whether something is selected that became known with a frame and says
// something of a PDU: the filter may match either.
func (s *Selection) Finding(frame, pdu uint64) bool {
	return s.byNumber(frame) && (s.matches == nil || s.matches.Frame(frame) || s.matches.PDU(pdu))
}

// Conn reports whether a connection is selected by its number.
func (s *Selection) Conn(number uint64) bool {
	return (s.Conns == nil || in(s.Conns, number)) && (s.only == nil || s.only[number])
}

// Has reports whether a connection is selected: by its number, because something of it
// matches the filter, and if frames are selected, because it was under way in one of them.
func (s *Selection) Has(c *trace.Connection) bool {
	if !s.Conn(c.Number) || s.matches != nil && !s.matches.Conn(c.Number) {
		return false
	}
	return s.within(Span{c.FirstFrame, c.LastFrame})
}

// Leaves reports whether some of the n frames of the capture are selected by number and time. It is asked at the end.
func (s *Selection) Leaves(n uint64) bool { return s.within(Span{1, n}) }

// within reports whether some of these frames are selected by number and time.
func (s *Selection) within(life Span) bool {
	switch {
	case !s.ByFrame():
		return true
	case s.Frames == nil:
		return slices.ContainsFunc(s.inTime, life.meets)
	case !s.Timed():
		return slices.ContainsFunc(s.Frames, life.meets)
	}
	return slices.ContainsFunc(s.Frames, func(f Span) bool {
		both := Span{max(f.From, life.From), min(f.To, life.To)}
		return slices.ContainsFunc(s.inTime, both.meets)
	})
}

// meets reports whether two ranges have a number in common.
func (s Span) meets(o Span) bool { return max(s.From, o.From) <= min(s.To, o.To) }

func in(spans []Span, n uint64) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.From <= n && n <= s.To })
}

// found looks for a number in ranges that are sorted.
func found(spans []Span, n uint64) bool {
	if len(spans) == 0 {
		return false
	}
	if last := spans[len(spans)-1]; n >= last.From {
		return n <= last.To // mostly it is asked about the frame at hand
	}
	i, ok := slices.BinarySearchFunc(spans, n, func(s Span, n uint64) int {
		switch {
		case s.To < n:
			return -1
		case s.From > n:
			return 1
		}
		return 0
	})
	return ok && spans[i].From <= n
}

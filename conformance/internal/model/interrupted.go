package model

import "slices"

// interrupted is where a Write goes on that has no L yet, while another Write has begun.
type interrupted struct {
	stag uint32
	to   uint64
}

// maxInterrupted bounds those that are kept of a direction.
const maxInterrupted = 8

// ResumesWrite reports whether a segment of a Write goes on with one that another Write interrupted, and not with that.
func (s *Segment) ResumesWrite() bool { return s.interruptedBy() >= 0 }

// interruptedBy is which of the interrupted Writes a segment goes on with, negative if none.
func (s *Segment) interruptedBy() int {
	if s.incomplete == nil || len(s.incomplete.interrupted) == 0 || s.Op != OpWrite || !s.DDP.Tagged { // nearly always
		return -1
	}
	if m := s.Tagged[0].Msg; m.Open() && m.continues(s) {
		return -1
	}
	return slices.Index(s.incomplete.interrupted, interrupted{s.DDP.STag, s.DDP.TO})
}

// interrupts notes where m goes on, an open Write, when a segment begins another one or goes on with another one.
func (s *Segment) interrupts(m *Message) {
	if i := s.interruptedBy(); i >= 0 {
		x := s.incomplete
		x.interrupted = slices.Delete(x.interrupted, i, i+1)
	}
	if !m.Open() || m.Op != OpWrite || s.Op != OpWrite || !s.DDP.Tagged {
		return
	}
	x := s.keepIncomplete()
	if len(x.interrupted) == maxInterrupted {
		x.interrupted = slices.Delete(x.interrupted, 0, 1)
	}
	x.interrupted = append(x.interrupted, interrupted{m.STag, m.Next()})
}

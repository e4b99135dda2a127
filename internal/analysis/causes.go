package analysis

import (
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// maxCauses bounds the causes of an ABORT that are kept.
const maxCauses = 4

// aborts takes in the causes that an ABORT gives. unreadable is why they cannot be read to their end.
func (a *Association) aborts(side int, c *sctp.Chunk, unreadable error) {
	s := &a.side[side]
	s.Causes, s.CausesCut = nil, c.Cut || unreadable != nil
	for p := range sctp.Causes(c) {
		if len(s.Causes) == maxCauses {
			return
		}
		s.Causes = append(s.Causes, trace.SCTPCause(p.Type))
	}
}

// reports takes in an ERROR.
func (a *Association) reports(side int, c *sctp.Chunk) {
	t := &a.side[side].Errors
	if t.Count++; t.Count > 1 {
		return
	}
	t.Frame = a.cur.Frame
	for p := range sctp.Causes(c) {
		t.Value = uint32(p.Type)
		return
	}
}

package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// lastFlagRules judge the L bit, which ends a message (RFC 5041 sections 4 and 5).
var lastFlagRules = []Rule{
	{
		ID: "DDP-L-01", Needs: MsgSync | Sync, ByShape: true, Closes: true,
		Field:    "iwarp_ddp.last_flag",
		YieldsTo: []string{"DDP-UNTAG-MSN-04", "DDP-STAG-01", "DDP-TO-01", "DDP-RSVDULP-TAG-01", "RDMAP-READREQ-SEG-01", "RDMAX-SEG-01", "RDMAP-TERM-SEG-01", "DDP-ZERO-01"},
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				if s.seg == nil || s.op == opTerminate {
					return OutOfScope
				}
				rel, m := s.relate()
				return InScopeIf(rel == begins && m.there)
			},
			Judge: func(r *Report, s *segment) {
				_, m := s.relate()
				if !m.done && (s.seg.Tagged || s.seg.MO == 0) {
					r.On(s, "another message begins, and the last segment of the one before had no L", "L=0", "L=1 on the last segment")
				}
			},
		},
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				f := &c.t.Flow[h.dir]
				closed := c.t.Ending == trace.FIN && h.terminates+h.peer.terminates == 0
				return InScopeIf(closed && h.cutShort != nil && !h.gap && !h.unsure && f.Partial+f.Unframed == 0).Given(MsgSync | Sync)
			},
			Judge: func(r *Report, h *half) {
				r.OnAs(Warning, h.cutShort.placeOf(&h.cutShort.final), "the connection closes in the middle of a message", "L=0", "L=1")
			},
		},
	},
	{
		ID: "DDP-L-02", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Segment: inQueue(
			hasEnded,
			func(r *Report, s *segment, m *message) {
				if uint64(s.seg.MO) >= m.lastStart() && !s.repeats(m) {
					reportInQueue(r, s, m, "a segment of a message that has had its L", fmt.Sprintf("MSN %d, MO %d", s.seg.MSN, s.seg.MO), "nothing behind the last one")
				}
			}),
	},
	{
		ID: "DDP-L-03", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Segment: inQueue(
			hasEnded,
			func(r *Report, s *segment, m *message) {
				if last := m.lastStart(); uint64(s.seg.MO) < last && !s.repeats(m) {
					reportInQueue(r, s, m, "the segment with L was sent before others of its message", fmt.Sprintf("MO %d behind the L at MO %d", s.seg.MO, last), "L on the last one sent")
				}
			}),
	},
	{
		ID: "DDP-L-04", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Segment: inQueue(
			func(s *segment, rel relation, _ *message) bool { return rel == goesOn && s.seg.Last },
			func(r *Report, s *segment, m *message) {
				if higher, ok := firstNotBelow(m, uint64(s.seg.MO)); ok {
					reportInQueue(r, s, m, "the segment with L is not that with the highest MO", fmt.Sprintf("MO %d", s.seg.MO), fmt.Sprintf("above %d", higher))
				}
			}),
	},
}

// hasEnded reports whether a segment belongs to a message that has had its L.
func hasEnded(_ *segment, rel relation, _ *message) bool { return rel == behind }

// firstNotBelow returns the MO of the first segment of a message that is not below mo, if
// there is one.
func firstNotBelow(m *message, mo uint64) (at uint64, ok bool) {
	for i := range m.runs {
		r := &m.runs[i]
		if r.start() < mo || r.start() == mo && r.size == 0 {
			continue
		}
		at = r.from
		if r.size > 0 && at < mo {
			at += (mo - at + r.size - 1) / r.size * r.size
		}
		return at, true
	}
	return 0, false
}

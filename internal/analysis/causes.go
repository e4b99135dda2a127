package analysis

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// Bounds on what is kept: maxCauses of an ABORT, and of the ERRORs of a side; maxReason octets of a text.
const (
	maxCauses = 4
	maxReason = 100
)

// aborts takes in the causes that an ABORT gives. unreadable is why they cannot be read to their end.
func (a *Association) aborts(side int, c *sctp.Chunk, unreadable error) {
	s := &a.side[side]
	s.Causes, s.Reason, s.CausesCut = nil, "", c.Cut || unreadable != nil
	for p := range sctp.Causes(c) {
		if len(s.Causes) == maxCauses {
			return
		}
		cause := trace.SCTPCause(p.Type)
		s.Causes = append(s.Causes, cause)
		if s.Reason == "" && (cause == trace.CauseUserAbort || cause == trace.CauseProtocolViolation) {
			s.Reason = reason(p.Value)
		}
	}
}

// reason is the text with which the value of a cause begins; "" if it is none. RFC 9260 leaves open what stands there, and
// Linux has octets of a chunk behind the text.
func reason(b []byte) string {
	const least = 2
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError || !unicode.IsPrint(r) || n+size > maxReason {
			break
		}
		n += size
	}
	if n < least {
		return ""
	}
	return string(b[:n])
}

// reports takes in an ERROR.
func (a *Association) reports(side int, c *sctp.Chunk) {
	s := &a.side[side]
	first := s.Errors.Count == 0
	if s.Errors.Count++; first {
		s.Errors.Frame = a.cur.Frame
	}
	for p := range sctp.Causes(c) {
		if first {
			s.Errors.Value, first = uint32(p.Type), false
		}
		cause := trace.SCTPCause(p.Type)
		i := slices.IndexFunc(s.Reported, func(r trace.SCTPReport) bool { return r.Cause == cause })
		switch {
		case i >= 0:
			s.Reported[i].Count++
		case len(s.Reported) < maxCauses:
			s.Reported = append(s.Reported, trace.SCTPReport{Cause: cause, Count: 1, Frame: a.cur.Frame})
		}
	}
}

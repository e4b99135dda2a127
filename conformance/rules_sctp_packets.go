package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// sctpPacketRules judge SCTP packets and chunks as such (RFC 9260).
var sctpPacketRules = []Rule{
	{
		ID: "SCTP-CRC-01", Needs: Full, Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(_ *Case, s *side) Scope {
				switch k := s.checksums(); {
				case k.wrong > 0:
					return InScope.Given(Full | Sum | Start)
				case k.lacks != 0:
					return Lacking(k.lacks)
				case s.Uncertain > 0:
					return Lacking(Full)
				default:
					return InScopeIf(s.Good > 0)
				}
			},
			Judge: func(r *Report, s *side) {
				k := s.checksums()
				if k.wrong > 0 {
					onAssociation(r, s, k.first, "the checksum of an SCTP packet is wrong", fmt.Sprintf("%d of %d packets", k.wrong, k.wrong+s.Good), "CRC32c in all of them")
				}
				if k.lacks != 0 {
					r.Unproven(k.lacks)
				}
			},
		},
	},
	{
		ID: "SCTP-DATA-LEN-01", Needs: Sum, Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: certain(trace.OddNoData),
			Judge: func(r *Report, s *side) {
				if t := s.Odd[trace.OddNoData]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "a chunk of user data without any", fmt.Sprintf("Length %d%s", t.Value, times(t.Count)), "at least one octet")
				}
			},
		},
	},
	{
		ID: "SCTP-DATA-PAD-01", Needs: Full | Sum, Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(c *Case, s *side) Scope {
				if s.Uncertain > 0 && s.Odd[trace.OddPad].Count+s.Odd[trace.OddNoPad].Count == 0 {
					return Lacking(Full)
				}
				return certain(trace.OddPad)(c, s)
			},
			Judge: func(r *Report, s *side) {
				if t := s.Odd[trace.OddPad]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the pad of a chunk is not zero", fmt.Sprintf("chunk type %d%s", t.Value, times(t.Count)), "zero")
				}
				if s.doubtful(trace.OddNoPad) {
					r.Unproven(Sum)
					return
				}
				if t := s.Odd[trace.OddNoPad]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the last chunk of a packet has no pad", fmt.Sprintf("chunk type %d%s", t.Value, times(t.Count)), "a multiple of four octets")
				}
			},
		},
	},
	{
		ID: "SCTP-DATA-RES-01", Needs: Sum, Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: certain(trace.OddFlags),
			Judge: func(r *Report, s *side) {
				if t := s.Odd[trace.OddFlags]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "reserved flags of a chunk of user data are set", fmt.Sprintf("flags %#02x%s", t.Value, times(t.Count)), "the upper four bits zero")
				}
			},
		},
	},
	{
		ID: "SCTP-TSN-01", Needs: Sum, Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(c *Case, s *side) Scope {
				if s.Forwarded {
					return Lacking(Contig) // the rest of a message may have been given up
				}
				return certain(trace.OddSplit)(c, s)
			},
			Judge: func(r *Report, s *side) {
				if t := s.Odd[trace.OddSplit]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the TSNs of the fragments of a message do not follow one another",
						fmt.Sprintf("TSN %d between them%s", t.Value, times(t.Count)), "consecutive ones")
				}
			},
		},
	},
}

// certain is the scope of rules on something that is wrong with packets of a side.
func certain(what trace.Oddity) func(*Case, *side) Scope {
	return func(_ *Case, s *side) Scope {
		if s.doubtful(what) {
			return Lacking(Sum)
		}
		return InScope
	}
}

// onAssociation reports a violation by a side of an association.
func onAssociation(r *Report, s *side, frame uint64, message, observed, expected string) {
	r.On(Place{Dir: s.dir, HasDir: true, Frame: frame}, message+" (of the whole association)", observed, expected)
}

// times says how often something was seen.
func times(n uint64) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", %d times", n)
}

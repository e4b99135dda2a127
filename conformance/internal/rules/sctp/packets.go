package sctp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// sctpPacketRules judge SCTP packets and chunks as such (RFC 9260).
var sctpPacketRules = []rules.Rule{
	{
		ID: "SCTP-CRC-01", Needs: catalogue.Full, Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(_ *rules.Case, s *model.Side) rules.Scope {
				switch k := s.Checksums(); {
				case k.Wrong > 0:
					return rules.InScope.Given(catalogue.Full | catalogue.Sum | catalogue.Start)
				case k.Lacks != 0:
					return rules.Lacking(k.Lacks)
				case s.Uncertain > 0:
					return rules.Lacking(catalogue.Full)
				default:
					return rules.InScopeIf(s.Good > 0)
				}
			},
			Judge: func(r *rules.Report, s *model.Side) {
				k := s.Checksums()
				if k.Wrong > 0 {
					onAssociation(r, s, k.First, "the checksum of an SCTP packet is wrong", fmt.Sprintf("%d of %d packets", k.Wrong, k.Wrong+s.Good), "a valid CRC32c in all packets")
				}
				if k.Lacks != 0 {
					r.Unproven(k.Lacks)
				}
			},
		},
	},
	{
		ID: "SCTP-DATA-LEN-01", Needs: catalogue.Sum, Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: certain(trace.OddNoData),
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Odd[trace.OddNoData]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "a DATA chunk carries no user data", fmt.Sprintf("length %d%s", t.Value, times(t.Count)), "at least one octet")
				}
			},
		},
	},
	{
		ID: "SCTP-DATA-PAD-01", Needs: catalogue.Full | catalogue.Sum, Transport: rules.OnSCTP, Anywhere: true,
		Test: rules.Test{Needs: rules.KeepsSteps}, // of a size that has a pad
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(c *rules.Case, s *model.Side) rules.Scope {
				if s.Uncertain > 0 && s.Odd[trace.OddPad].Count+s.Odd[trace.OddNoPad].Count == 0 {
					return rules.Lacking(catalogue.Full)
				}
				return certain(trace.OddPad)(c, s)
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Odd[trace.OddPad]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the pad of a chunk is not zero", fmt.Sprintf("chunk type %d%s", t.Value, times(t.Count)), "zero")
				}
				if s.Doubtful(trace.OddNoPad) {
					r.Unproven(catalogue.Sum)
					return
				}
				if t := s.Odd[trace.OddNoPad]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the last chunk of a packet has no pad", fmt.Sprintf("chunk type %d%s", t.Value, times(t.Count)), "a multiple of four octets")
				}
			},
		},
	},
	{
		ID: "SCTP-DATA-RES-01", Needs: catalogue.Sum, Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: certain(trace.OddFlags),
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Odd[trace.OddFlags]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "reserved flags of a DATA chunk are set", fmt.Sprintf("flags %#02x%s", t.Value, times(t.Count)), "upper four bits zero")
				}
			},
		},
	},
	{
		ID: "SCTP-RETX-01", Needs: catalogue.Sum, Transport: rules.OnSCTP, Anywhere: true,
		Test: rules.Test{NotDetected: "the packet that is sent again is too small to hold the octet that is changed"},
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(c *rules.Case, s *model.Side) rules.Scope {
				switch {
				case s.Odd[trace.OddDiffers].Count > 0:
					return certain(trace.OddDiffers)(c, s)
				case s.Uncompared > 0:
					return rules.Lacking(catalogue.Full)
				}
				return rules.InScopeIf(s.Retransmitted > 0)
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Odd[trace.OddDiffers]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "a DATA chunk that is sent again differs from the first one",
						fmt.Sprintf("a difference in TSN %d%s", t.Value, times(t.Count)), "the same octets")
				}
			},
		},
	},
	{
		ID: "SCTP-TSN-01", Needs: catalogue.Sum, Transport: rules.OnSCTP, Anywhere: true,
		Test: rules.Test{ // two messages at once
			Needs:       rules.KeepsSteps,
			NotDetected: "with I-DATA chunks of several messages may be mixed (RFC 8260)",
		},
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(c *rules.Case, s *model.Side) rules.Scope {
				if s.Forwarded {
					return rules.Lacking(catalogue.Contig) // the rest of a message may have been given up
				}
				if scope := certain(trace.OddUnbegun)(c, s); scope != rules.InScope {
					return scope
				}
				return certain(trace.OddSplit)(c, s)
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Odd[trace.OddSplit]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the TSNs of the fragments of a message are not consecutive",
						fmt.Sprintf("TSN %d between them%s", t.Value, times(t.Count)), "consecutive TSNs")
					return // the rest of the message stands behind the other one
				}
				if t := s.Odd[trace.OddUnbegun]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "a fragment that begins no message follows the end of one",
						fmt.Sprintf("TSN %d without the B bit%s", t.Value, times(t.Count)), "the first fragment of a message")
				}
			},
		},
	},
}

// certain is the scope of rules on something that is wrong with packets of a side.
func certain(what trace.Oddity) func(*rules.Case, *model.Side) rules.Scope {
	return func(_ *rules.Case, s *model.Side) rules.Scope {
		if s.Doubtful(what) {
			return rules.Lacking(catalogue.Sum)
		}
		return rules.InScope
	}
}

// onAssociation reports a violation by a side of an association.
func onAssociation(r *rules.Report, s *model.Side, frame uint64, message, observed, expected string) {
	r.On(model.Place{Dir: s.Dir, HasDir: true, Frame: frame}, message+" (for the whole association)", observed, expected)
}

// times says how often something was seen.
func times(n uint64) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", %d times", n)
}

package rdmap

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapHeaderRules judge the RDMAP headers of single segments (RFC 5040 section 4,
// RFC 7306 section 4).
var rdmapHeaderRules = []rules.Rule{
	{
		ID: "RDMAP-STREAM-ONLY-01", Needs: catalogue.Sync | catalogue.Full, Noise: true, ByShape: true,
		YieldsTo: []string{"MPA-CONN-BOTH-01", "MPA-START-08C", "MPA-FPDU-FMT-01"},
		Test:     rules.Test{NotDetected: "without CRC octets that are no message cannot be told from a lost place"},
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.Noise && !r.Reported(s.Direction) {
					r.On(s, "octets that are not an RDMA message", fmt.Sprintf("% x", s.Head[:min(len(s.Head), 8)]), "an RDMAP segment")
				}
			},
		},
	},
	{
		ID: "RDMAP-RV-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_rdma.version",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.PDU.Control.RV > 1 {
					r.On(s, "the RDMAP version is not defined", fmt.Sprint(s.PDU.Control.RV), "1, or 0 of the RDMA Consortium")
				}
			},
		},
	},
	{
		ID: "RDMAP-RV-02", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwarp_rdma.version",
		YieldsTo: []string{"RDMAP-RV-01", "RDMAX-RV-01"},
		Test:     rules.Test{Related: []string{"RNIC-IOP-VER-02"}}, // it was the first message
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				switch {
				case s.DiffersFromMixed():
					r.On(s, "the RDMAP version changes within the direction", fmt.Sprint(s.PDU.Control.RV), fmt.Sprint(s.Mixed.RV()))
				case s.HasVersions && s.PDU.Control.RV != s.RDMAPVersion:
					r.On(s, "the RDMAP version changes within the direction", fmt.Sprint(s.PDU.Control.RV), fmt.Sprint(s.RDMAPVersion))
				}
			},
		},
	},
	{
		ID: "RDMAP-RSV-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_rdma.rsv",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.PDU.Control.Rsv != 0 {
					r.On(s, "reserved bits of the RDMAP control octet are set", fmt.Sprintf("%#02x", s.PDU.Control.Rsv<<4), "0")
				}
			},
		},
	},
	{
		ID: "RDMAP-OPCODE-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_rdma.opcode",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				switch {
				case s.Op == rdmap.OpExperimental:
					r.OnAs(catalogue.Note, s, "an opcode reserved for experiments", "0xf", "an assigned opcode")
				case !s.Op.Assigned() && !reportedBefore(r, s):
					r.On(s, "the opcode is not assigned", fmt.Sprintf("%#x", uint8(s.Op)), "0 to 0xb")
				}
			},
		},
	},
	{
		ID: "RDMAP-TFLAG-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_ddp.tagged_flag",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.Op.Assigned() && s.DDP.Tagged != s.Op.Tagged() {
					r.On(s, "the T bit does not match the opcode", fmt.Sprintf("T=%d with %v", model.Bit(s.DDP.Tagged), s.Op), fmt.Sprintf("T=%d", model.Bit(s.Op.Tagged())))
				}
			},
		},
	},
	{
		ID: "RDMAP-QN-01", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwarp_ddp.qn",
		YieldsTo: []string{"DDP-UNTAG-QN-01", "DDP-UNTAG-QN-02", "DDP-RSVDULP-UNTAG-01", "RDMAP-TFLAG-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if qn, ok := s.Op.Queue(); ok && !s.DDP.Tagged && s.Op != model.OpTerminate && s.DDP.QN != qn && !reportedBefore(r, s) {
					r.On(s, "the queue does not match the opcode", fmt.Sprintf("QN %d with %v", s.DDP.QN, s.Op), fmt.Sprintf("QN %d", qn))
				}
			},
		},
	},
	{
		ID: "RDMAP-INVSTAG-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_rdma.reserved",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				plain := s.Op == model.OpSend || s.Op == rdmap.OpSendSE || s.Op == model.OpReadRequest || s.Op == model.OpTerminate
				if !s.DDP.Tagged && plain && s.DDP.RsvdULP32 != 0 && !reportedBefore(r, s) {
					r.On(s, "the Invalidate STag field is not zero", fmt.Sprintf("%#08x", s.DDP.RsvdULP32), "0")
				}
			},
		},
	},
	{
		ID: "RDMAP-INVSTAG-02", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_rdma.inval_stag",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if !s.DDP.Tagged && s.Op.Invalidates() && s.DDP.RsvdULP32 == 0 && !reportedBefore(r, s) {
					r.On(s, "the message invalidates STag 0, which is rarely valid", "0x00000000", "an STag")
				}
			},
		},
	},
	{
		ID: "RDMAX-RV-01", Needs: catalogue.Sync, On: model.Extensions,
		Field:    "iwarp_rdma.version",
		YieldsTo: []string{"RDMAP-RV-01"},
		Test:     rules.Test{Related: []string{"RNIC-IOP-RDMAC-ATOMIC-01"}}, // the startup says why
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				rdmac := s.PDU.Control.RV == 0 && // RNIC-IOP-RDMAC-ATOMIC-01 reports it
					(r.Reply != nil && r.Reply.Rev == 0 && r.Trace.Transport == trace.TCP || s.HasVersions && s.RDMAPVersion == 0)
				if s.PDU.Control.RV != 1 && !rdmac {
					r.On(s, "a message of RFC 7306 has the wrong RDMAP version", fmt.Sprint(s.PDU.Control.RV), "1")
				}
			},
		},
	},
	{
		ID: "RDMAX-INVSTAG-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_rdma.reserved",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if !s.DDP.Tagged && model.Extension(s.Op) && s.DDP.RsvdULP32 != 0 && !reportedBefore(r, s) {
					r.On(s, "the Invalidate STag field is not zero", fmt.Sprintf("%#08x", s.DDP.RsvdULP32), "0")
				}
			},
		},
	},
	{
		ID: "RDMAX-SEG-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.Extensions,
		Field:   "iwarp_ddp.last_flag",
		Segment: &rules.On[*model.Segment]{Judge: inOneSegment},
	},
	{
		ID: "RDMAP-READREQ-SEG-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(model.OpReadRequest),
		Field:   "iwarp_ddp.last_flag",
		Segment: &rules.On[*model.Segment]{Judge: inOneSegment},
	},
	{
		ID: "RDMAP-READREQ-WRAP-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(model.OpReadRequest),
		Field: "iwarp_rdma.srcto",
		Test:  rules.Test{Needs: rules.NoSmaller},
		Segment: &rules.On[*model.Segment]{
			Applies: readsSomething,
			Judge: func(r *rules.Report, s *model.Segment) {
				q, _ := rdmap.DecodeReadRequest(s.Header)
				switch end := q.SrcTO + uint64(q.Size); {
				case end == 0:
					r.OnAs(catalogue.Note, s, "the source of the Read ends exactly at 2^64", fmt.Sprintf("%#x + %d", q.SrcTO, q.Size), "below 2^64")
				case end < q.SrcTO:
					r.On(s, "the source of the Read extends beyond 2^64", fmt.Sprintf("%#x + %d", q.SrcTO, q.Size), "at most 2^64")
				}
			},
		},
	},
	{
		ID: "RDMAP-READREQ-WRAP-02", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(model.OpReadRequest),
		Field: "iwarp_rdma.sinkto",
		Test:  rules.Test{Needs: rules.NoSmaller},
		Segment: &rules.On[*model.Segment]{
			Applies: readsSomething,
			Judge: func(r *rules.Report, s *model.Segment) {
				q, _ := rdmap.DecodeReadRequest(s.Header)
				if end := q.SinkTO + uint64(q.Size); end != 0 && end < q.SinkTO {
					r.On(s, "the sink of the Read extends beyond 2^64", fmt.Sprintf("%#x + %d", q.SinkTO, q.Size), "at most 2^64")
				}
			},
		},
	},
	{
		ID: "RDMAP-READREQ-LEN-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(model.OpReadRequest),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAP-READREQ-SEG-01"},
		Segment:  hasLength(rdmap.ReadRequestLen),
	},
	{
		ID: "RDMAX-IMM-LEN-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(rdmap.OpImmediate, rdmap.OpImmediateSE),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAX-SEG-01"},
		Segment:  hasLength(rdmap.ImmediateDataLen),
	},
	{
		ID: "RDMAX-AREQ-LEN-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicRequest),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAX-SEG-01"},
		Segment:  hasLength(rdmap.AtomicRequestLen),
	},
	{
		ID: "RDMAX-ARESP-LEN-01", Needs: catalogue.Sync, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicResponse),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAX-SEG-01"},
		Segment:  hasLength(rdmap.AtomicResponseLen),
	},
	{
		ID: "RDMAX-AREQ-RSVD-01", Needs: catalogue.Sync | catalogue.Full, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicRequest),
		Field: "iwarp_rdma.atomic.reserved",
		Segment: atomicHeader("reserved bits of the Atomic Request are set", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprintf("%#07x", a.Rsvd), "0", a.Rsvd != 0
		}),
	},
	{
		ID: "RDMAX-AREQ-AOP-01", Needs: catalogue.Sync | catalogue.Full, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicRequest),
		Field: "iwarp_rdma.atomic.opcode",
		Segment: atomicHeader("the atomic operation is not assigned", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprint(uint8(a.AOpCode)), "0 (FetchAdd) or 2 (CmpSwap)", a.AOpCode != rdmap.FetchAddOp && a.AOpCode != rdmap.CmpSwapOp
		}),
	},
	{
		ID: "RDMAX-AREQ-FADD-01", Needs: catalogue.Sync | catalogue.Full, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicRequest),
		Field: "iwarp_rdma.atomic.compare_data",
		Segment: atomicHeader("the Compare Data of a FetchAdd is not zero", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprintf("%#x", a.CompareData), "0", a.AOpCode == rdmap.FetchAddOp && a.CompareData != 0
		}),
	},
	{
		ID: "RDMAX-AREQ-FADD-02", Needs: catalogue.Sync | catalogue.Full, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicRequest),
		Field: "iwarp_rdma.atomic.compare_mask",
		Segment: atomicHeader("the Compare Mask of a FetchAdd is not all ones", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprintf("%#x", a.CompareMask), "0xffffffffffffffff", a.AOpCode == rdmap.FetchAddOp && a.CompareMask != ^uint64(0)
		}),
	},
}

// readsSomething is the scope of rules on Read Requests that ask for octets. With a wrong T bit the header is not where it
// is searched.
func readsSomething(_ *rules.Case, s *model.Segment) rules.Scope {
	q, err := rdmap.DecodeReadRequest(s.Header)
	return rules.InScopeIf(err == nil && q.Size > 0)
}

// atomicHeader judges the header of an Atomic Request. With a wrong T bit it is not where it is searched.
func atomicHeader(message string, wrong func(*rdmap.AtomicRequest) (observed, expected string, bad bool)) *rules.On[*model.Segment] {
	return &rules.On[*model.Segment]{
		Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
			_, err := rdmap.DecodeAtomicRequest(s.Header)
			return rules.InScopeIf(err == nil)
		},
		Judge: func(r *rules.Report, s *model.Segment) {
			a, _ := rdmap.DecodeAtomicRequest(s.Header)
			if observed, expected, bad := wrong(&a); bad {
				r.On(s, message, observed, expected)
			}
		},
	}
}

// hasLength judges the length of messages that have a fixed one, in octets.
func hasLength(want int) *rules.On[*model.Segment] {
	return &rules.On[*model.Segment]{
		Applies: func(_ *rules.Case, s *model.Segment) rules.Scope { return rules.InScopeIf(s.DDP.Last) },
		Judge: func(r *rules.Report, s *model.Segment) {
			n := int64(s.DDP.MO) + s.Octets
			if rel, _ := s.Relate(); s.DDP.MO != 0 && rel != model.GoesOn && s.Octets == int64(want) {
				return // it is whole, and its MO is wrong
			}
			if n != int64(want) {
				r.On(s, fmt.Sprintf("the length of the %v is wrong", s.Op), fmt.Sprint(n), fmt.Sprint(want))
			}
		},
	}
}

// reportedBefore reports whether a segment continues a message that the rule has reported: all its
// segments have the same fault.
func reportedBefore(r *rules.Report, s *model.Segment) bool {
	if s.DDP.Tagged {
		rel, m := s.Relate()
		return rel == model.GoesOn && m.Control == s.DDP.RsvdULP
	}
	return s.DDP.MO != 0 && r.ReportedMessage(s)
}

// inOneSegment judges a message that always fits a segment.
func inOneSegment(r *rules.Report, s *model.Segment) {
	want := int64(s.Op.HeaderLen())
	split := func(observed, expected string) {
		r.OnAs(catalogue.Warning, s, fmt.Sprintf("the %v spans several segments although it fits in one", s.Op), observed, expected)
	}
	switch {
	case s.DDP.MO != 0:
		// Its first segment was reported, unless it was not captured.
		if rel, _ := s.Relate(); !s.DDP.Last && rel != model.GoesOn {
			split(fmt.Sprintf("MO %d, L=0", s.DDP.MO), "MO 0, L=1")
		}
	case !s.DDP.Last && s.Octets >= want:
		r.On(s, fmt.Sprintf("the %v is complete, but L is not set", s.Op), "L=0", "L=1")
	case !s.DDP.Last:
		split(fmt.Sprintf("%d octets, L=0", s.Octets), fmt.Sprintf("%d octets, L=1", want))
	}
}

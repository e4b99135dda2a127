package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapHeaderRules judge the RDMAP headers of single segments (RFC 5040 section 4,
// RFC 7306 section 4).
var rdmapHeaderRules = []Rule{
	{
		ID: "RDMAP-STREAM-ONLY-01", Needs: Sync | Full, Noise: true, ByShape: true,
		YieldsTo: []string{"MPA-CONN-BOTH-01", "MPA-START-08C", "MPA-FPDU-FMT-01"},
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if s.noise && !r.Reported(s.half) {
					r.On(s, "octets that are no RDMA message", fmt.Sprintf("% x", s.head[:min(len(s.head), 8)]), "a DDP segment of RDMAP")
				}
			},
		},
	},
	{
		ID: "RDMAP-RV-01", Needs: Sync, ByShape: true,
		Field: "iwarp_rdma.version",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if s.p.Control.RV > 1 {
					r.On(s, "the RDMAP version does not exist", fmt.Sprint(s.p.Control.RV), "1, or 0 of the RDMA Consortium")
				}
			},
		},
	},
	{
		ID: "RDMAP-RV-02", Needs: Sync, ByShape: true,
		Field:    "iwarp_rdma.version",
		YieldsTo: []string{"RDMAP-RV-01", "RDMAX-RV-01"},
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if s.hasVersions && s.p.Control.RV != s.rv {
					r.On(s, "the RDMAP version changes within the direction", fmt.Sprint(s.p.Control.RV), fmt.Sprint(s.rv))
				}
			},
		},
	},
	{
		ID: "RDMAP-RSV-01", Needs: Sync, ByShape: true,
		Field: "iwarp_rdma.rsv",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if s.p.Control.Rsv != 0 {
					r.On(s, "reserved bits of the RDMAP control octet are set", fmt.Sprintf("%#02x", s.p.Control.Rsv<<4), "0")
				}
			},
		},
	},
	{
		ID: "RDMAP-OPCODE-01", Needs: Sync, ByShape: true,
		Field: "iwarp_rdma.opcode",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				switch {
				case s.op == 0xf:
					r.OnAs(Note, s, "an opcode that is kept for experiments", "0xf", "an assigned one")
				case !s.op.Assigned():
					r.On(s, "the opcode is not assigned", fmt.Sprintf("%#x", uint8(s.op)), "0 to 0xb")
				}
			},
		},
	},
	{
		ID: "RDMAP-TFLAG-01", Needs: Sync, ByShape: true,
		Field: "iwarp_ddp.tagged_flag",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if s.op.Assigned() && s.seg.Tagged != s.op.Tagged() {
					r.On(s, "the T bit does not fit the opcode", fmt.Sprintf("T=%d with %v", bit(s.seg.Tagged), s.op), fmt.Sprintf("T=%d", bit(s.op.Tagged())))
				}
			},
		},
	},
	{
		ID: "RDMAP-QN-01", Needs: Sync, ByShape: true,
		Field:    "iwarp_ddp.qn",
		YieldsTo: []string{"DDP-UNTAG-QN-02", "RDMAP-TFLAG-01"},
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if qn, ok := s.op.Queue(); ok && !s.seg.Tagged && s.op != opTerminate && s.seg.QN != qn {
					r.On(s, "the queue does not fit the opcode", fmt.Sprintf("QN %d with %v", s.seg.QN, s.op), fmt.Sprintf("QN %d", qn))
				}
			},
		},
	},
	{
		ID: "RDMAP-INVSTAG-01", Needs: Sync, ByShape: true,
		Field: "iwarp_rdma.reserved",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				plain := s.op == opSend || s.op == rdmap.OpSendSE || s.op == opReadRequest || s.op == opTerminate
				if !s.seg.Tagged && plain && s.seg.RsvdULP32 != 0 {
					r.On(s, "the field of the STag to invalidate is not zero", fmt.Sprintf("%#08x", s.seg.RsvdULP32), "0")
				}
			},
		},
	},
	{
		ID: "RDMAP-INVSTAG-02", Needs: Sync, ByShape: true,
		Field: "iwarp_rdma.inval_stag",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if !s.seg.Tagged && s.op.Invalidates() && s.seg.RsvdULP32 == 0 {
					r.On(s, "an invalidation of STag 0, which is rarely valid", "0x00000000", "an STag")
				}
			},
		},
	},
	{
		ID: "RDMAX-RV-01", Needs: Sync, On: extensions,
		Field:    "iwarp_rdma.version",
		YieldsTo: []string{"RDMAP-RV-01"},
		Segment: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				rdmac := s.p.Control.RV == 0 && // RNIC-IOP-RDMAC-ATOMIC-01 says so
					(r.reply != nil && r.reply.Rev == 0 && r.t.Transport == trace.TCP || s.hasVersions && s.rv == 0)
				if s.p.Control.RV != 1 && !rdmac {
					r.On(s, "a message of RFC 7306 with another RDMAP version", fmt.Sprint(s.p.Control.RV), "1")
				}
			},
		},
	},
	{
		ID: "RDMAX-INVSTAG-01", Needs: Sync, ByShape: true,
		Field: "iwarp_rdma.reserved",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if !s.seg.Tagged && extension(s.op) && s.seg.RsvdULP32 != 0 {
					r.On(s, "the field of the STag to invalidate is not zero", fmt.Sprintf("%#08x", s.seg.RsvdULP32), "0")
				}
			},
		},
	},
	{
		ID: "RDMAX-SEG-01", Needs: Sync, Tagged: mpa.No, On: extensions,
		Field:   "iwarp_ddp.last_flag",
		Segment: &On[*segment]{Judge: inOneSegment},
	},
	{
		ID: "RDMAP-READREQ-SEG-01", Needs: Sync, Tagged: mpa.No, On: on(opReadRequest),
		Field:   "iwarp_ddp.last_flag",
		Segment: &On[*segment]{Judge: inOneSegment},
	},
	{
		ID: "RDMAP-READREQ-WRAP-01", Needs: Sync, On: on(opReadRequest),
		Field: "iwarp_rdma.srcto",
		Segment: &On[*segment]{
			Applies: readsSomething,
			Judge: func(r *Report, s *segment) {
				q, _ := rdmap.DecodeReadRequest(s.body)
				switch end := q.SrcTO + uint64(q.Size); {
				case end == 0:
					r.OnAs(Note, s, "the source ends with the last octet that can be addressed", fmt.Sprintf("%#x + %d", q.SrcTO, q.Size), "below 2^64")
				case end < q.SrcTO:
					r.On(s, "the source of the Read goes beyond 2^64", fmt.Sprintf("%#x + %d", q.SrcTO, q.Size), "at most 2^64")
				}
			},
		},
	},
	{
		ID: "RDMAP-READREQ-WRAP-02", Needs: Sync, On: on(opReadRequest),
		Field: "iwarp_rdma.sinkto",
		Segment: &On[*segment]{
			Applies: readsSomething,
			Judge: func(r *Report, s *segment) {
				q, _ := rdmap.DecodeReadRequest(s.body)
				if end := q.SinkTO + uint64(q.Size); end != 0 && end < q.SinkTO {
					r.On(s, "the sink of the Read goes beyond 2^64", fmt.Sprintf("%#x + %d", q.SinkTO, q.Size), "at most 2^64")
				}
			},
		},
	},
	{
		ID: "RDMAP-READREQ-LEN-01", Needs: Sync, Tagged: mpa.No, On: on(opReadRequest),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAP-READREQ-SEG-01"},
		Segment:  hasLength(rdmap.ReadRequestLen),
	},
	{
		ID: "RDMAX-IMM-LEN-01", Needs: Sync, Tagged: mpa.No, On: on(rdmap.OpImmediate, rdmap.OpImmediateSE),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAX-SEG-01"},
		Segment:  hasLength(rdmap.ImmediateDataLen),
	},
	{
		ID: "RDMAX-AREQ-LEN-01", Needs: Sync, Tagged: mpa.No, On: on(opAtomicRequest),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAX-SEG-01"},
		Segment:  hasLength(rdmap.AtomicRequestLen),
	},
	{
		ID: "RDMAX-ARESP-LEN-01", Needs: Sync, Tagged: mpa.No, On: on(opAtomicResponse),
		Field:    "iwd.payload.length",
		YieldsTo: []string{"MPA-ULPDU-ONE-01", "RDMAX-SEG-01"},
		Segment:  hasLength(rdmap.AtomicResponseLen),
	},
	{
		ID: "RDMAX-AREQ-RSVD-01", Needs: Sync | Full, On: on(opAtomicRequest),
		Field: "iwarp_rdma.atomic.reserved",
		Segment: atomicHeader("reserved bits of the Atomic Request are set", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprintf("%#07x", a.Rsvd), "0", a.Rsvd != 0
		}),
	},
	{
		ID: "RDMAX-AREQ-AOP-01", Needs: Sync | Full, On: on(opAtomicRequest),
		Field: "iwarp_rdma.atomic.opcode",
		Segment: atomicHeader("the atomic operation does not exist", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprint(uint8(a.AOpCode)), "0 (FetchAdd) or 2 (CmpSwap)", a.AOpCode != rdmap.FetchAddOp && a.AOpCode != rdmap.CmpSwapOp
		}),
	},
	{
		ID: "RDMAX-AREQ-FADD-01", Needs: Sync | Full, On: on(opAtomicRequest),
		Field: "iwarp_rdma.atomic.compare_data",
		Segment: atomicHeader("a FetchAdd with Compare Data", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprintf("%#x", a.CompareData), "0", a.AOpCode == rdmap.FetchAddOp && a.CompareData != 0
		}),
	},
	{
		ID: "RDMAX-AREQ-FADD-02", Needs: Sync | Full, On: on(opAtomicRequest),
		Field: "iwarp_rdma.atomic.compare_mask",
		Segment: atomicHeader("a FetchAdd with another Compare Mask than all ones", func(a *rdmap.AtomicRequest) (string, string, bool) {
			return fmt.Sprintf("%#x", a.CompareMask), "0xffffffffffffffff", a.AOpCode == rdmap.FetchAddOp && a.CompareMask != ^uint64(0)
		}),
	},
}

// readsSomething is the scope of rules on Read Requests that ask for octets.
func readsSomething(_ *Case, s *segment) Scope {
	q, err := rdmap.DecodeReadRequest(s.body)
	return InScopeIf(err == nil && q.Size > 0)
}

// atomicHeader judges the header of an Atomic Request.
func atomicHeader(message string, wrong func(*rdmap.AtomicRequest) (observed, expected string, bad bool)) *On[*segment] {
	return &On[*segment]{
		Applies: func(_ *Case, s *segment) Scope {
			_, err := rdmap.DecodeAtomicRequest(s.body)
			return InScopeIf(err == nil)
		},
		Judge: func(r *Report, s *segment) {
			a, _ := rdmap.DecodeAtomicRequest(s.body)
			if observed, expected, bad := wrong(&a); bad {
				r.On(s, message, observed, expected)
			}
		},
	}
}

// hasLength judges the length of messages that have a fixed one, in octets.
func hasLength(want int) *On[*segment] {
	return &On[*segment]{
		Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.seg.Last) },
		Judge: func(r *Report, s *segment) {
			if n := int64(s.seg.MO) + s.octets; n != int64(want) {
				r.On(s, fmt.Sprintf("the length of the %v is wrong", s.op), fmt.Sprint(n), fmt.Sprint(want))
			}
		},
	}
}

// inOneSegment judges a message that always fits a segment.
func inOneSegment(r *Report, s *segment) {
	want := int64(s.op.HeaderLen())
	split := fmt.Sprintf("the %v is in several segments, although it fits one", s.op)
	switch {
	case s.seg.MO != 0:
		if !s.seg.Last {
			r.OnAs(Warning, s, split, fmt.Sprintf("MO %d, L=0", s.seg.MO), "MO 0, L=1")
		}
	case !s.seg.Last && s.octets >= want:
		r.On(s, fmt.Sprintf("the %v is complete, and L is not set", s.op), "L=0", "L=1")
	case !s.seg.Last:
		r.OnAs(Warning, s, split, fmt.Sprintf("%d octets, L=0", s.octets), fmt.Sprintf("%d octets, L=1", want))
	}
}

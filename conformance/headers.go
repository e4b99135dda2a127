package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// headerChecks are about the headers of single segments (RFC 5041 section 4, RFC
// 5040 section 4, RFC 7306 section 4).
var headerChecks = []check{
	{id: "DDP-HDR-01", shape: true, needs: Sync | Full, transport: onTCP, segment: func(c *conn, s *segment) {
		_, length, _ := s.p.ULPDU()
		if s.seg != nil {
			c.applies()
			return
		}
		want := 18
		if len(s.head) == 0 || s.head[0]&0x80 != 0 {
			want = 14
		}
		if c.applies() && length < want {
			c.at(s, "the ULPDU is shorter than a DDP header", fmt.Sprint(length), fmt.Sprintf("at least %d", want))
		}
	}},
	{id: "RDMAP-STREAM-ONLY-01", shape: true, needs: Sync | Full, noise: true, segment: func(c *conn, s *segment) {
		if s.seg != nil && c.applies() && s.noise && c.once(s.half) {
			c.at(s, "octets that are no RDMA message", fmt.Sprintf("% x", s.head[:min(len(s.head), 8)]), "a DDP segment of RDMAP")
		}
	}},
	field("DDP-RSVD-01", "reserved bits of the DDP control octet are set", func(s *segment) bool {
		return s.seg.Rsvd != 0
	}, func(s *segment) (string, string) {
		return fmt.Sprintf("%#02x", s.seg.Rsvd<<2), "0"
	}),
	{id: "DDP-DV-01", shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || !c.applies() {
			return
		}
		switch {
		case s.seg.DV > 1, s.seg.DV == 0 && c.t.Transport == trace.SCTP:
			c.at(s, "the DDP version does not exist", fmt.Sprint(s.seg.DV), "1")
		case s.seg.DV == 0 && c.reply == nil && c.request == nil && c.once(s.half):
			c.as(Note, s, "DDP version 0; no startup was captured that would say why", "0", "1")
		}
	}},
	{id: "DDP-DV-02", shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || !c.applies() {
			return
		}
		switch {
		case s.hasVersions && s.seg.DV != s.dv:
			c.at(s, "the DDP version changes within the direction", fmt.Sprint(s.seg.DV), fmt.Sprint(s.dv))
		case !s.hasVersions && c.t.Transport == trace.SCTP && s.peer.hasVersions && s.peer.dv != s.seg.DV:
			c.at(s, "the directions have different DDP versions", fmt.Sprint(s.seg.DV), fmt.Sprint(s.peer.dv))
		}
	}},
	{id: "DDP-TO-02", shape: true, tagged: mpa.Yes, needs: Sync, segment: func(c *conn, s *segment) {
		if s.octets == 0 || !c.applies() {
			return
		}
		switch end := s.seg.TO + uint64(s.octets); {
		case end == 0:
			c.as(Note, s, "the segment ends with the last octet that can be addressed", fmt.Sprintf("%#x + %d", s.seg.TO, s.octets), "below 2^64")
		case end < s.seg.TO:
			c.at(s, "TO and length go beyond 2^64", fmt.Sprintf("%#x + %d", s.seg.TO, s.octets), "at most 2^64")
		}
	}},
	field("DDP-UNTAG-QN-02", "the queue does not exist", func(s *segment) bool {
		return !s.seg.Tagged && s.seg.QN > 3
	}, func(s *segment) (string, string) {
		return fmt.Sprint(s.seg.QN), "0 to 3"
	}),
	field("RDMAP-RV-01", "the RDMAP version does not exist", func(s *segment) bool {
		return s.p.Control.RV > 1
	}, func(s *segment) (string, string) {
		return fmt.Sprint(s.p.Control.RV), "1, or 0 of the RDMA Consortium"
	}),
	field("RDMAP-RV-02", "the RDMAP version changes within the direction", func(s *segment) bool {
		return s.hasVersions && s.p.Control.RV != s.rv
	}, func(s *segment) (string, string) {
		return fmt.Sprint(s.p.Control.RV), fmt.Sprint(s.rv)
	}),
	field("RDMAP-RSV-01", "reserved bits of the RDMAP control octet are set", func(s *segment) bool {
		return s.p.Control.Rsv != 0
	}, func(s *segment) (string, string) {
		return fmt.Sprintf("%#02x", s.p.Control.Rsv<<4), "0"
	}),
	{id: "RDMAP-OPCODE-01", shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || !c.applies() {
			return
		}
		switch {
		case s.op == 0xf:
			c.as(Note, s, "an opcode that is kept for experiments", "0xf", "an assigned one")
		case !s.op.Assigned():
			c.at(s, "the opcode is not assigned", fmt.Sprintf("%#x", uint8(s.op)), "0 to 0xb")
		}
	}},
	field("RDMAP-TFLAG-01", "the T bit does not fit the opcode", func(s *segment) bool {
		return s.op.Assigned() && s.seg.Tagged != s.op.Tagged()
	}, func(s *segment) (string, string) {
		return fmt.Sprintf("T=%d with %v", bit(s.seg.Tagged), s.op), fmt.Sprintf("T=%d", bit(s.op.Tagged()))
	}),
	field("RDMAP-QN-01", "the queue does not fit the opcode", func(s *segment) bool {
		qn, ok := s.op.Queue()
		return ok && !s.seg.Tagged && s.op != opTerminate && s.seg.QN != qn
	}, func(s *segment) (string, string) {
		qn, _ := s.op.Queue()
		return fmt.Sprintf("QN %d with %v", s.seg.QN, s.op), fmt.Sprintf("QN %d", qn)
	}),
	field("RDMAP-INVSTAG-01", "the field of the STag to invalidate is not zero", func(s *segment) bool {
		plain := s.op == opSend || s.op == rdmap.OpSendSE || s.op == opReadRequest || s.op == opTerminate
		return !s.seg.Tagged && plain && s.seg.RsvdULP32 != 0
	}, func(s *segment) (string, string) {
		return fmt.Sprintf("%#08x", s.seg.RsvdULP32), "0"
	}),
	field("RDMAP-INVSTAG-02", "an invalidation of STag 0, which is rarely valid", func(s *segment) bool {
		return !s.seg.Tagged && s.op.Invalidates() && s.seg.RsvdULP32 == 0
	}, func(*segment) (string, string) {
		return "0x00000000", "an STag"
	}),
	{id: "RDMAX-RV-01", on: extensions, needs: Sync, segment: func(c *conn, s *segment) {
		if !c.applies() || s.p.Control.RV == 1 {
			return
		}
		if s.p.Control.RV == 0 && (c.reply != nil && c.reply.Rev == 0 && c.t.Transport == trace.TCP || s.hasVersions && s.rv == 0) {
			return // RNIC-IOP-RDMAC-ATOMIC-01
		}
		c.at(s, "a message of RFC 7306 with another RDMAP version", fmt.Sprint(s.p.Control.RV), "1")
	}},
	field("RDMAX-INVSTAG-01", "the field of the STag to invalidate is not zero", func(s *segment) bool {
		return !s.seg.Tagged && extension(s.op) && s.seg.RsvdULP32 != 0
	}, func(s *segment) (string, string) {
		return fmt.Sprintf("%#08x", s.seg.RsvdULP32), "0"
	}),
	{id: "RDMAX-SEG-01", tagged: mpa.No, on: extensions, needs: Sync, segment: func(c *conn, s *segment) {
		if c.applies() {
			c.whole(s)
		}
	}},
	{id: "RDMAP-READREQ-SEG-01", tagged: mpa.No, on: on(opReadRequest), needs: Sync, segment: func(c *conn, s *segment) {
		if c.applies() {
			c.whole(s)
		}
	}},
	{id: "RDMAP-READREQ-WRAP-01", on: on(opReadRequest), needs: Sync, segment: func(c *conn, s *segment) {
		r, err := rdmap.DecodeReadRequest(s.body)
		if err != nil || r.Size == 0 || !c.applies() {
			return
		}
		switch end := r.SrcTO + uint64(r.Size); {
		case end == 0:
			c.as(Note, s, "the source ends with the last octet that can be addressed", fmt.Sprintf("%#x + %d", r.SrcTO, r.Size), "below 2^64")
		case end < r.SrcTO:
			c.at(s, "the source of the Read goes beyond 2^64", fmt.Sprintf("%#x + %d", r.SrcTO, r.Size), "at most 2^64")
		}
	}},
	{id: "RDMAP-READREQ-WRAP-02", on: on(opReadRequest), needs: Sync, segment: func(c *conn, s *segment) {
		r, err := rdmap.DecodeReadRequest(s.body)
		if err != nil || r.Size == 0 || !c.applies() {
			return
		}
		if end := r.SinkTO + uint64(r.Size); end != 0 && end < r.SinkTO {
			c.at(s, "the sink of the Read goes beyond 2^64", fmt.Sprintf("%#x + %d", r.SinkTO, r.Size), "at most 2^64")
		}
	}},
	length("RDMAP-READREQ-LEN-01", rdmap.ReadRequestLen, opReadRequest),
	length("RDMAX-IMM-LEN-01", rdmap.ImmediateDataLen, rdmap.OpImmediate, rdmap.OpImmediateSE),
	length("RDMAX-AREQ-LEN-01", rdmap.AtomicRequestLen, opAtomicRequest),
	length("RDMAX-ARESP-LEN-01", rdmap.AtomicResponseLen, opAtomicResponse),
	atomic("RDMAX-AREQ-RSVD-01", "reserved bits of the Atomic Request are set", func(a *rdmap.AtomicRequest) (string, string, bool) {
		return fmt.Sprintf("%#07x", a.Rsvd), "0", a.Rsvd != 0
	}),
	atomic("RDMAX-AREQ-AOP-01", "the atomic operation does not exist", func(a *rdmap.AtomicRequest) (string, string, bool) {
		return fmt.Sprint(uint8(a.AOpCode)), "0 (FetchAdd) or 2 (CmpSwap)", a.AOpCode != rdmap.FetchAddOp && a.AOpCode != rdmap.CmpSwapOp
	}),
	atomic("RDMAX-AREQ-FADD-01", "a FetchAdd with Compare Data", func(a *rdmap.AtomicRequest) (string, string, bool) {
		return fmt.Sprintf("%#x", a.CompareData), "0", a.AOpCode == rdmap.FetchAddOp && a.CompareData != 0
	}),
	atomic("RDMAX-AREQ-FADD-02", "a FetchAdd with another Compare Mask than all ones", func(a *rdmap.AtomicRequest) (string, string, bool) {
		return fmt.Sprintf("%#x", a.CompareMask), "0xffffffffffffffff", a.AOpCode == rdmap.FetchAddOp && a.CompareMask != ^uint64(0)
	}),
}

// field is a rule on a field of every segment.
func field(id, message string, wrong func(*segment) bool, say func(*segment) (observed, expected string)) check {
	return check{id: id, shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || !c.applies() {
			return
		}
		if wrong(s) {
			o, x := say(s)
			c.at(s, message, o, x)
		}
	}}
}

// atomic is a rule on the header of an Atomic Request.
func atomic(id, message string, wrong func(*rdmap.AtomicRequest) (observed, expected string, bad bool)) check {
	return check{id: id, on: on(opAtomicRequest), needs: Sync | Full, segment: func(c *conn, s *segment) {
		a, err := rdmap.DecodeAtomicRequest(s.body)
		if err != nil || !c.applies() {
			return
		}
		if o, x, bad := wrong(&a); bad {
			c.at(s, message, o, x)
		}
	}}
}

// length is a rule on the length of messages that have a fixed one.
func length(id string, want int, ops ...rdmap.Opcode) check {
	return check{id: id, tagged: mpa.No, on: on(ops...), needs: Sync, segment: func(c *conn, s *segment) {
		if !s.seg.Last || !c.applies() {
			return
		}
		if n := int64(s.seg.MO) + s.octets; n != int64(want) {
			c.at(s, fmt.Sprintf("the length of the %v is wrong", s.op), fmt.Sprint(n), fmt.Sprint(want))
		}
	}}
}

// extensions are the opcodes of RFC 7306.
var extensions = on(rdmap.OpImmediate, rdmap.OpImmediateSE, opAtomicRequest, opAtomicResponse)

// extension reports whether an opcode is of RFC 7306.
func extension(op rdmap.Opcode) bool { return op >= rdmap.OpImmediate && op <= opAtomicResponse }

// whole judges a message that always fits a segment.
func (c *conn) whole(s *segment) {
	want := int64(s.op.HeaderLen())
	switch {
	case s.seg.MO != 0:
		if !s.seg.Last {
			c.as(Warning, s, fmt.Sprintf("the %v is in several segments, although it fits one", s.op), fmt.Sprintf("MO %d, L=0", s.seg.MO), "MO 0, L=1")
		}
	case !s.seg.Last && s.octets >= want:
		c.at(s, fmt.Sprintf("the %v is complete, and L is not set", s.op), "L=0", "L=1")
	case !s.seg.Last:
		c.as(Warning, s, fmt.Sprintf("the %v is in several segments, although it fits one", s.op), fmt.Sprintf("%d octets, L=0", s.octets), fmt.Sprintf("%d octets, L=1", want))
	}
}

// isNoise reports whether everything in the headers of a segment is impossible; if
// its CRC was cut off, whether most of it is or was different so far.
func (s *segment) isNoise() bool {
	unverified := s.p.FPDU != nil && s.p.FPDU.CRCStatus == mpa.CRCUnverifiable
	differs := func(now, before uint8) bool { return now > 1 || unverified && s.hasVersions && now != before }
	wrong, asked := 0, 0
	ask := func(bad bool) {
		asked++
		if bad {
			wrong++
		}
	}
	ask(differs(s.seg.DV, s.dv))
	ask(differs(s.p.Control.RV, s.rv))
	ask(!s.op.Assigned())
	if s.op.Assigned() {
		ask(s.seg.Tagged != s.op.Tagged())
		if qn, ok := s.op.Queue(); ok && !s.seg.Tagged {
			ask(s.seg.QN != qn)
		}
	}
	const most = 3
	return asked >= most && (wrong == asked || unverified && wrong >= most)
}

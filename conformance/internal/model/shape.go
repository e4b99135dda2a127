package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Nearly all FPDUs of a direction look alike to most rules. A rule that depends only on
// the shape of an event need not judge that shape again once it found it valid.

// Shape is what such rules look at, packed; 0 is no shape.
type Shape uint64

// packed builds a shape of fields of some bits each.
type packed struct {
	v Shape
	n uint
}

func (p *packed) put(v uint64, bits uint) {
	p.v |= Shape(v) & (1<<bits - 1) << p.n
	p.n += bits
}

func (p *packed) flag(b bool) {
	if b {
		p.v |= 1 << p.n
	}
	p.n++
}

// LacksPad reports whether an FPDU was framed without the pad that its length asks for.
func LacksPad(f *mpa.FPDU) bool { return f.PadLen != mpa.PadLen(int(f.ULPDULength)) }

// gateBits is the room for gates in a shape.
const gateBits = uint(catalogue.NumGates)

// shape is that of an FPDU that is usual: without faults, and with right markers if
// there are some.
func (e *FPDU) shape(c *Conn, have catalogue.Gate) Shape {
	f := e.FPDU
	if f.CRCStatus == mpa.CRCBad || !f.PadZero() || LacksPad(f) || f.ULPDULength > mpa.MaxULPDU ||
		f.Sync != mpa.InSync || f.Unsent > 0 || e.Count == 0 && !e.firstAsUsual(c) {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.put(uint64(have), gateBits)
	k.put(uint64(f.CRCStatus), 2)
	k.put(uint64(c.Trace.CRC), 2)
	k.put(uint64(f.PadLen), 2) //nolint:gosec // at most 3
	k.flag(f.PadKnown)
	k.flag(e.Hole)
	k.flag(c.Trace.Flow[e.Dir].Cut)
	if len(f.Markers) == 0 {
		return k.v
	}
	if f.CRCStatus != mpa.CRCGood || !f.MarkersOK() {
		return 0
	}
	inner := len(f.Markers)
	if f.Lead {
		inner--
	}
	k.flag(true)
	k.put(uint64(min(inner, 2)), 2) //nolint:gosec // not negative
	k.flag(f.Lead)
	k.flag(e.Marked(c))
	k.flag(e.Wrapped(c))
	return k.v
}

// firstAsUsual reports whether the first FPDU of a direction is right behind its startup frame, and has no
// markers, as agreed.
func (e *FPDU) firstAsUsual(c *Conn) bool {
	return e.PDU.HasOffset && e.PDU.Offset == 0 && len(e.FPDU.Markers) == 0 && c.Trace.Markers[e.Dir] != mpa.Yes
}

// shape is the shape of a segment: its header, and its relation to the open message. It is
// 0 where rules depend on details.
func (s *Segment) shape(have catalogue.Gate) Shape {
	g, p := s.DDP, s.Peer
	rel, m := s.Relate()
	from, to := s.Span()
	if s.unusual(rel, m, from, to) {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.flag(s.Answer.Begins)
	k.put(uint64(have), gateBits)
	k.put(uint64(s.Head[0]), 8)
	k.put(uint64(g.RsvdULP), 8)
	k.flag(s.Octets > 0)
	k.flag(s.HasVersions)
	k.put(uint64(s.DDPVersion), 2)
	k.put(uint64(s.RDMAPVersion), 2)
	k.flag(s.DiffersFromMixed())
	k.flag(p.HasVersions)
	k.put(uint64(p.DDPVersion), 2)
	k.flag(s.IsFirst)
	k.flag(s.Terminates > 0)
	k.put(uint64(rel), 3)
	if m != nil {
		k.flag(m.There)
		k.flag(m.Done)
		same := g.RsvdULP == m.Control && (g.Tagged || g.RsvdULP32 == m.Field)
		if rel == GoesOn && !same {
			return 0
		}
		k.flag(same)
	}
	if g.Tagged {
		return k.v
	}
	if g.QN >= uint32(len(s.Queues)) || s.Queues[g.QN].strays > 0 || s.Queues[g.QN].astray || m != nil && (m.MSN == 0xffffffff || m.HasAlias) || to > 0xffffffff {
		return 0
	}
	k.put(uint64(g.QN), 2)
	k.flag(g.RsvdULP32 != 0)
	k.flag(g.MO == 0)
	k.flag(s.Queues[g.QN].Seen)
	k.flag(g.MSN == 1)
	k.flag(m != nil && g.MSN == m.MSN+1)
	return k.v
}

// unusual reports whether rules depend on more of a segment than its shape tells: where it lies in its
// message, from one offset to another, or what it answers.
func (s *Segment) unusual(rel Relation, m *Message, from, to uint64) bool {
	switch rel {
	case Renamed, Behind, Within, Rest:
		return true
	case GoesOn:
		if from < m.high || to <= from || s.inside(m) != nil {
			return true
		}
	default:
	}
	if k := s.Chain.suspected; k != nil && k.n > 0 && !s.DDP.Tagged {
		return true // numbers may skip what an FPDU reaches over
	}
	if s.ResumesWrite() {
		return true // and no other one lacks its L
	}
	answers := s.Op == OpReadResponse && !s.Answer.plain(s) || s.Op == OpAtomicResponse
	return answers || s.OpenBeside() != nil || to < from || len(s.Head) == 0
}

// DiffersFromMixed reports whether a segment is the first one whose RDMAP version is not that
// of a first segment that mixed its versions.
func (s *Segment) DiffersFromMixed() bool {
	return s.Mixed&(mixedSet|mixedChanged) == mixedSet && s.PDU.Control.RV != s.Mixed.RV()
}

// mixed is the RDMAP version of the first segment of a direction, if it does not go together
// with its DDP version; and whether another one came since.
type mixed uint8

const (
	mixedSet mixed = 1 << (iota + 2)
	mixedChanged
)

// RV is that version.
func (m mixed) RV() uint8 { return uint8(m &^ (mixedSet | mixedChanged)) }

// Touching are the opcodes of segments that are about memory of the peer.
var Touching = OpcodeSet(OpWrite, OpReadRequest, OpAtomicRequest, rdmap.OpSendInv, rdmap.OpSendSEInv)

// untouched reports whether a Write adds nothing about the memory: it continues the one
// before, nothing was invalidated, and no atomic is outstanding.
func (s *Segment) untouched() bool {
	return s.DDP.Tagged && s.Octets > 0 && s.met == met{s.DDP.STag, true} && len(s.gone) == 0 && s.atomicsOut == 0
}

// shape is that of a message of one segment.
func (m *Message) shape(have catalogue.Gate) Shape {
	if m.Segments() != 1 || m.More > 0 || !m.Tagged && m.Runs[0].From != 0 {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.put(uint64(have), gateBits)
	k.flag(m.Tagged)
	return k.v
}

package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Nearly all FPDUs of a direction look alike to most rules. A rule that looks at
// nothing but the shape of an event has said all it can once it was asked about
// that shape and all was well; then it need not be asked again.

// shapes are those of a half that all was well with.
type shapes struct {
	fpdus, messages [4]shape
	segments        [12]shape
}

// shape is what rules look at, packed; 0 is none.
type shape uint64

// packed builds a shape of fields of some bits each.
type packed struct {
	v shape
	n uint
}

func (p *packed) put(v uint64, bits uint) {
	p.v |= shape(v) & (1<<bits - 1) << p.n
	p.n += bits
}

func (p *packed) flag(b bool) {
	if b {
		p.v |= 1 << p.n
	}
	p.n++
}

// seen are shapes that were seen, each in a place of its own: a later one may take
// it.
type seen []shape

func (s seen) at(k shape) *shape { return &s[k*0x9e3779b97f4a7c15>>32*shape(len(s))>>32] }

func (s seen) has(k shape) bool { return k != 0 && *s.at(k) == k }

func (s seen) add(k shape) { *s.at(k) = k }

// gateBits is the room for gates in a shape.
const gateBits = uint(len(gateNames))

// shape is that of an FPDU that is usual: without faults, and with right markers if
// there are some.
func (e *fpdu) shape(c *conn, have Gate) shape {
	f := e.f
	if f.CRCStatus == mpa.CRCBad || !f.PadZero() || f.ULPDULength > mpa.MaxULPDU ||
		f.Sync != mpa.InSync || f.Unsent > 0 || e.count == 0 {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.put(uint64(have), gateBits)
	k.put(uint64(f.CRCStatus), 2)
	k.put(uint64(c.t.CRC), 2)
	k.put(uint64(f.PadLen), 2) //nolint:gosec // at most 3
	k.flag(f.PadKnown)
	k.flag(e.hole)
	k.flag(c.t.Flow[e.dir].Cut)
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
	k.flag(e.marked(c))
	k.flag(e.p.From+e.p.Length > int64(1)<<32-int64(c.t.Flow[e.dir].Base)) // the sequence numbers have wrapped
	return k.v
}

// shape is that of a segment: its header, and how it stands to what came before.
// There is none where only the details tell.
func (s *segment) shape(have Gate) shape {
	g, p := s.seg, s.peer
	rel, m := s.relate()
	from, to := s.span()
	if rel == renamed || rel == behind || rel == goesOn && (from < m.high || to <= from) || s.others(m) || to < from || len(s.head) == 0 {
		return 0
	}
	if s.op == opReadResponse && !s.ans.plain(s) || s.op == opAtomicResponse {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.flag(s.ans.begins)
	k.put(uint64(have), gateBits)
	k.put(uint64(s.head[0]), 8)
	k.put(uint64(g.RsvdULP), 8)
	k.flag(s.octets > 0)
	k.flag(s.hasVersions)
	k.put(uint64(s.dv), 2)
	k.put(uint64(s.rv), 2)
	k.flag(p.hasVersions)
	k.put(uint64(p.dv), 2)
	k.flag(s.isFirst)
	k.flag(s.terminates > 0)
	k.put(uint64(rel), 3)
	if m != nil {
		k.flag(m.there)
		k.flag(m.done)
		k.flag(g.RsvdULP == m.control && (g.Tagged || g.RsvdULP32 == m.field))
	}
	if g.Tagged {
		return k.v
	}
	if g.QN >= uint32(len(s.queues)) || s.queues[g.QN].strays > 0 || m != nil && (m.msn == 0xffffffff || m.hasAlias) || to > 0xffffffff {
		return 0
	}
	k.put(uint64(g.QN), 2)
	k.flag(g.RsvdULP32 != 0)
	k.flag(g.MO == 0)
	k.flag(s.queues[g.QN].seen)
	k.flag(g.MSN == 1)
	k.flag(m != nil && g.MSN == m.msn+1)
	return k.v
}

// touching are the opcodes of segments that are about memory of the peer.
var touching = on(opWrite, opReadRequest, opAtomicRequest, rdmap.OpSendInv, rdmap.OpSendSEInv)

// untouched reports whether a Write says nothing new about that memory: it is
// where the one before was, nothing was invalidated, and no atomic is outstanding.
func (s *segment) untouched() bool {
	return s.seg.Tagged && s.octets > 0 && s.met == place{s.seg.STag, 1} && len(s.gone) == 0 && s.atomicsOut == 0
}

// others reports whether a message of the half is open besides one.
func (s *segment) others(m *message) bool {
	for i := range s.queues {
		if x := s.queues[i].msg; x != m && x.open() {
			return true
		}
	}
	for i := range s.tagged {
		if x := s.tagged[i].msg; x != m && x.open() {
			return true
		}
	}
	return false
}

// shape is that of a message of one segment.
func (m *message) shape(have Gate) shape {
	if m.segments() != 1 || m.more > 0 || !m.tagged && m.runs[0].from != 0 {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.put(uint64(have), gateBits)
	k.flag(m.tagged)
	return k.v
}

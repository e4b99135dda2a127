package analysis

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// onlyDamaged is why a gap is one that the capture has nevertheless.
const onlyDamaged = "only in packets that were damaged on their way"

// damagedIn notes that so many octets or chunks of a gap of n stand in packets that were left out.
func damagedIn(k *trace.Faults, damaged, n int64) {
	k.DamagedOctets += uint64(damaged) //nolint:gosec // not negative
	if damaged == n {
		k.DamagedGaps++
	}
}

// leftOut is what a packet that was left out carried of a stream.
type leftOut struct{ from, to int64 }

// maxLeftOut bounds the packets of a side that were left out and may come again.
const maxLeftOut = 64

// LeaveOut notes a packet that is left out because it was damaged on its way. Octets that stand in no other
// packet are missing, and yet the capture did not lose them.
func (c *Conn) LeaveOut(side int, s *reassembly.Segment) {
	from, to, ok := c.Span(side, s)
	if !ok {
		return
	}
	h := &c.dirs[side]
	if h.unusual == nil {
		h.unusual = new(unusual)
	}
	u, next := h.unusual, c.tcp.Direction(side).Next()
	u.leftOut = slices.DeleteFunc(u.leftOut, func(l leftOut) bool { return l.to <= next })
	if len(u.leftOut) < maxLeftOut {
		u.leftOut = append(u.leftOut, leftOut{from, to})
	}
	c.weigh(side)
}

// maxBreaks bounds the damaged places of the file that are remembered of a side.
const maxBreaks = 16

// FileDamaged notes that the capture file is damaged between the packets that came and those to come: a gap that
// begins where a side stands now may be due to that.
func (c *Conn) FileDamaged() {
	for side := range c.dirs {
		d, h := c.tcp.Direction(side), &c.dirs[side]
		if !d.Started() {
			continue
		}
		if h.unusual == nil {
			h.unusual = new(unusual)
		}
		u := h.unusual
		u.breaks = slices.DeleteFunc(u.breaks, func(at int64) bool { return at < d.Next() })
		if len(u.breaks) < maxBreaks {
			u.breaks = append(u.breaks, d.High())
		}
		c.weigh(side)
	}
}

// within counts the octets of a part of the stream that stand in packets that were left out.
func (u *unusual) within(from, to int64) (octets int64) {
	if u == nil {
		return 0
	}
	slices.SortFunc(u.leftOut, func(a, b leftOut) int { return cmp.Compare(a.from, b.from) })
	for _, l := range u.leftOut {
		if l.from, l.to = max(l.from, from), min(l.to, to); l.to > l.from {
			octets += l.to - l.from
			from = l.to
		}
	}
	return octets
}

// leftOutChunk is a chunk of DDP in a packet that was left out.
type leftOutChunk struct {
	sid, ssn uint16
	tsn      uint32
}

// leaveOut notes the chunks in a packet that is left out, as far as the damage lets them be read.
func (a *Association) leaveOut(side int, p *Packet) {
	// What came again since, whole, is not left out.
	l := slices.DeleteFunc(a.leftOut[side], func(c leftOutChunk) bool { return a.asm.Wide(side, c.tsn) < a.asm.FirstMissing(side) })
	var c sctp.Chunk
	for off := sctp.HeaderLen; off < len(p.Octets); {
		size, err := c.Decode(p.Octets[off:], p.Length-off)
		if err != nil || size == 0 {
			break
		}
		off += size
		if !userData(c.Type) {
			continue
		}
		d, err := sctp.DecodeData(&c)
		if err == nil && d.Begin() && (d.PPID == sctpddp.PPIDSegment || d.PPID == sctpddp.PPIDControl) && len(d.Octets) >= 2 {
			if len(l) == maxLeftOut {
				l = l[:copy(l, l[1:])]
			}
			l = append(l, leftOutChunk{d.SID, binary.BigEndian.Uint16(d.Octets), d.TSN})
		}
	}
	a.leftOut[side] = l
}

// leftOutOf counts the DDP-SSNs of a stream, n of them from one on, that stand in packets that were left out.
func (a *Association) leftOutOf(side int, sid, from uint16, n int64) (chunks int64) {
	seen := map[uint16]bool{}
	for _, l := range a.leftOut[side] {
		if l.sid == sid && int64(l.ssn-from) < n {
			seen[l.ssn] = true
		}
	}
	return int64(len(seen))
}

package mpa

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"runtime"
	"sync/atomic"
)

// gathering is an FPDU of several segments whose octets are put together, and
// verified, by who verifies CRCs later. The decoder itself looks at its first and
// its last octets alone; when more is needed after all it waits for the rest.
type gathering struct {
	buf  []byte // as long as the FPDU
	have int    // octets that were handed over
	n    int    // ULPDU_Length
	head [lengthSize + headSize]byte
	tail [maxPad + crcSize]byte
	done atomic.Int64 // octets that are in buf
}

const (
	maxPad = 3
	// leastGathered is the size from which it pays, in octets.
	leastGathered = 4 << 10
)

// sure reports whether nothing about the place of the next FPDU is unusual.
func (d *Decoder) sure() bool {
	return d.crc && d.framing == TriOf(d.markers) && !d.seek.on && !d.unsure && !d.ended && !d.stopped && d.gapAt < 0 &&
		len(d.suspect) == 0 && len(d.holes) == 0 && !d.seek.force && d.seek.found == InSync
}

// gathers reports whether the FPDU of n and size octets, of which some wait in the
// buffer, is left to who verifies CRCs.
func (d *Decoder) gathers(n, size int) bool {
	q := d.cfg.Deferred
	return q != nil && q.On && d.cfg.Memory != nil && !d.markers && !d.cfg.Gather && d.sure() && d.await == 0 && d.jumpTo == 0 &&
		size >= leastGathered && size <= 2*d.last && n >= MinULPDU && n <= MaxULPDU && size > len(d.buf)-d.rd+len(d.in)
}

// gather begins with the octets that wait in the buffer.
func (d *Decoder) gather(n, size int) {
	g := d.cfg.Deferred.gathering()
	g.buf, g.have, g.n = d.cfg.Memory.get(size)[:size], 0, n
	g.done.Store(0)
	b := d.buf[d.rd:]
	g.note(b)
	copy(g.buf, b)
	g.have = len(b)
	g.done.Add(int64(len(b)))
	d.empty()
	d.g = g
}

// note keeps what of the octets is at the front or the end of the FPDU.
func (g *gathering) note(b []byte) {
	if g.have < len(g.head) {
		copy(g.head[g.have:], b)
	}
	if from := len(g.buf) - len(g.tail); g.have+len(b) > from {
		at := g.have - from
		copy(g.tail[max(at, 0):], b[max(-at, 0):])
	}
}

// gathered takes in what there is of the FPDU.
func (d *Decoder) gathered() (Event, bool) {
	g, q := d.g, d.cfg.Deferred
	switch {
	case len(d.in) > 0 && !q.On, d.ended, d.jumpTo > 0:
		d.ungather()
		return None, false
	case len(d.in) == 0:
		return None, true
	}
	b := d.in[:min(len(d.in), len(g.buf)-g.have)]
	d.in = d.in[len(b):]
	g.note(b)
	q.pending = append(q.pending, promise{wire: b, at: g.have, into: g})
	if g.have += len(b); g.have < len(g.buf) {
		return None, true
	}
	f := d.FPDU
	size := len(g.buf)
	f.Offset, f.Size, f.Lead, f.ULPDULength, f.Wire, f.ULPDU = d.off, size, false, uint16(g.n), nil, nil //nolint:gosec // read from 16 bits
	f.Markers, f.Missing, f.Unsent, f.Captured, f.Sync = f.Markers[:0], f.Missing[:0], 0, Full, InSync
	f.Head = g.head[lengthSize : lengthSize+min(g.n, headSize)]
	f.PadLen, f.PadKnown, f.Pad = PadLen(g.n), true, [3]byte{}
	copy(f.Pad[:], g.tail[maxPad-f.PadLen:maxPad])
	f.CRC = binary.BigEndian.Uint32(g.tail[maxPad:])
	f.WantCRC, f.HasCRC, f.CRCStatus = f.CRC, true, CRCGood
	d.off += int64(size)
	d.prior, d.priorEnd, d.last = f.CRC, d.off, size
	d.cfg.Memory.used -= cap(g.buf) // it comes back by another way
	d.cfg.Deferred.taken(d.cfg.Memory)
	d.g = nil
	return Got, true
}

// ungather waits until all octets that there are lie in the buffer, and goes on with
// them as with any.
func (d *Decoder) ungather() {
	g := d.g
	if g == nil {
		return
	}
	d.g = nil
	q := d.cfg.Deferred
	q.Take()()
	// Others are at it, until something is wrong: then all is void anyway.
	for g.done.Load() < int64(g.have) && !q.Bad() {
		runtime.Gosched()
	}
	d.buf, d.rd = g.buf[:g.have], 0
	if q.Bad() {
		d.cfg.Memory.used -= cap(g.buf)
		d.buf = d.cfg.Memory.get(g.have)[:g.have] // others may still write to that one
	}
	g.buf = nil
}

// abandon leaves the octets to the garbage collector, while others may still write
// them.
func (d *Decoder) abandon() {
	if d.g != nil {
		d.cfg.Memory.used -= cap(d.g.buf)
		d.g = nil
	}
}

// put puts a piece where it belongs. It reports false if with it the FPDU is whole
// and its CRC wrong.
func (g *gathering) put(at int, b []byte) (right, whole bool) {
	copy(g.buf[at:], b)
	size := len(g.buf)
	if g.done.Add(int64(len(b))) < int64(size) {
		return true, false
	}
	sum := crc32.Checksum(g.buf[:size-crcSize], castagnoli)
	return bits.ReverseBytes32(sum) == binary.BigEndian.Uint32(g.buf[size-crcSize:]), true
}

// gathering returns one that is not in use.
func (q *Deferred) gathering() *gathering {
	if n := len(q.free); n > 0 {
		g := q.free[n-1]
		q.free = q.free[:n-1]
		return g
	}
	return new(gathering)
}

// taken takes back what was verified.
func (q *Deferred) taken(m *Memory) {
	for {
		select {
		case g := <-q.back:
			m.used += cap(g.buf)
			m.put(g.buf)
			g.buf = nil
			q.free = append(q.free, g)
		default:
			return
		}
	}
}

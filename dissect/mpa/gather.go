package mpa

import (
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// gathering is an FPDU of several segments whose octets are put together, and
// verified, by who verifies CRCs later. The decoder itself looks at its first and
// its last octets alone; when more is needed after all it waits for the rest.
type gathering struct {
	size int // of the FPDU, in octets
	have int // octets that were handed over
	n    int // ULPDU_Length
	head [lengthSize + headSize]byte
	tail [maxPad + crcSize]byte

	_ [64]byte // the rest is written by others, meanwhile

	mu   sync.Mutex
	buf  []byte // as long as the FPDU, nil before the first of them
	done int    // octets that are in buf
	sum  uint32 // CRC32c of the first at of them
	at   int
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

// gathers reports whether the FPDU of size octets, with an ULPDU of n, of which there is
// only a part yet, is left to who verifies CRCs.
func (d *Decoder) gathers(n, size int) bool {
	q := d.cfg.Deferred
	return q != nil && q.On && d.cfg.Memory != nil && !d.markers && !d.cfg.Gather && d.sure() && d.await == 0 && d.jumpTo == 0 &&
		size >= leastGathered && size <= 2*d.long && n >= MinULPDU && n <= MaxULPDU && size > len(d.buf)-d.rd+len(d.in)
}

// gather begins with the octets that wait in the buffer, if there are any.
func (d *Decoder) gather(n, size int) {
	g := d.cfg.Deferred.stock.gathering()
	g.size, g.n, g.have = size, n, 0
	d.cfg.Memory.used += roomFor(size)
	if b := d.buf[d.rd:]; len(b) > 0 {
		g.note(b)
		g.put([]promise{{wire: b, into: g}}, d.cfg.Deferred.stock)
		g.have = len(b)
	}
	d.empty()
	d.g = g
}

// note keeps what of the octets is at the front or the end of the FPDU.
func (g *gathering) note(b []byte) {
	if g.have < len(g.head) {
		copy(g.head[g.have:], b)
	}
	if from := g.size - len(g.tail); g.have+len(b) > from {
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
	b := d.in[:min(len(d.in), g.size-g.have)]
	d.in = d.in[len(b):]
	g.note(b)
	q.pending = append(q.pending, promise{wire: b, at: g.have, into: g})
	if g.have += len(b); g.have < g.size {
		return None, true
	}
	f := d.FPDU
	size := g.size
	f.Offset, f.Size, f.Lead, f.ULPDULength, f.Wire, f.ULPDU = d.off, size, false, uint16(g.n), nil, nil //nolint:gosec // read from 16 bits
	f.Markers, f.Missing, f.Unsent, f.Captured, f.Sync = f.Markers[:0], f.Missing[:0], 0, Full, InSync
	f.Head = g.head[lengthSize : lengthSize+min(g.n, headSize)]
	f.PadLen, f.PadKnown, f.Pad = PadLen(g.n), true, [3]byte{}
	copy(f.Pad[:], g.tail[maxPad-f.PadLen:maxPad])
	f.CRC = binary.BigEndian.Uint32(g.tail[maxPad:])
	f.WantCRC, f.HasCRC, f.CRCStatus = f.CRC, true, CRCGood
	d.off += int64(size)
	d.prior, d.priorEnd, d.long = f.CRC, d.off, d.believed(size)
	d.cfg.Memory.used -= roomFor(size)
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
	b := g.octets()
	for ; b == nil && !q.Bad(); b = g.octets() {
		runtime.Gosched()
	}
	if b == nil {
		d.cfg.Memory.used -= roomFor(g.size)
		b = d.cfg.Memory.get(g.have)[:g.have]
	}
	d.buf, d.rd = b, 0
}

// octets are all that were handed over, or nil if they are not there yet.
func (g *gathering) octets() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done < g.have {
		return nil
	}
	return g.buf[:g.have]
}

// abandon leaves the octets to the garbage collector, while others may still write
// them.
func (d *Decoder) abandon() {
	if d.g != nil {
		d.cfg.Memory.used -= roomFor(d.g.size)
		d.g = nil
	}
}

// put puts pieces of the FPDU, those at the front of the list, where they belong, and
// returns how many. It reports false if with them it is whole and its CRC wrong.
func (g *gathering) put(list []promise, from *stock) (n int, right bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for right = true; right && n < len(list) && list[n].into == g; n++ {
		right = g.piece(list[n].at, list[n].wire, from)
	}
	return n, right
}

func (g *gathering) piece(at int, b []byte, from *stock) (right bool) {
	if g.buf == nil {
		g.buf = from.get(g.size)
	}
	copy(g.buf[at:], b)
	g.done += len(b)
	end := g.size - crcSize
	if at == g.at { // while they are in the cache
		b = b[:min(len(b), end-at)]
		g.sum = crc32c.Update(g.sum, b)
		g.at += len(b)
	}
	if g.done < g.size {
		return true
	}
	sum := crc32c.Update(g.sum, g.buf[g.at:end])
	right = sum == binary.LittleEndian.Uint32(g.buf[end:])
	buf := g.buf
	g.buf, g.done, g.sum, g.at = nil, 0, 0, 0
	from.put(g, buf)
	return right
}

// stock is what is not in use, for all who verify: the buffer that came back last goes
// first, as it is in the cache.
type stock struct {
	mu    sync.Mutex
	free  []*gathering
	idle  [maxPages + 1][][]byte // by pages
	spare int                    // octets of them
}

const (
	page     = 4 << 10
	maxPages = (lengthSize + MaxULPDU + maxPad + crcSize + page - 1) / page
)

// roomFor is the size of the buffer for an FPDU, in octets.
func roomFor(size int) int { return (size + page - 1) &^ (page - 1) }

func (s *stock) get(size int) []byte {
	room := roomFor(size)
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := &s.idle[room/page]
	n := len(*idle)
	if n == 0 {
		return make([]byte, size, room)
	}
	b := (*idle)[n-1]
	*idle = (*idle)[:n-1]
	s.spare -= room
	return b[:size]
}

// put takes back what was verified.
func (s *stock) put(g *gathering, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, g)
	if s.spare+cap(b) <= maxSpare {
		s.idle[cap(b)/page] = append(s.idle[cap(b)/page], b)
		s.spare += cap(b)
	}
}

func (s *stock) gathering() *gathering {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return new(gathering)
	}
	g := s.free[n-1]
	s.free = s.free[:n-1]
	return g
}

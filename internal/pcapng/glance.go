package pcapng

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// Early names a record that was shown to [Ahead.Glance] before it was read. The zero
// value is that of one that was not.
type Early struct {
	// Block is the number of the buffer that it is in, below Blocks.
	Block int32
	// Nth is its place among those of this block that were shown, from 1.
	Nth int32
}

// Blocks is the number of buffers.
const Blocks = aheadBlocks

// glance is a record that was shown: where its packet and the record itself end in the
// buffer, and its time, if the file is in the classic format.
type glance struct {
	data, end int32
	time      int64
}

// MaxGlances bounds the packets of a block that are shown.
const MaxGlances = 512

// glancer follows the records of a file through its blocks, until one is odd. It judges
// nothing: the reader does, who takes a glance for what it is only where it comes to the
// record itself.
type glancer struct {
	shows atomic.Pointer[shows]
	spare int // for how many blocks more records are shown

	head [enhancedData]byte // of what began in the last block
	n    int                // octets of it
	skip int                // octets of a record that are still to come
	lost bool
	open bool // it is known what kind of file this is
	ng   bool
	classic
}

// Look is shown records in the goroutine that reads ahead: what they captured of a
// packet, borrowed until the next record is read from another block, and how many octets
// that had on the wire.
type Look func(at Early, data []byte, origLen uint32)

// shows is who is shown records.
type shows struct {
	look   Look
	always bool
}

// spareFor is for how many blocks records are shown once who reads had to wait for a
// buffer. It takes time, which is not worth it where there is none to spare.
const spareFor = 4

// idle says that it had to wait, busy that it had not.
func (g *glancer) idle() { g.spare = spareFor }
func (g *glancer) busy() { g.spare = max(g.spare-1, 0) }

// piece is what a file consists of: a header, a record, a block.
type piece struct {
	total   int    // octets
	data, n int    // where the packet is, and what was captured of it; 0: there is none
	orig    uint32 // octets of it on the wire
	time    int64  // in the classic format
}

// block looks through buf[from:to], and appends the records that were shown.
func (g *glancer) block(id int32, buf []byte, from, to int, seen []glance) []glance {
	var look Look
	if s := g.shows.Load(); s != nil && (s.always || g.spare > 0) {
		look = s.look
	}
	for at := from - g.n; !g.lost; {
		step := min(g.skip, to-at)
		at += step
		if g.skip -= step; at == to {
			g.n = 0
			return seen
		}
		if look == nil && g.open && !g.ng && at >= from {
			at = g.stride(buf[:to], at)
		}
		h := buf[max(at, from):to]
		if at < from { // in the octets of the last block it begins
			h = g.head[:g.n+copy(g.head[g.n:], h)]
		}
		p, ok := g.piece(h)
		if !ok {
			g.n = copy(g.head[:], h)
			return seen
		}
		data, end := at+p.data, at+p.data+p.n
		if look != nil && p.n > 0 && !g.lost && data >= from && end <= to && len(seen) < MaxGlances {
			seen = append(seen, glance{int32(data), int32(end), p.time}) //nolint:gosec // in a buffer
			look(Early{id, int32(len(seen))}, buf[data:end:end], p.orig) //nolint:gosec // at most MaxGlances
		}
		g.skip = p.total - max(from-at, 0)
		at = max(at, from)
		g.lost = g.lost || g.skip < 0
	}
	return seen
}

// stride goes from a record in the classic format that begins at an octet on to the last
// one of which the header is there: nobody is shown any.
func (g *glancer) stride(buf []byte, at int) int {
	for {
		if len(buf)-at < g.hdr {
			return at
		}
		h := buf[at : at+recordLen : at+recordLen]
		incl := binary.LittleEndian.Uint32(h[8:])
		if g.big {
			incl = bits.ReverseBytes32(incl)
		}
		next := at + g.hdr + int(incl)
		if incl > g.limit || next > len(buf) {
			return at
		}
		at = next
	}
}

// piece tells of what begins with h; it is not ok if more of that has to be there.
func (g *glancer) piece(h []byte) (p piece, ok bool) {
	switch {
	case !g.open && len(h) < fileHeaderLen:
		return p, false
	case !g.open:
		g.open, g.ng = true, binary.LittleEndian.Uint32(h) == magicSection
		if !g.ng {
			g.lost = !g.classic.open(h)
			return piece{total: fileHeaderLen}, true
		}
	}
	if g.ng {
		return g.ngPiece(h)
	}
	if len(h) < g.hdr {
		return p, false
	}
	incl, orig := g.u32(h[8:]), g.u32(h[12:])
	g.lost = incl > g.limit || incl > orig
	return piece{total: g.hdr + int(incl), data: g.hdr, n: int(incl), orig: orig, time: g.time(h)}, true
}

func (g *glancer) ngPiece(h []byte) (p piece, ok bool) {
	if len(h) < minBlock {
		return p, false
	}
	kind := g.u32(h)
	if kind == blockSection {
		g.big = binary.LittleEndian.Uint32(h[8:]) != orderMagic
	}
	p.total = int(g.u32(h[4:]))
	g.lost = p.total < minBlock || p.total > maxBlock
	if kind != blockEnhanced || p.total < minEnhanced {
		return p, true
	}
	if len(h) < enhancedData {
		return p, false
	}
	if incl := int(g.u32(h[20:])); incl <= p.total-minEnhanced {
		p.data, p.n, p.orig = enhancedData, incl, g.u32(h[24:])
	}
	return p, true
}

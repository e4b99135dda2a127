package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// Some senders pad no FPDU, although RFC 5044 section 4.1 has a pad in each whose length asks for one. Read with the pad, such an FPDU
// reaches into the next one. Where CRCs are in use they tell where it ends; else the FPDUs that follow do.

// enoughUnpadded is how many FPDUs in a row have to make sense without pads, and fewUnpadded how many of them would have one.
const enoughUnpadded, fewUnpadded = 3, 2

// padLen is the number of pad octets that are behind an ULPDU of n octets.
func (d *Decoder) padLen(n int) int {
	if d.pads == No {
		return 0
	}
	return PadLen(n)
}

// lacksPad reports whether an FPDU w that was framed with a pad has none, and puts it back to be framed without, or with more octets to
// tell. Without CRCs it is asked until a direction has shown whether its FPDUs have pads.
func (d *Decoder) lacksPad(w []byte, n int) bool {
	if d.crc {
		return d.padDiffers(w, n)
	}
	if PadLen(n) == 0 || d.cfg.CRC != No || len(d.holes()) > 0 {
		return false
	}
	size := d.unpaddedSize(n)
	x := d.spread(w[size:])
	behind := x.len() - (len(w) - size)
	if behind == 0 {
		return false // what follows tells, and did not come
	}
	switch d.unpadded(&x, w, n) {
	case wait:
		d.unread(w)
		d.await = int32(len(w) + behind + 1) //nolint:gosec // of a few FPDUs
		return true
	case confirm:
		d.unread(w)
		d.pads = No
		return true
	default:
		d.pads = Yes
		return false
	}
}

// padDiffers is lacksPad for an FPDU with a wrong CRC. One alone without a pad is left as it is, and so is the first of several: the
// other side looks for the CRC where it is now.
func (d *Decoder) padDiffers(w []byte, n int) bool {
	pad := PadLen(n)
	if pad == 0 || len(d.holes()) > 0 {
		return false
	}
	if d.pads == No {
		d.pads = Unknown
		size := d.size(d.off, n)
		if x := d.spread(w); x.right(0, size) {
			d.unread(w)
			return true
		}
		d.pads = No
		return false
	}
	size := d.unpaddedSize(n)
	if !rightCRC(w[:size]) {
		return false
	}
	x := d.spread(w[size:])
	switch d.unpadded(&x, w, n) {
	case wait:
		d.unread(w)
		d.await = int32(size + x.len() + 1) //nolint:gosec // of a few FPDUs
		return true
	case confirm:
		d.noPads = true
	default:
	}
	return false
}

// unpaddedSize is the number of octets of the next FPDU, which has an ULPDU of n octets, if it has no pad.
func (d *Decoder) unpaddedSize(n int) int {
	pads := d.pads
	d.pads = No
	size := d.size(d.off, n)
	d.pads = pads
	return size
}

// unpadded judges whether octets are FPDUs without pads, behind an FPDU w without one, and are none with it.
func (d *Decoder) unpadded(x *spread, w []byte, n int) verdict {
	off := d.off + int64(len(w)-len(x[0]))
	if _, v := d.headIn(x, off, len(x[0])); v != reject {
		if v == confirm {
			v = reject // the next one is where the pad ends
		}
		return v
	}
	lead := d.lead(d.off)
	prev := nextHead{n: n}
	copy(prev.head[:], d.headAt(w[:min(len(w), lead+lengthSize+MarkerSize+minHead)], d.off, lead, n))
	pads := d.pads
	d.pads = No
	defer func() { d.pads = pads }()
	at, lacking := 0, 1
	for count := 1; ; count++ {
		switch end := at == x.len(); {
		case lacking >= fewUnpadded && (count >= enoughUnpadded || end || d.crc):
			return confirm // it ends where a TCP segment does
		case count >= enoughUnpadded, end && d.ended:
			return reject
		}
		next, v := d.headIn(x, off, at)
		switch {
		case v != confirm:
			return v
		case !d.cfg.Grammar.Follows(prev.head[:], prev.n, next.head[:min(next.n, minHead)]):
			return reject
		}
		if prev = next; PadLen(next.n) > 0 {
			lacking++
		}
		size := d.size(off+int64(at), next.n)
		switch whole := at+size <= x.len(); {
		case !whole && (d.ended || d.jumps()), whole && d.crc && !x.right(at, size):
			return reject
		case !whole:
			return wait
		}
		at += size
	}
}

// nextHead is the head of an ULPDU of n octets.
type nextHead struct {
	head [minHead]byte
	n    int
}

// headIn reads the head of an FPDU at a place of octets from an offset on: wait, if there are too few of them, and reject, if it is none.
func (d *Decoder) headIn(x *spread, off int64, at int) (h nextHead, v verdict) {
	var b [MarkerSize + lengthSize + MarkerSize + minHead]byte
	have := x.read(b[:], at)
	off += int64(at)
	lead := d.lead(off)
	h.n = int(binary.BigEndian.Uint16(b[lead:]))
	head := d.headAt(b[:have], off, lead, h.n)
	copy(h.head[:], head)
	switch there := have >= lead+lengthSize; {
	case there && (lead > 0 && binary.BigEndian.Uint32(b[:]) != 0 || h.n < MinULPDU || h.n > MaxULPDU):
		return h, reject
	case !there || len(head) < min(minHead, h.n):
		if d.ended || d.jumps() {
			return h, reject
		}
		return h, wait
	case !d.cfg.Grammar.Strict(head[:min(h.n, minHead)], h.n):
		return h, reject
	}
	return h, confirm
}

// spread are the octets in front of those that are not framed, and these.
func (d *Decoder) spread(front []byte) spread {
	var rest []byte
	if len(d.buf) > 0 {
		rest = d.buf[d.rd:]
	}
	return spread{front, rest, d.in}
}

// spread are octets that follow each other, in several pieces.
type spread [3][]byte

func (x *spread) len() int { return len(x[0]) + len(x[1]) + len(x[2]) }

// read copies octets from a place on, as many as there are and fit.
func (x *spread) read(to []byte, at int) (n int) {
	for _, b := range x {
		if at < len(b) {
			n += copy(to[n:], b[at:])
		}
		at = max(at-len(b), 0)
	}
	return n
}

// right reports whether size octets from a place on are there and end with the CRC32c of those before.
func (x *spread) right(at, size int) bool {
	if at+size > x.len() {
		return false
	}
	var crc uint32
	left, skip := size-crcSize, at
	for _, b := range x {
		from := min(skip, len(b))
		skip -= from
		n := min(len(b)-from, left)
		crc = crc32c.Update(crc, b[from:from+n])
		left -= n
	}
	var field [crcSize]byte
	x.read(field[:], at+size-crcSize)
	return crc == binary.LittleEndian.Uint32(field[:])
}

package mpa

import "encoding/binary"

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
// tell. It is asked until a direction has shown whether its FPDUs have pads.
func (d *Decoder) lacksPad(w []byte, n int) bool {
	pad := PadLen(n)
	if pad == 0 || !d.crcOff() || len(d.holes()) > 0 {
		return false
	}
	var rest []byte
	if len(d.buf) > 0 {
		rest = d.buf[d.rd:]
	}
	behind := len(rest) + len(d.in)
	if behind == 0 {
		return false // what follows tells, and did not come
	}
	x := spread{w[len(w)-pad:], rest, d.in}
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

// unpadded judges whether octets are FPDUs without pads, behind an FPDU w without one, and are none with it.
func (d *Decoder) unpadded(x *spread, w []byte, n int) verdict {
	switch _, _, v := d.headIn(x, PadLen(n)); v {
	case confirm:
		return reject // the next one is where the pad ends
	case wait:
		return wait
	default:
	}
	var prev [minHead]byte
	copy(prev[:], w[lengthSize:])
	at, lacking := 0, 1
	for count := 1; ; count++ {
		switch end := at == x.len(); {
		case lacking >= fewUnpadded && (count >= enoughUnpadded || end):
			return confirm // it ends where a TCP segment does
		case count >= enoughUnpadded, end && d.ended:
			return reject
		}
		head, next, v := d.headIn(x, at)
		switch {
		case v != confirm:
			return v
		case !d.cfg.Grammar.Follows(prev[:], n, head[:min(next, minHead)]):
			return reject
		}
		if prev, n = head, next; PadLen(n) > 0 {
			lacking++
		}
		if at += lengthSize + n + crcSize; at > x.len() {
			if d.ended || d.jumps() {
				return reject
			}
			return wait
		}
	}
}

// headIn reads the head of an FPDU at a place, and its length: wait, if there are too few octets, and reject, if it is none.
func (d *Decoder) headIn(x *spread, at int) (head [minHead]byte, n int, v verdict) {
	var b [lengthSize + minHead]byte
	have := x.read(b[:], at)
	n = int(binary.BigEndian.Uint16(b[:]))
	switch {
	case have < min(len(b), lengthSize+max(n, MinULPDU)):
		if d.ended || d.jumps() {
			return head, n, reject
		}
		return head, n, wait
	case n < MinULPDU || n > MaxULPDU || !d.cfg.Grammar.Strict(b[lengthSize:lengthSize+min(n, minHead)], n):
		return head, n, reject
	}
	copy(head[:], b[lengthSize:])
	return head, n, confirm
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

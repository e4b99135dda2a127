package mpa

import "encoding/binary"

// bare reads octets after the last FPDU as FPDUs without a CRC field, during a search for
// FPDU boundaries: if CRCs are off, a sender may omit the field, although RFC 5044 section
// 4.1 has it in every FPDU.
type bare struct {
	on    bool
	at    int64 // where the next one begins
	count int   // the last FPDU included
	head  [lengthSize + minHead]byte
	have  int // octets of the next one in head, of those that were framed already
	prev  [minHead]byte
	prevN int
}

// begin follows them from the end of an FPDU whose last four octets are given.
func (k *bare) begin(end int64, field uint32) {
	*k = bare{on: true, at: end - crcSize, count: 1, have: crcSize}
	binary.BigEndian.PutUint32(k.head[:], field)
}

// followed is how many of them follow each other.
func (k *bare) followed() int {
	if k == nil {
		return 0
	}
	return k.count
}

// follow processes what is at hand.
func (d *Decoder) follow() {
	k := d.rare.bare
	for k != nil && k.on {
		from := d.rd + int(k.at+int64(k.have)-d.off)
		if from < d.rd || from > len(d.buf) || d.missing(k.at, k.at+int64(len(k.head))) {
			k.on = from > len(d.buf) // one that is still to come
			return
		}
		got := k.have + copy(k.head[k.have:], d.buf[from:])
		if got < lengthSize {
			return
		}
		n := int(binary.BigEndian.Uint16(k.head[:]))
		need := lengthSize + min(n, minHead)
		if got < need && n >= MinULPDU {
			return
		}
		head := k.head[lengthSize:max(need, lengthSize)]
		if n < MinULPDU || n > MaxULPDU || !d.cfg.Grammar.Strict(head, n) || k.count > 1 && !d.cfg.Grammar.Follows(k.prev[:], k.prevN, head) {
			k.on = false
			return
		}
		k.prev, k.prevN = [minHead]byte{}, n
		copy(k.prev[:], head)
		k.at += int64(lengthSize + n + PadLen(n))
		k.count++
		k.have = 0
	}
}

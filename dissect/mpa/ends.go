package mpa

import "encoding/binary"

// Ends is a copy of the first and the last octets of a TCP segment, as far as framing needs them.
// One goroutine can make it while the segment is in the cache of its processor; another one need
// not read the segment then, see [Decoder.Whole]. It is two cache lines long, of which mostly the
// first is read.
type Ends struct {
	last  [endsLast]byte
	first [endsFirst]byte
}

const (
	endsLast  = 8   // pad and CRC field, and an octet more
	endsFirst = 120 // marker, ULPDU_Length and the head of an ULPDU, and some more
)

// Copy copies the ends of a segment that has at least 8 octets.
func (e *Ends) Copy(b []byte) {
	e.last = [endsLast]byte(b[len(b)-endsLast:])
	if len(b) >= endsFirst {
		e.first = [endsFirst]byte(b)
		return
	}
	copy(e.first[:], b)
}

// crc is the CRC field of an FPDU that the segment ends with, read in network byte order.
func (e *Ends) crc() uint32 { return binary.BigEndian.Uint32(e.last[endsLast-crcSize:]) }

// pad is the pad of that FPDU, of n octets.
func (e *Ends) pad(n int) (pad [3]byte) {
	copy(pad[:], e.last[endsLast-crcSize-n:endsLast-crcSize])
	return pad
}

package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// Verified is what [Verify] found out about CRCs in the payload of a TCP segment. The zero
// value says nothing.
type Verified uint32

// oneFPDU is set when the last four octets are the CRC32c of all before them; else the
// value counts the octets at the front that are whole FPDUs without markers, each with a
// right CRC.
const oneFPDU Verified = 1 << 31

// Verify computes the CRCs of what looks like whole FPDUs in the payload of a TCP segment
// (RFC 5044 section 4). It knows nothing of the stream, so it may run before the segment's
// turn and in another goroutine. [Decoder.WriteVerified] and [Decoder.Whole] take the
// result and use it where the stream turns out to be framed that way; else they compute
// CRCs themselves. What they report does not depend on it.
func Verify(b []byte) Verified {
	good := 0
	for len(b)-good >= lengthSize+MinULPDU+crcSize {
		rest := b[good:]
		n := int(binary.BigEndian.Uint16(rest))
		size := lengthSize + n + PadLen(n) + crcSize
		if n < MinULPDU || n > MaxULPDU || size > len(rest) || !rightCRC(rest[:size]) {
			break
		}
		good += size
	}
	if good == 0 && fillsWithMarkers(b) && rightCRC(b) {
		return oneFPDU
	}
	return Verified(good) //nolint:gosec // the payload of an IP packet
}

// rightCRC reports whether the last four octets are the CRC32c of those before.
func rightCRC(b []byte) bool {
	n := len(b) - crcSize
	return crc32c.Checksum(b[:n]) == binary.LittleEndian.Uint32(b[n:])
}

// fillsWithMarkers reports whether the octets are as many as those of an FPDU that begins
// with them and has markers.
func fillsWithMarkers(b []byte) bool {
	if len(b) < MarkerSize+lengthSize+MinULPDU+crcSize {
		return false
	}
	at, least, most := 0, MarkerInterval-MarkerSize, MarkerSize // of the first marker
	if binary.BigEndian.Uint32(b) == 0 {
		at, least, most = MarkerSize, 0, 0
	}
	n := int(binary.BigEndian.Uint16(b[at:]))
	if n < MinULPDU || n > MaxULPDU {
		return false
	}
	body := lengthSize + n + PadLen(n) + crcSize
	markers := (len(b) - body) / MarkerSize
	return len(b)-body == markers*MarkerSize && markers > 0 && markers >= markersIn(least, body) && markers <= markersIn(most, body)
}

// next reports whether the CRC of the FPDU of size octets at the front of b, with an ULPDU
// of n, is known to be right, and what is known of the octets behind it.
func (v Verified) next(b []byte, size, n int) (right bool, rest Verified) {
	switch {
	case v == 0:
		return false, 0
	case v == oneFPDU:
		return size == len(b), 0
	case size > int(v) || size != lengthSize+n+PadLen(n)+crcSize: // the latter has markers
		return false, 0
	}
	return true, v - Verified(size) //nolint:gosec // of a segment
}

package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/crc32c"
	"github.com/iwdissect/iwdissect/internal/onesum"
)

// Verified is what [Verify] found out about CRCs in the payload of a TCP segment. The zero
// value says nothing.
type Verified uint32

// oneFPDU is set when the last four octets are the CRC32c of all before them. Below it
// stands, plus 1, the place of a marker from which on there is a right one every 512
// octets, if the FPDU begins at the front; 0: that is not known. Without oneFPDU the value
// counts the octets at the front that are whole FPDUs without markers, each with a right
// CRC.
const oneFPDU Verified = 1 << 31

// Verify computes the CRCs of what looks like whole FPDUs in the payload of a TCP segment
// (RFC 5044 section 4). It knows nothing of the stream, so it may run before the segment's
// turn and in another goroutine. [Decoder.WriteVerified] and [Decoder.Whole] take the
// result and use it where the stream turns out to be framed that way; else they compute
// CRCs themselves. What they report does not depend on it.
func Verify(b []byte) Verified {
	v, _, _ := VerifySum(b)
	return v
}

// VerifySum is Verify, and the ones' complement sum of the payload as 64-bit words in
// little-endian order, the last one padded with zeros, if that came with the CRC of a single
// FPDU: the checksum of TCP follows from it (RFC 1071).
func VerifySum(b []byte) (v Verified, sum uint64, summed bool) {
	if fillsWithMarkers(b) { // without markers it would be of another length
		right, sum := rightWithSum(b)
		if right {
			return oneFPDU | Verified(firstMarker(b)+1), sum, true //nolint:gosec // from -1 to 508
		}
	}
	good := 0
	for len(b)-good >= lengthSize+MinULPDU+crcSize {
		rest := b[good:]
		n := int(binary.BigEndian.Uint16(rest))
		size := lengthSize + n + PadLen(n) + crcSize
		if n < MinULPDU || n > MaxULPDU || size > len(rest) {
			break
		}
		if size == len(b) {
			right, sum := rightWithSum(b)
			if right {
				good = size
			}
			return Verified(good), sum, true
		}
		if !rightCRC(rest[:size]) {
			break
		}
		good += size
	}
	return Verified(good), 0, false
}

// rightWithSum is rightCRC, and the sum of all octets of an FPDU.
func rightWithSum(b []byte) (right bool, sum uint64) {
	n := len(b) - crcSize
	crc, sum := crc32c.WithSum(b[:n])
	field := binary.LittleEndian.Uint32(b[n:])
	return crc == field, onesum.Add(sum, uint64(field)<<(n%8*8))
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

// firstMarker finds right markers in an FPDU that has some, and returns the place of the
// first, or -1.
func firstMarker(b []byte) int {
	if binary.BigEndian.Uint32(b) == 0 {
		for at := MarkerInterval; at+MarkerSize <= len(b); at += MarkerInterval {
			if int(binary.BigEndian.Uint32(b[at:])) != at-MarkerSize {
				return -1
			}
		}
		return 0
	}
	for at := MarkerSize; at < MarkerInterval && at+MarkerSize <= len(b); at += MarkerSize {
		if binary.BigEndian.Uint32(b[at:]) == uint32(at) && marked(b, at) { // most places are told by the first look
			return at
		}
	}
	return -1
}

// markersRight reports whether all markers of an FPDU that begins at the front are known
// to be right, the first at a place.
func (v Verified) markersRight(first int) bool {
	return v&oneFPDU != 0 && int(v&^oneFPDU) == first+1
}

// next reports whether the CRC of the FPDU of size octets at the front of b, with an ULPDU
// of n, is known to be right, and what is known of the octets behind it.
func (v Verified) next(b []byte, size, n int) (right bool, rest Verified) {
	switch {
	case v == 0:
		return false, 0
	case v&oneFPDU != 0:
		return size == len(b), 0
	case size > int(v) || size != lengthSize+n+PadLen(n)+crcSize: // the latter has markers
		return false, 0
	}
	return true, v - Verified(size) //nolint:gosec // of a segment
}

package tracetest

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Marked is a ULPDU in an FPDU that begins at an offset of the stream, with markers where marks says: at an offset, in
// an FPDU that begins at one. Its CRC is right for them.
func Marked(start int, ulpdu []byte, marks func(at, fpdu int) bool) (wire []byte) {
	body := append(binary.BigEndian.AppendUint16(nil, uint16(len(ulpdu))), ulpdu...) //nolint:gosec // a ULPDU
	body = append(body, make([]byte, -len(body)&3)...)
	mark := func() {
		at := start + len(wire)
		if !marks(at, start) {
			return
		}
		back := len(wire)
		if back > 0 && marks(start, start) {
			back -= mpa.MarkerSize // it points to ULPDU_Length
		}
		wire = binary.BigEndian.AppendUint32(wire, uint32(back)) //nolint:gosec // within an FPDU
	}
	for ; len(body) > 0; body = body[4:] {
		mark()
		wire = append(wire, body[:4]...)
	}
	mark()
	return binary.LittleEndian.AppendUint32(wire, crc32.Checksum(wire, castagnoli))
}

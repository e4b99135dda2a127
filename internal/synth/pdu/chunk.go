package pdu

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// Where things stand in an SCTP packet and in a chunk of it (RFC 9260 sections
// 3.1 and 3.2).
const (
	offChecksum  = 8
	offLength    = 2
	chunkQuantum = 4
	// bitPPID is the place of the payload protocol in a DATA chunk; in an I-DATA
	// chunk the message identifier stands before it (RFC 8260 section 2.1).
	bitPPID = 96
)

// EditChunk applies faults to a DATA chunk of SCTP with its pad: fields of its
// header, and the pad. It returns the chunk, which may be b itself.
func EditChunk(b []byte, faults []Fault) []byte {
	for i := range faults {
		if p := faults[i].Pad; p != nil && len(b) >= chunkQuantum {
			n := min(int(binary.BigEndian.Uint16(b[offLength:])), len(b))
			faults[i].Fate.changed("pad", !bytes.Equal(b[n:], p))
			b = append(b[:n:n], p...)
		}
		for _, v := range faults[i].Set {
			if f := sctpddp.DataHeader.Field(v.Name); f != nil {
				if f.Bit == bitPPID && len(b) > 0 && b[0] == byte(sctp.TypeIData) {
					inIData := *f
					inIData.Bit += 32
					f = &inIData
				}
				put(f, b, v, faults[i].Fate)
			}
		}
	}
	return b
}

// EditChecksum applies faults to the checksum of an SCTP packet.
func EditChecksum(b []byte, faults []Fault) {
	for i := range faults {
		f := b[offChecksum : offChecksum+4]
		right := binary.BigEndian.Uint32(f)
		switch c := faults[i].CRC; c.Mode {
		case CRCBad:
			right ^= 0x01000000
		case CRCZero:
			right = 0
		case CRCReversed:
			right = bits.ReverseBytes32(right)
		case CRCValue:
			right = c.Value
		case CRCRight, CRCNoMarkers, CRCNoLead, CRCStale:
		}
		if right != binary.BigEndian.Uint32(f) {
			faults[i].Fate.Did("crc")
		}
		binary.BigEndian.PutUint32(f, right)
	}
}

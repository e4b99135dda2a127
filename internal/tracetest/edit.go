package tracetest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// EditSize is how many octets of the input of a fuzzer are one edit: what is done, to which
// frame, where, and with which value.
const EditSize = 4

// What edits do. What changes octets also rights the sums around them, so that what looks at
// the octets sees the change, and not just a wrong sum; Damage does not.
const (
	editPayload = iota // of TCP or SCTP, from its beginning
	editDamage
	editHeader // in front of the payload
	editFlags  // of TCP
	editNumber // sequence number of TCP
	editLength // ULPDU_Length
	editDrop
	editRepeat
	editMove
	editCut
	editTime
	edits
)

// Edit changes a capture as a fuzzer says: at every layer, and the frames themselves.
func Edit(fs []capture.Frame, input []byte) []capture.Frame {
	fs = slices.Clone(fs)
	d := packet.NewDecoder()
	for ; len(input) >= EditSize && len(fs) > 0; input = input[EditSize:] {
		i, at, value := int(input[1])%len(fs), int(input[2]), input[3]
		switch op := input[0] % edits; op {
		case editDrop:
			fs = slices.Delete(fs, i, i+1)
		case editRepeat:
			fs = slices.Insert(fs, min(i+1+at, len(fs)), fs[i])
		case editMove:
			j := (i + at) % len(fs)
			fs[i], fs[j] = fs[j], fs[i]
		case editCut:
			fs[i].Data = fs[i].Data[:min(len(fs[i].Data), at)]
		case editTime:
			fs[i].Time += int64(int8(value)) << (at % 40) //nolint:gosec // signed by design
		default:
			fs[i].Data = bytes.Clone(fs[i].Data)
			editOctets(d, &fs[i], op, at, value)
		}
	}
	return Number(fs)
}

// editOctets changes octets of a frame.
func editOctets(d *packet.Decoder, f *capture.Frame, op byte, at int, value byte) {
	var p packet.Packet
	if d.Decode(uint16(f.Link), f.Data, f.OrigLen, 1, f.Time, &p) != packet.OK || p.SegmentOffset < 0 || p.SegmentOffset+p.SegmentLen > len(f.Data) {
		if len(f.Data) > 0 {
			f.Data[at%len(f.Data)] ^= value
		}
		return
	}
	segment := f.Data[p.SegmentOffset : p.SegmentOffset+p.SegmentLen]
	payload := f.Data[p.PayloadOffset():][:p.PayloadLen]
	before := words(segment)
	switch tcp := p.Proto == packet.ProtoTCP; {
	case op == editHeader && at < p.SegmentOffset:
		f.Data[at] ^= value
		return
	case op == editHeader:
		segment[at%len(segment)] ^= value
	case op == editFlags && tcp:
		segment[13] ^= value
	case op == editNumber && tcp:
		binary.BigEndian.PutUint32(segment[4:], p.Seq+uint32(int32(int8(value))<<(at%24))) //nolint:gosec // signed by design
	case op == editLength && len(payload) > 1:
		binary.BigEndian.PutUint16(payload, uint16(at)<<8|uint16(value)) //nolint:gosec // an octet
	case len(payload) > 0:
		payload[at%len(payload)] ^= value
	}
	if op == editDamage {
		return
	}
	if p.Proto == packet.ProtoSCTP {
		clear(segment[8:12])
		binary.LittleEndian.PutUint32(segment[8:], crc32.Checksum(segment, castagnoli))
		return
	}
	seal(payload)
	// RFC 1624, equation 3.
	field := binary.BigEndian.Uint16(segment[16:])
	binary.BigEndian.PutUint16(segment[16:], ^folded(uint32(^field)+uint32(^before)+uint32(words(segment))))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal rights the CRC of an FPDU without markers that begins the octets.
func seal(b []byte) {
	if len(b) < 2 {
		return
	}
	n := (2 + int(binary.BigEndian.Uint16(b)) + 3) &^ 3
	if n+4 <= len(b) {
		binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], castagnoli))
	}
}

// words is the ones' complement sum of octets.
func words(b []byte) uint16 {
	var s uint32
	for i, c := range b {
		s = uint32(folded(s + uint32(c)<<(8*(1-i%2))))
	}
	return folded(s)
}

func folded(s uint32) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

package smbdirect

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// DataLen is the size of the header of a data transfer in octets. The payload follows at
// a multiple of [Alignment].
const (
	DataLen   = 20
	Alignment = 8
)

// Offsets of the data transfer header, in octets.
const (
	offDataRequested = 0
	offDataGranted   = 2
	offFlags         = 4
	offDataReserved  = 6
	offRemaining     = 8
	offDataOffset    = 12
	offDataLength    = 16
)

// FlagResponseRequested asks for a message soon: it keeps a connection alive.
const FlagResponseRequested = 0x0001

// Data is the header of a data transfer ([MS-SMBD] section 2.2.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       CreditsRequested        |        CreditsGranted         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|             Flags             |           Reserved            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      RemainingDataLength                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          DataOffset                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          DataLength                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Data struct {
	// CreditsRequested is how many messages the sender would like to have allowed in
	// all, CreditsGranted how many more it allows.
	CreditsRequested, CreditsGranted uint16
	Flags, Reserved                  uint16
	// Remaining is how many octets of the upper-layer message are in messages to come.
	Remaining uint32
	// Offset is where the payload begins, from the start of the header, Length its size; in
	// octets. Both are 0 if there is none.
	Offset, Length uint32
}

// DecodeData reads the header of a data transfer at the start of b.
func DecodeData(b []byte) (Data, error) {
	if len(b) < DataLen {
		return Data{}, dissect.Short(dissect.LayerSMBDirect, "short_data_transfer", len(b))
	}
	return Data{
		CreditsRequested: binary.LittleEndian.Uint16(b[offDataRequested:]),
		CreditsGranted:   binary.LittleEndian.Uint16(b[offDataGranted:]),
		Flags:            binary.LittleEndian.Uint16(b[offFlags:]),
		Reserved:         binary.LittleEndian.Uint16(b[offDataReserved:]),
		Remaining:        binary.LittleEndian.Uint32(b[offRemaining:]),
		Offset:           binary.LittleEndian.Uint32(b[offDataOffset:]),
		Length:           binary.LittleEndian.Uint32(b[offDataLength:]),
	}, nil
}

// Append appends the 20 octets of the header.
func (d Data) Append(dst []byte) []byte {
	for _, v := range [...]uint16{d.CreditsRequested, d.CreditsGranted, d.Flags, d.Reserved} {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	for _, v := range [...]uint32{d.Remaining, d.Offset, d.Length} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// Payload returns the payload of the message b, as far as it is there.
func (d Data) Payload(b []byte) []byte {
	if d.Offset < DataLen || uint64(d.Offset) > uint64(len(b)) {
		return nil
	}
	b = b[d.Offset:]
	return b[:min(uint64(d.Length), uint64(len(b)))]
}

const refData = "[MS-SMBD] section 2.2.3"

// DataHeader describes the header of a data transfer.
var DataHeader = dissect.Header{
	Layer: dissect.LayerSMBDirect,
	Name:  "SMB Direct Data Transfer",
	Ref:   refData,
	Size:  DataLen,
	Fields: []dissect.Field{
		number("smb_direct.credits.requested", "Credits requested", dissect.Dec, offDataRequested, 2, refData),
		number("smb_direct.credits.granted", "Credits granted", dissect.Dec, offDataGranted, 2, refData),
		number("smb_direct.flags", "Flags", dissect.Hex, offFlags, 2, refData),
		// The least significant bit of the flags is the last one of their first octet.
		{Name: "smb_direct.flags.response_requested", Label: "Response requested", Kind: dissect.Bool, Bit: 8*offFlags + 7, Width: 1, Ref: refData},
		number("iwd.smb_direct.reserved", "Reserved", dissect.Hex, offDataReserved, 2, refData),
		number("smb_direct.remaining_length", "Remaining length", dissect.Dec, offRemaining, 4, refData),
		number("smb_direct.data_offset", "Data offset", dissect.Dec, offDataOffset, 4, refData),
		number("smb_direct.data_length", "Data length", dissect.Dec, offDataLength, 4, refData),
	},
}

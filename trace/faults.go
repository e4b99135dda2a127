package trace

import "github.com/iwdissect/iwdissect/dissect/mpa"

// MaxListed bounds the faults of a kind that are listed for a direction.
const MaxListed = 16

// BadCRC is an FPDU with a wrong CRC.
type BadCRC struct {
	// PDU and Frame are its number and the frame that completed it; Frames are those that
	// carried it.
	PDU, Frame uint64
	Frames     []uint64
	// At is where it begins in the TCP stream, Length the number of its octets.
	At, Length int64
	// Nth is its ordinal among the FPDUs of the direction, from 1.
	Nth uint64
	// CRC is its field, Want what the field should be, as in [mpa.FPDU].
	CRC, Want uint32
	// SegmentEnd is the offset in the TCP stream at which the TCP segment ends in which it
	// ends. Good and Bad count the other FPDUs that end in that segment by their CRC.
	SegmentEnd int64
	Good, Bad  int
	// Checksum says whether the TCP checksum of the packet is right. It is unknown if several
	// packets carried the FPDU, or if the checksum could not be verified.
	Checksum mpa.Tri
	// Again says whether its CRC was right when all of it was sent again in one packet, in
	// frame AgainFrame; it is unknown if it was not.
	Again      mpa.Tri
	AgainFrame uint64
	// Late: the receiver had acknowledged it before that.
	Late bool
}

// BadMarker is a wrong marker (RFC 5044 section 4.3).
type BadMarker struct {
	// PDU and Frame are those of the FPDU that it is in.
	PDU, Frame uint64
	// At is its offset in full operation, as [PDU.Offset].
	At int64
	mpa.Marker
}

// Hole is a gap of the capture in a direction.
type Hole struct {
	// At is where it begins in the TCP stream, Octets how long it is.
	At, Octets int64
	// Damaged are those of Octets that packets carried that were left out, see [Faults].
	Damaged int64
	// Behind is the frame that carried the octets behind it, 0 if there are none.
	Behind uint64
	// FileDamaged: the capture file is damaged there, and may have had them.
	FileDamaged bool
}

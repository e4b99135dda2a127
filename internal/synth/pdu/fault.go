package pdu

// Fault is what a scenario does to the PDUs that At picks. All that is set
// applies, in the order of the fields. Fields of headers come first, then what
// is around them; the CRC is computed last, over what is sent, unless CRC says
// otherwise.
type Fault struct {
	At Selector
	// Fate, if not nil, is told what became of it.
	Fate *Fate

	// Skip leaves the PDU out. The state behind it (MSN, offsets) goes on as if
	// it had been sent.
	Skip bool
	// Hold sends the PDU only behind that many following ones.
	Hold int
	// Repeat sends it that many more times, one behind the other.
	Repeat int

	// Payload replaces what follows the DDP header (the private data behind the
	// word, for a startup frame), if not nil. The length fields follow.
	Payload []byte
	// Set overwrites fields by name: those of the startup frame with its
	// enhanced word, or of the FPDU, DDP and RDMAP headers.
	Set []Value
	// Octets replaces the whole ULPDU or startup frame, if not nil.
	Octets []byte
	// Cut keeps that many octets of the ULPDU or startup frame, if not 0; a
	// negative number cuts that many off its end.
	Cut int
	// Extend appends octets to the ULPDU or startup frame.
	Extend []byte
	// Join puts the following ULPDU into the FPDU of this one.
	Join bool

	// Pad replaces the pad octets, if not nil; empty leaves them out.
	Pad []byte
	// Markers are faults of single markers.
	Markers []Marker
	// CRC is what stands in the CRC field.
	CRC CRC
	// NoCRC leaves the CRC field out.
	NoCRC bool

	// Stop ends the PDU after that many octets of its framed form, if not 0.
	Stop int
	// Before and After are sent around it, outside any FPDU, without moving the
	// marker grid unless Grid is set.
	Before, After []byte
	Grid          bool
	// Over SCTP: SkipSSN leaves out that many DDP-SSNs before the PDU, Split cuts
	// its user message into chunks of at most that many octets, Interleave puts
	// the next message between its first chunk and the others. The header of a
	// chunk is edited by Set and Pad, the checksum of the packet that carries it
	// first by CRC.
	SkipSSN, Split int
	Interleave     bool

	// Glue lets the PDU share a TCP segment with what precedes it, although it
	// should begin one of its own.
	Glue bool
}

// Value is a field to be overwritten.
type Value struct {
	// Name is the field's name, as the command fields lists it.
	Name string
	// Number is the new value; with Add it is added to what stands there,
	// modulo the width of the field.
	Number uint64
	Add    bool
	// Octets is the new value of a field of octets.
	Octets []byte
}

// Marker is a fault of one marker.
type Marker struct {
	// Number is the marker in the FPDU, from 1; 0 means each.
	Number int
	// Drop leaves it out: the octets behind it move up.
	Drop bool
	// Shift moves it by that many octets, within the FPDU.
	Shift int
	// Pointer and Reserved are its new contents, if the flags say so.
	Pointer, Reserved       uint16
	SetPointer, SetReserved bool
}

// CRCMode says how the CRC field is filled.
type CRCMode uint8

// The modes.
const (
	// CRCRight: as it should be, for what is sent.
	CRCRight CRCMode = iota
	// CRCBad: one bit of it is wrong.
	CRCBad
	// CRCZero: zero.
	CRCZero
	// CRCReversed: its octets in the other order.
	CRCReversed
	// CRCNoMarkers: computed without the markers in the FPDU.
	CRCNoMarkers
	// CRCNoLead: computed from ULPDU_Length on, without a marker before it.
	CRCNoLead
	// CRCStale: what it would have been without the other faults.
	CRCStale
	// CRCValue: a given value, in wire order.
	CRCValue
)

// CRC is what stands in the CRC field.
type CRC struct {
	Mode  CRCMode
	Value uint32
}

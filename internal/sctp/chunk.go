package sctp

import (
	"encoding/binary"
	"errors"
)

// Type is the type of a chunk.
type Type uint8

// The types that have a meaning here (RFC 9260 section 3.2 and the IANA registry
// of SCTP chunk types).
const (
	TypeData             Type = 0
	TypeInit             Type = 1
	TypeInitAck          Type = 2
	TypeSack             Type = 3
	TypeHeartbeat        Type = 4
	TypeHeartbeatAck     Type = 5
	TypeAbort            Type = 6
	TypeShutdown         Type = 7
	TypeShutdownAck      Type = 8
	TypeError            Type = 9
	TypeCookieEcho       Type = 10
	TypeCookieAck        Type = 11
	TypeShutdownComplete Type = 14
	TypeIData            Type = 64
	TypeASCONFAck        Type = 128
	TypeReconfig         Type = 130
	TypePad              Type = 132
	TypeForwardTSN       Type = 192
	TypeASCONF           Type = 193
	TypeIForwardTSN      Type = 194
)

// String returns the name of the type.
func (t Type) String() string {
	switch t {
	case TypeData:
		return "DATA"
	case TypeInit:
		return "INIT"
	case TypeInitAck:
		return "INIT ACK"
	case TypeSack:
		return "SACK"
	case TypeHeartbeat:
		return "HEARTBEAT"
	case TypeHeartbeatAck:
		return "HEARTBEAT ACK"
	case TypeAbort:
		return "ABORT"
	case TypeShutdown:
		return "SHUTDOWN"
	case TypeShutdownAck:
		return "SHUTDOWN ACK"
	case TypeError:
		return "ERROR"
	case TypeCookieEcho:
		return "COOKIE ECHO"
	case TypeCookieAck:
		return "COOKIE ACK"
	case TypeShutdownComplete:
		return "SHUTDOWN COMPLETE"
	case TypeIData:
		return "I-DATA"
	case TypeReconfig:
		return "RE-CONFIG"
	case TypeForwardTSN:
		return "FORWARD TSN"
	case TypeIForwardTSN:
		return "I-FORWARD-TSN"
	case TypeASCONF:
		return "ASCONF"
	case TypeASCONFAck:
		return "ASCONF ACK"
	case TypePad:
		return "PAD"
	}
	return "chunk " + itoa(uint8(t))
}

func itoa(n uint8) string {
	b := []byte{'0' + n/100, '0' + n/10%10, '0' + n%10}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return string(b)
}

// chunkHeaderLen is the size of what every chunk begins with.
const chunkHeaderLen = 4

// Chunk is one chunk of a packet (RFC 9260 section 3.2).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Chunk Type   |  Chunk Flags  |         Chunk Length          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	//                         Chunk Value                         //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Chunk struct {
	Type  Type
	Flags uint8
	// Length is the field: header and value, without the pad.
	Length uint16
	// Value is what was captured of the value.
	Value []byte
	// Pad are the octets up to the next multiple of four, as far as they were
	// captured.
	Pad []byte
	// Cut is true when octets of the value were not captured.
	Cut bool
}

// Append appends the chunk, its Length as it stands, and its Pad.
func (c Chunk) Append(dst []byte) []byte {
	dst = append(dst, byte(c.Type), c.Flags)
	dst = binary.BigEndian.AppendUint16(dst, c.Length)
	return append(append(dst, c.Value...), c.Pad...)
}

// New returns the chunk with the value, with length and pad as they should be.
func New(t Type, flags uint8, value []byte) Chunk {
	n := chunkHeaderLen + len(value)
	return Chunk{Type: t, Flags: flags, Length: uint16(n), Value: value, Pad: make([]byte, padLen(n))} //nolint:gosec // what does not fit a packet is the caller's
}

func padLen(n int) int { return -n & 3 }

var (
	errLength = errors.New("a chunk is shorter than its header")
	errBeyond = errors.New("a chunk reaches beyond its packet")
	errOctets = errors.New("octets behind the last chunk")
	// ErrCut says that octets were not captured.
	ErrCut = errors.New("not captured")
	// ErrNoData is of a chunk of user data that has none (RFC 9260 section 3.3.1).
	ErrNoData error = &Error{"no_user_data", 2, errors.New("a chunk of user data without any")}
)

// Next reads the chunk at the start of b, the rest of a packet that had wire
// more octets, and returns how many of them it takes. A chunk whose length
// cannot be is an error, and nothing that follows can be found; one that the
// capture cut is handed out with Cut set.
func Next(b []byte, wire int) (c Chunk, n int, err error) {
	n, err = c.Decode(b, wire)
	return c, n, err
}

// Decode is [Next] for whoever has a chunk already: to copy one that was just filled in takes as long as to decode it.
func (c *Chunk) Decode(b []byte, wire int) (n int, err error) {
	*c = Chunk{}
	if wire < chunkHeaderLen {
		return 0, &Error{"trailing_octets", 0, errOctets}
	}
	if len(b) < chunkHeaderLen {
		return 0, &Error{"chunk_not_captured", len(b), ErrCut}
	}
	c.Type, c.Flags, c.Length = Type(b[0]), b[1], binary.BigEndian.Uint16(b[2:])
	n = int(c.Length)
	switch {
	case n < chunkHeaderLen:
		return 0, &Error{"chunk_length", 2, errLength}
	case n > wire:
		return 0, &Error{"chunk_length", 2, errBeyond}
	}
	have := min(n, len(b))
	c.Value, c.Cut = b[chunkHeaderLen:have:have], have < n
	// The last chunk of a packet may lack its pad; a receiver takes it.
	end := min(n+padLen(n), wire)
	if !c.Cut {
		c.Pad = b[n:min(end, len(b)):min(end, len(b))]
	}
	return end, nil
}

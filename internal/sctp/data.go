package sctp

import "encoding/binary"

// Flags of DATA and I-DATA (RFC 9260 section 3.3.1, RFC 7053).
const (
	FlagEnd       uint8 = 0x01
	FlagBegin     uint8 = 0x02
	FlagUnordered uint8 = 0x04
	FlagImmediate uint8 = 0x08
	// FlagsReserved are zero.
	FlagsReserved uint8 = 0xf0
)

// DataHeaderLen is the size of a DATA chunk before its user data.
const DataHeaderLen = chunkHeaderLen + dataLen

const (
	dataLen  = 12
	iDataLen = 16
)

// Data is a DATA chunk (RFC 9260 section 3.3.1) or an I-DATA chunk (RFC 8260
// section 2.1).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Type = 0    |  Res  |I|U|B|E|            Length             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              TSN                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       Stream Identifier       |    Stream Sequence Number     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 Payload Protocol Identifier                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	//                          User Data                          //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// I-DATA has 16 reserved bits and a message identifier of 32 bits in place of
// the stream sequence number, and behind them the payload protocol identifier
// in the first fragment, the number of the fragment in the others.
type Data struct {
	// I says that this is an I-DATA chunk.
	I bool
	// Flags are the four bits, and the reserved ones.
	Flags uint8
	TSN   uint32
	SID   uint16
	// SSN of DATA, Rsvd and MID of I-DATA.
	SSN, Rsvd uint16
	MID       uint32
	// PPID is the payload protocol identifier; an I-DATA chunk that does not
	// begin a message has FSN, the number of the fragment, in its place.
	PPID, FSN uint32
	// Octets are the user data, as far as they were captured.
	Octets []byte
}

// Begin reports whether the chunk begins its message.
func (d *Data) Begin() bool { return d.Flags&FlagBegin != 0 }

// End reports whether the chunk ends its message.
func (d *Data) End() bool { return d.Flags&FlagEnd != 0 }

// Unordered reports whether the message is delivered out of order.
func (d *Data) Unordered() bool { return d.Flags&FlagUnordered != 0 }

// DecodeData reads a DATA or an I-DATA chunk.
func DecodeData(c *Chunk) (d Data, err error) {
	err = d.Decode(c)
	return d, err
}

// Decode is [DecodeData] for whoever has a Data already, see [Chunk.Decode].
func (d *Data) Decode(c *Chunk) error {
	*d = Data{}
	d.I, d.Flags = c.Type == TypeIData, c.Flags
	v := c.Value
	want := dataLen
	if d.I {
		want = iDataLen
	}
	if len(v) < want {
		return short("short_data", chunkHeaderLen+len(v))
	}
	d.TSN, d.SID = binary.BigEndian.Uint32(v), binary.BigEndian.Uint16(v[4:])
	d.Octets = v[want:]
	if !d.I {
		d.SSN, d.PPID = binary.BigEndian.Uint16(v[6:]), binary.BigEndian.Uint32(v[8:])
		return nil
	}
	d.Rsvd, d.MID = binary.BigEndian.Uint16(v[6:]), binary.BigEndian.Uint32(v[8:])
	if n := binary.BigEndian.Uint32(v[12:]); d.Begin() {
		d.PPID = n
	} else {
		d.FSN = n
	}
	return nil
}

// DataLen is how many octets of user data a DATA or I-DATA chunk had on the wire.
func DataLen(c *Chunk) int {
	n := int(c.Length) - chunkHeaderLen - dataLen
	if c.Type == TypeIData {
		n -= iDataLen - dataLen
	}
	return max(n, 0)
}

// Chunk returns the chunk, with length and pad as they should be.
func (d *Data) Chunk() Chunk {
	v := binary.BigEndian.AppendUint32(make([]byte, 0, iDataLen+len(d.Octets)), d.TSN)
	v = binary.BigEndian.AppendUint16(v, d.SID)
	t := TypeData
	if d.I {
		t = TypeIData
		v = binary.BigEndian.AppendUint16(v, d.Rsvd)
		v = binary.BigEndian.AppendUint32(v, d.MID)
		n := d.FSN
		if d.Begin() {
			n = d.PPID
		}
		v = binary.BigEndian.AppendUint32(v, n)
	} else {
		v = binary.BigEndian.AppendUint16(v, d.SSN)
		v = binary.BigEndian.AppendUint32(v, d.PPID)
	}
	return New(t, d.Flags, append(v, d.Octets...))
}

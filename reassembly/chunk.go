package reassembly

// Flags of DATA and I-DATA chunks (RFC 9260 section 3.3.1).
const (
	// ChunkEnd and ChunkBegin: the chunk ends and begins its message.
	ChunkEnd   uint8 = 0x01
	ChunkBegin uint8 = 0x02
	// ChunkUnordered: the message is delivered out of order.
	ChunkUnordered uint8 = 0x04
)

// Chunk is a chunk of user data: DATA (RFC 9260 section 3.3.1), or I-DATA (RFC 8260
// section 2.1).
type Chunk struct {
	// I says that it is an I-DATA chunk.
	I bool
	// Flags are those of the chunk header.
	Flags uint8
	// TSN is the transmission sequence number.
	TSN uint32
	// SID is the stream identifier.
	SID uint16
	// SSN is the stream sequence number of DATA. Rsvd are the reserved bits of I-DATA,
	// MID is its message identifier.
	SSN, Rsvd uint16
	MID       uint32
	// PPID is the payload protocol identifier. An I-DATA chunk that does not begin a
	// message has FSN in its place, the number of the fragment.
	PPID, FSN uint32
	// Octets are the user data, as far as they were captured. They are borrowed for
	// the call.
	Octets []byte
}

func (c *Chunk) begin() bool { return c.Flags&ChunkBegin != 0 }
func (c *Chunk) end() bool   { return c.Flags&ChunkEnd != 0 }

package reassembly

// Message is a user message of SCTP (RFC 9260 section 6.9), assembled from
// its DATA or I-DATA chunks.
type Message struct {
	// SID is the stream, PPID the payload protocol identifier.
	SID  uint16
	PPID uint32
	// Flags are those of the first chunk (see [ChunkBegin]), IData says that the
	// chunks are I-DATA.
	Flags uint8
	IData bool
	// Ordered is the frame of the first of the later chunks that is not sent unordered, 0 if there is none.
	Ordered uint64
	// First is the unwrapped TSN of the first chunk, TSNs are those of all, in
	// the order of the message.
	First int64
	TSNs  []uint32
	// Octets reach up to the first octet that was not captured. They are
	// borrowed until the next call on the association.
	Octets []byte
	// Length is the number of octets on the wire, as far as chunks tell it, and
	// Whole says that all of them were captured.
	Length int
	Whole  bool
	// Torn says that fragments of it were never captured.
	Torn bool
	// Headless: the first of them is one of these, so Octets do not begin the message. It is handed
	// out to be counted.
	Headless bool
	// Gone: a fragment that is missing was sent, or given up by its sender: its TSN was not captured,
	// and is no later than others that were captured or acknowledged. Of I-DATA it is any TSN that may be one of it.
	Gone bool
	// Frame is the frame that completed it, Time its capture time in nanoseconds
	// since the Unix epoch, Frames all that carried some of it by then.
	Frame  uint64
	Time   int64
	Frames []uint64
	// Fragments is in how many fragments of IP the packet came that completed it, if
	// in several.
	Fragments int
	// Arrival is what the caller notes when the message comes. It stays with it
	// while it waits for its turn.
	Arrival Arrival
}

// Arrival is how things stood when a message came. What it says is the caller's: this
// package keeps it with the message.
type Arrival struct {
	// Frame is the frame that completed the message, Time its capture time in
	// nanoseconds since the Unix epoch.
	Frame uint64
	Time  int64
	// Heard and Passed are TSNs of the other direction: those below were
	// acknowledged by the sender, and had been captured.
	Heard, Passed int64
	// Sacked is the first of them that a SACK in its own packet does not acknowledge
	// cumulatively; negative: there is none.
	Sacked int64
	// Pending is what the message may overtake: the frame, 0 if there is nothing,
	// the side that sent it, what it is, and whether that is certain.
	Pending         uint64
	PendingSide     int
	PendingFunction uint16
	Certain         bool
	// Complete: no TSN before was missing.
	Complete bool
	// TooLarge: no fragment of its packet has room for it.
	TooLarge bool
}

// fragment is a chunk that waits for the rest of its message.
type fragment struct {
	tsn    int64
	wire   uint32
	sid    uint16
	flags  uint8
	idata  bool
	mid    uint32
	fsn    uint32
	ppid   uint32
	octets []byte
	length int
	frames []uint64
}

func (f *fragment) begin() bool { return f.flags&ChunkBegin != 0 }
func (f *fragment) end() bool   { return f.flags&ChunkEnd != 0 }

// follows reports whether f can stand right behind g in a message: of DATA by
// its TSN (RFC 9260 section 6.9), of I-DATA by the number of the fragment (RFC
// 8260 section 2.1).
func (f *fragment) follows(g *fragment) bool {
	if f.idata != g.idata || f.sid != g.sid || f.begin() || g.end() {
		return false
	}
	if f.idata {
		return f.mid == g.mid && (f.flags^g.flags)&ChunkUnordered == 0 && f.fsn == g.fsn+1
	}
	return f.tsn == g.tsn+1
}

// before orders fragments so that those of a message stand side by side.
func (f *fragment) before(g *fragment) bool {
	switch {
	case f.idata != g.idata:
		return g.idata
	case !f.idata:
		return f.tsn < g.tsn
	case f.sid != g.sid:
		return f.sid < g.sid
	case (f.flags^g.flags)&ChunkUnordered != 0:
		return f.flags&ChunkUnordered == 0
	case f.mid != g.mid:
		return f.mid < g.mid
	case f.fsn != g.fsn:
		return f.fsn < g.fsn
	}
	return f.tsn < g.tsn
}

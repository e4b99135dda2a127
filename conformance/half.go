package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// half is one direction. Thousands of connections have two each, of which many send
// nothing: what a half has sent, asked for, and done with its session is kept apart,
// and until there is something all halves share one of which nothing is known.
type half struct {
	dir trace.Dir
	// own tells which of the three are its own, and may be written to.
	own owned
	// began: the start of the stream of FPDUs or chunks is known; gap: something
	// before is missing, or could not be read; hole: it is missing.
	began, gap, hole bool
	// contig: nothing is missing since the beginning; unsure: the place of FPDUs
	// was found by plausible headers alone.
	contig, unsure bool
	unread         bool // a request could not be read
	// neverSent: no TSN is missing that could have had the numbers of the last gap.
	neverSent bool
	// awaited: a finding waits for the next FPDU.
	awaited bool
	// shifted: octets in no FPDU came in full operation, which its sender may not
	// count when it places markers.
	shifted bool
	// to is where the last PDU ends in the TCP stream.
	to    int64
	count uint64 // FPDUs or segments
	peer  *half
	*sending
	*asking
	*session
	// looses are octets outside startup frames and FPDUs, the first few of them.
	looses []loose
	frames []*frame // its startup frames, the first few of them
}

// owned are parts of a half that are its own.
type owned uint8

const (
	ownSending owned = 1 << iota
	ownAsking
	ownSession
)

// sending is what a half has sent in FPDUs or DDP segments. What each FPDU of a long
// Write comes to stands first, so that it takes few cache lines.
type sending struct {
	steady  steady
	sent    history
	sizes   sizes
	queues  [4]queue
	tagged  [2]flow
	crc     crcRun
	opening opening
	shapes  shapes
	chain   chain
	latest  last // FPDU
	first   firstSegment
	second  span // of the second FPDU
	// knows is how much of the other direction it had when it sent its last message
	// that is no Terminate.
	knows int64
	// met is the STag of the peer that was looked at last.
	met         place
	hasVersions bool
	dv, rv      uint8
	// extended is the latest opcode of RFC 7306, or 0.
	extended rdmap.Opcode
	// part: not all octets of some FPDU were captured.
	part bool
	// headless: the DDP header of some FPDU or chunk was cut off.
	headless bool
	// grid is how many markers in a row told their distance, so that it is known
	// where others stand.
	grid       uint32
	largest    int32 // ULPDU
	terminates uint32
	after      uint32 // segments behind its Terminate
	word       *word  // its first Terminate
	// spoilt is the first FPDU with a wrong CRC.
	spoilt *spoilt
	// cutShort is a message that had no end when the connection had one.
	cutShort *message
}

// last is where the last FPDU of a half ends, and how much of the other direction its
// sender had then.
type last struct{ end, lastAcked int64 }

// asking is what a half has asked for, and what it did of what the other one asks.
type asking struct {
	requests []request // sent by this half, not answered
	// atomicsOut are those of them that are atomics, shorts those whose answer ended
	// early.
	atomicsOut, shorts int
	atomics            uint64 // Atomic Requests sent
	responses          uint64 // Atomic Responses sent
	// asked and flight are its requests.
	asked  askedRing
	flight flight
	// deepest is the most that was outstanding at once, as far as it is proven.
	deepest deepest
	// areas are the STags on which it asks for atomics, pastAreas those of them that
	// are invalidated, operations the atomics that it does and refuses, shared the
	// STags on which MIX-01 was told.
	areas      map[uint32]*area
	pastAreas  []*area
	operations operations
	shared     []uint32
	// gone are the STags that it has invalidated, reused those that it used
	// nevertheless.
	gone   map[uint32]struct{}
	reused []reuse
}

// session is what a half did in a session of SCTP.
type session struct {
	controls []*control
	chunks   int // of either kind
	recent   recent
	// offended: a chunk fits no pattern of a session; offence is the TSN of the
	// first one.
	offended bool
	offence  int64
}

// idle is what halves share of which nothing is known. Nothing is written to it.
type idle struct {
	sending sending
	asking  asking
	session session
}

// share gives a half what all have of which nothing is known.
func (h *half) share(i *idle) {
	h.own, h.sending, h.asking, h.session = 0, &i.sending, &i.asking, &i.session
}

// sends gives a half what it sends to keep.
func (h *half) sends() {
	if h.own&ownSending == 0 {
		h.own |= ownSending
		h.sending = &sending{}
	}
}

// asks gives a half what it asks for to keep.
func (h *half) asks() {
	if h.own&ownAsking == 0 {
		h.own |= ownAsking
		h.asking = &asking{}
	}
}

// joins gives a half a session of its own.
func (h *half) joins() {
	if h.own&ownSession == 0 {
		h.own |= ownSession
		h.session = &session{}
	}
}

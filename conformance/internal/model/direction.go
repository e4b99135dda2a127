package model

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/fifo"
	"github.com/iwdissect/iwdissect/trace"
)

// Direction is one direction of a connection. Thousands of connections have two each, and
// many of those send nothing: the state for what a direction sends, requests and does in
// its session is allocated when it is first needed. Until then all directions share an
// idle state.
type Direction struct {
	Dir trace.Dir
	// own says which of the three states belong to this direction and may be written to.
	own owned
	// Began: the start of the stream of FPDUs or chunks is known; Gap: something
	// before is missing, or could not be read; Hole: it is missing.
	Began, Gap, Hole bool
	// Unsure: the position of FPDUs was found by plausible headers only.
	Unsure bool
	// mayMark: the last FPDU may have markers that were read as its headers.
	mayMark bool
	Unread  bool // a request of it could not be read, or was forgotten
	// NeverSent: no TSN is missing that could have carried the numbers of the last gap.
	NeverSent bool
	// Awaited: a finding waits for the next FPDU.
	Awaited bool
	// shifted: octets in no FPDU came in full operation, which its sender may not
	// count when it places markers.
	shifted bool
	// displaced: the last FPDU with a marker in it had one that was not in its place, or may not have been.
	displaced bool
	// Noise: nothing proves that the last FPDU is one, and its headers make no sense.
	Noise bool
	// NextOffset is where the last PDU ends in the TCP stream.
	NextOffset int64
	Count      uint64 // FPDUs or segments
	Peer       *Direction
	*sending
	*asking
	*session
	apart *[]Loose // see looses; nil: there are none
	// frames is its first startup frame, nil if there is none; each leads to the next one.
	frames *Frame
}

// owned are parts of a direction that are its own.
type owned uint8

const (
	ownSending owned = 1 << iota
	ownAsking
	ownSession
)

// sending is what a direction has sent in FPDUs or DDP segments. The fields that each FPDU
// of a long Write changes come first, so that they share few cache lines.
type sending struct {
	steady  steady
	Sent    history
	Sizes   sizes
	Queues  [4]queue
	Tagged  [2]flow
	CRC     crcRun
	Opening opening
	shapes  shapes
	Chain   chain
	Latest  last // FPDU
	First   firstSegment
	Second  second
	// Knows is how much of the other direction the sender had when it sent its last message
	// other than a Terminate.
	Knows                    int64
	met                      met
	HasVersions              bool
	open                     uint8 // a bit for each of Queues and Tagged whose message is open
	bounded                  bool  // the last segment ended a message, and none was open besides
	DDPVersion, RDMAPVersion uint8
	Mixed                    mixed
	// extended is the latest opcode of RFC 7306, or 0.
	Extended rdmap.Opcode
	// part: not all octets of some FPDU were captured.
	part bool
	// headless: the DDP header of some FPDU or chunk was cut off.
	headless bool
	// LastLength is the ULPDU_Length of the last FPDU that begins with a TCP segment, if no CRC says where it ends and no
	// markers are in it; else 0. What is wrong with it shows only behind it.
	LastLength uint16
	// grid counts consecutive markers with plausible pointers; they establish where the
	// others must be.
	grid           uint32
	largest        int32 // ULPDU
	Terminates     uint32
	after          uint32         // segments after its Terminate
	FirstTerminate *SentTerminate // its first Terminate
	wrong          *[]WrongCRC    // the first FPDUs with a wrong CRC; nil: there are none
	incomplete     *incomplete    // see there; nil: nothing of it
}

// met is the STag of the peer that was looked at last.
type met struct {
	stag uint32
	any  bool
}

// last is where the last FPDU of a direction ends, and how much of the other direction its
// sender had then.
type last struct{ End, LastAcked int64 }

// asking is what a direction has requested, and how it responded to the requests of the
// other one.
type asking struct {
	Requests []Request // sent by this direction, not answered
	room     fifo.Room[Request]
	// atomicIDs are the identifiers of the atomics among them, with how many have it.
	atomicIDs map[uint32]int32
	// atomicsOut are those of them that are atomics, shorts those whose answer ended
	// early.
	atomicsOut, Shorts int
	// shortEnds are the segments that ended those answers, by the nth of the request.
	shortEnds     map[uint64]site
	unknown       *unknownRequests // nil: there were none
	mayBeAnswered [2]bool          // see MayBeAnswered
	early         []EarlyAnswer    // of the other side, to requests that are still to come
	Overtaking    *Overtaking      // of the other side, of which it is open what it answers; nil: there is none
	around        []*Message       // Read Responses of the other side that are open around its latest one
	atomics       uint64           // Atomic Requests sent
	Responses     uint64           // Atomic Responses sent
	// Asked and flight are its requests: all of them, and those that may be outstanding.
	Asked  askedRing
	Flight flight
	// Deepest is the highest number of requests proven to be outstanding at once.
	Deepest deepest
	// Areas are the STags on which it requests atomics, PastAreas those of them that were
	// invalidated. Operations are the atomics that it executes and refuses. Shared are the
	// STags for which RDMAX-MIX-01 was reported.
	Areas      map[uint32]*Area
	PastAreas  []*Area
	Operations Operations
	shared     []uint32
	// gone are the STags that it has invalidated, with what the other side had sent by then, reused those that it
	// used nevertheless.
	gone   map[uint32]uint64
	Reused []reuse
}

// session is what a direction did in a session of SCTP.
type session struct {
	Controls []*Control
	Chunks   int // of either kind
	recent   recent
	// Offended: a chunk fits no pattern of a session; Offence is the TSN of the
	// first one.
	Offended bool
	Offence  int64
}

// idle is the state of directions that have not sent, requested or joined anything. It is
// never written to.
type idle struct {
	sending sending
	asking  asking
	session session
}

// share gives a direction the idle state.
func (h *Direction) share(i *idle) {
	h.own, h.sending, h.asking, h.session = 0, &i.sending, &i.asking, &i.session
}

// sends gives a direction what it sends to keep.
func (h *Direction) sends(k *pool) {
	if h.own&ownSending == 0 {
		h.own |= ownSending
		h.sending = k.sending.Take()
	}
}

// asks gives a direction what it asks for to keep.
func (h *Direction) asks() {
	if h.own&ownAsking == 0 {
		h.own |= ownAsking
		h.asking = &asking{}
	}
}

// joins gives a direction its own session state.
func (h *Direction) joins() {
	if h.own&ownSession == 0 {
		h.own |= ownSession
		h.session = &session{}
	}
}

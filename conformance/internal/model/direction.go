package model

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Direction is one direction. Thousands of connections have two each, of which many send
// nothing: what a half has sent, asked for, and done with its session is kept apart,
// and until there is something all halves share one of which nothing is known.
type Direction struct {
	Dir trace.Dir
	// own tells which of the three are its own, and may be written to.
	own owned
	// began: the start of the stream of FPDUs or chunks is known; gap: something
	// before is missing, or could not be read; hole: it is missing.
	Began, Gap, Hole bool
	// contig: nothing is missing since the beginning; unsure: the place of FPDUs
	// was found by plausible headers alone.
	contig, Unsure bool
	Unread         bool // a request could not be read
	// neverSent: no TSN is missing that could have had the numbers of the last gap.
	NeverSent bool
	// awaited: a finding waits for the next FPDU.
	Awaited bool
	// shifted: octets in no FPDU came in full operation, which its sender may not
	// count when it places markers.
	shifted bool
	// to is where the last PDU ends in the TCP stream.
	To    int64
	Count uint64 // FPDUs or segments
	Peer  *Direction
	*sending
	*asking
	*session
	// looses are octets outside startup frames and FPDUs, the first few of them.
	looses []Loose
	Frames []*Frame // its startup frames, the first few of them
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
	Sent    history
	Sizes   sizes
	Queues  [4]queue
	Tagged  [2]flow
	Crc     crcRun
	Opening opening
	Shapes  shapes
	Chain   chain
	Latest  last // FPDU
	First   firstSegment
	Second  Span // of the second FPDU
	// knows is how much of the other direction it had when it sent its last message
	// that is no Terminate.
	Knows int64
	// met is the STag of the peer that was looked at last.
	met         TaggedAddress
	HasVersions bool
	Dv, Rv      uint8
	// extended is the latest opcode of RFC 7306, or 0.
	Extended rdmap.Opcode
	// part: not all octets of some FPDU were captured.
	part bool
	// headless: the DDP header of some FPDU or chunk was cut off.
	headless bool
	// grid is how many markers in a row told their distance, so that it is known
	// where others stand.
	grid       uint32
	largest    int32 // ULPDU
	Terminates uint32
	after      uint32 // segments behind its Terminate
	Word       *Word  // its first Terminate
	// spoilt is the first FPDU with a wrong CRC.
	Spoilt *spoilt
	// cutShort is a message that had no end when the connection had one.
	CutShort *Message
}

// last is where the last FPDU of a half ends, and how much of the other direction its
// sender had then.
type last struct{ End, LastAcked int64 }

// asking is what a half has asked for, and what it did of what the other one asks.
type asking struct {
	Requests []Request // sent by this half, not answered
	// atomicsOut are those of them that are atomics, shorts those whose answer ended
	// early.
	atomicsOut, Shorts int
	atomics            uint64 // Atomic Requests sent
	Responses          uint64 // Atomic Responses sent
	// asked and flight are its requests.
	Asked  askedRing
	Flight flight
	// deepest is the most that was outstanding at once, as far as it is proven.
	Deepest deepest
	// areas are the STags on which it asks for atomics, pastAreas those of them that
	// are invalidated, operations the atomics that it does and refuses, shared the
	// STags on which MIX-01 was told.
	Areas      map[uint32]*Area
	PastAreas  []*Area
	Operations Operations
	shared     []uint32
	// gone are the STags that it has invalidated, reused those that it used
	// nevertheless.
	gone   map[uint32]struct{}
	Reused []reuse
}

// session is what a half did in a session of SCTP.
type session struct {
	Controls []*Control
	Chunks   int // of either kind
	recent   recent
	// offended: a chunk fits no pattern of a session; offence is the TSN of the
	// first one.
	Offended bool
	Offence  int64
}

// idle is what halves share of which nothing is known. Nothing is written to it.
type idle struct {
	sending sending
	asking  asking
	session session
}

// share gives a half what all have of which nothing is known.
func (h *Direction) share(i *idle) {
	h.own, h.sending, h.asking, h.session = 0, &i.sending, &i.asking, &i.session
}

// sends gives a half what it sends to keep.
func (h *Direction) sends() {
	if h.own&ownSending == 0 {
		h.own |= ownSending
		h.sending = &sending{}
	}
}

// asks gives a half what it asks for to keep.
func (h *Direction) asks() {
	if h.own&ownAsking == 0 {
		h.own |= ownAsking
		h.asking = &asking{}
	}
}

// joins gives a half a session of its own.
func (h *Direction) joins() {
	if h.own&ownSession == 0 {
		h.own |= ownSession
		h.session = &session{}
	}
}

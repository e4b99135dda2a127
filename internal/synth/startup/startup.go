// Package startup is the MPA startup of one end of a connection: a state
// machine that takes octets of the peer and gives startup frames, and in the
// end what was agreed.
//
// It speaks RFC 5044 (Rev 1), RFC 6581 (Rev 2, enhanced), its draft -01, the
// proposal of 2007 with its third frame, and the RDMA Consortium's Rev 0 as RFC
// 5044 appendix C tells of it. It has no clock and no socket.
package startup

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Dialect is what an end says about who may send first, and how.
type Dialect uint8

// The dialects.
const (
	// Plain is RFC 5044, or the RDMA Consortium's with Rev 0: no word.
	Plain Dialect = iota
	// Enhanced is RFC 6581, with Rev 2.
	Enhanced
	// Draft01 is draft-ietf-storm-mpa-peer-connect-01, with Rev 2.
	Draft01
	// RTR2007 is the proposal of 2007: Rev 1 with the S bit and a third frame.
	RTR2007
)

// Config is what an end wants.
type Config struct {
	// Initiator sends the Request.
	Initiator bool
	// Rev is the revision that it offers (initiator) or knows at most
	// (responder).
	Rev uint8
	// Dialect; a responder falls back to Plain when the Request is.
	Dialect Dialect
	// Markers in the stream that it receives.
	Markers bool
	// CRC in both directions.
	CRC bool
	// IRD and ORD are its own limits: requests of the peer that it holds, and
	// requests of its own that it may have outstanding. An initiator leaves what
	// is 0x3FFF or more to the upper layer; a responder follows the Request.
	IRD, ORD uint16
	// PeerToPeer asks for the model in which either side may send first: the A
	// bit of an enhanced initiator, which a responder repeats whatever stands
	// here, or the third frame of 2007 on both sides. RTR are the indications
	// that it can send, or take; an enhanced responder without any takes all.
	PeerToPeer bool
	RTR        mpa.RTRSet
	// Private is the private data of the upper layer.
	Private []byte
	// Reject answers with R=1.
	Reject bool
	// Strict closes on what RFC 5044 section 7.1.2 lists, and on an enhanced
	// frame that it does not know (RFC 6581 section 10); without it the end goes
	// on with whatever it can lay out, and takes any key for the one it awaits.
	Strict bool
}

// Result is what was agreed.
type Result struct {
	// SendMarkers and RecvMarkers say which streams have markers.
	SendMarkers, RecvMarkers bool
	CRC                      bool
	// Version is that of DDP and RDMAP: 0 with an RDMA Consortium peer, else 1.
	Version uint8
	// IRD and ORD are the depths in force.
	IRD, ORD uint16
	// RTR is the indication that the initiator has to send before anything
	// else, a single type; 0 if there is none. The responder takes any of RTRs.
	// Whatever there is, it may send only when an FPDU of the initiator has come
	// (RFC 5044 section 7.1.2 item 4), or the third frame of 2007.
	RTR, RTRs mpa.RTRSet
	// Frame: the third frame of 2007 is to be sent, or awaited.
	Frame bool
	// Request and Reply are the frames of both sides as they were understood.
	Request, Reply mpa.Startup
}

// State of the startup.
type State uint8

// The states.
const (
	// Idle: nothing said yet. A responder waits here.
	Idle State = iota
	// Waiting for the peer's frame.
	Waiting
	// Done: full operation may begin.
	Done
	// Rejected: the Reply had R=1.
	Rejected
	// Failed: the peer broke the rules; the connection is to be closed, without
	// a word: how FPDUs are framed is not known yet.
	Failed
)

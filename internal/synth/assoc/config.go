// Package assoc is one end of an SCTP association as a state machine: user
// messages and packets of the peer go in, packets come out. Time is an argument,
// in nanoseconds; there is no clock and no socket.
//
// It does what shows in a capture (RFC 9260): the four-way handshake with its
// parameters, bundling, fragmentation, SACK with gap blocks and duplicates,
// delayed SACKs, retransmission, SHUTDOWN and ABORT; and I-DATA (RFC 8260).
// The window is fixed, unless congestion control is wanted.
package assoc

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// Config of an end.
type Config struct {
	// Active sends the INIT.
	Active bool
	// SrcPort and DstPort, as this end sees them.
	SrcPort, DstPort uint16
	// Tag is the verification tag that the peer has to use, TSN the first one.
	Tag, TSN uint32
	// Out and In are the numbers of streams wanted and taken at most.
	Out, In uint16
	// Window is the receive window that is announced, in octets.
	Window uint32
	// Adaptation is the Adaptation Layer Indication (RFC 5061 section 4.2.6), if
	// HasAdaptation.
	Adaptation    uint32
	HasAdaptation bool
	// Addresses are listed in the INIT or INIT ACK: all of the host, if it has
	// several.
	Addresses []netip.Addr
	// MaxPacket is the largest packet in octets, without the IP header.
	MaxPacket int
	// Bundle puts as many chunks into a packet as fit; without it each chunk of
	// user data has a packet of its own.
	Bundle bool
	// IData uses I-DATA chunks.
	IData bool
	// Shuffle gives TSNs to unordered messages in another order than that in
	// which they were written, as chance has it.
	Shuffle bool
	// DelayedAck in ns: a SACK waits that long, or for a second packet.
	DelayedAck int64
	// RTO is the first retransmission timeout in ns (doubled each time), Retries
	// how often before the association is given up.
	RTO     int64
	Retries int
	// Inflight bounds the octets under way, as the receive window of the peer does.
	Inflight int
	// Congestion has a congestion window as well (RFC 9260 section 7.2): for real networks.
	Congestion bool
	// PadInit is the size of the INIT packet in octets, which gets a Padding Parameter (RFC
	// 4820 section 4) if it is smaller: who answers a stranger with no more than came from it
	// can answer then. 0: it is as small as can be.
	PadInit int
	// ZeroChecksum leaves the checksum zero.
	ZeroChecksum bool
	// Paths is the number of pairs of addresses; retransmissions take the next
	// one. Spread takes the next one with each packet.
	Paths  int
	Spread bool
	// Seed of what is left to chance.
	Seed uint64
}

// Message is a user message.
type Message struct {
	SID  uint16
	PPID uint32
	// Data are the octets of it.
	Data []byte
	// Place names the PDU in it, for faults of packets.
	Place pdu.Place
	// Barrier: it is not passed by others when TSNs are shuffled.
	Barrier bool
	// Faults of its chunks.
	Faults []pdu.Fault
}

// Place is that of a PDU on a stream.
type Place struct {
	SID uint16
	pdu.Place
}

// Packet is an SCTP packet.
type Packet struct {
	// Octets from the common header on.
	Octets []byte
	// Places of the PDUs that it carries; Again is how often one of them went out
	// before.
	Places []Place
	Again  int
	// Path is the pair of addresses.
	Path int
}

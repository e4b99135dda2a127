package scenario

import (
	"math/rand/v2"
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// fpduOverhead is what an FPDU has around its ULPDU: its length and the CRC.
const fpduOverhead = 6

// loadRetries is how often a stack sends a segment again before it gives up;
// with fewer a lossy link would end some of many connections.
const loadRetries = 15

// hosts sets what both ends of every connection have.
func (l *Shape) hosts(c *compiler) {
	c.sctpEverywhere = l.SCTP
	for side := range c.hosts {
		s := &c.hosts[side]
		h := &s.host
		if l.IPv6 {
			h.Addr, s.addr = netip.AddrPortFrom(ownAddress(true, side), [...]uint16{clientPort, serverPort}[side]), true
		}
		if l.VLAN != 0 {
			h.VLANs = []packet.VLAN{{TCI: l.VLAN}}
		}
		h.RNIC.Startup.Markers = l.Markers
		if l.FPDU != 0 {
			h.RNIC.MULPDU = l.FPDU - fpduOverhead
			h.TCP.Packing = tcp.Stream
		}
		if l.BadCRC > 0 {
			h.RNIC.BadCRC = l.BadCRC
			h.RNIC.Ignore |= rnic.IgnoreErrors
		}
		if l.Loss > 0 {
			h.TCP.Retries, h.SCTP.Retries = loadRetries, loadRetries
		}
		if l.Mix == Bulk {
			h.TCP.Timestamps = true
			h.RNIC.Endless = true // else it could be compressed to next to nothing
			h.TCP.DelayedAck, h.SCTP.DelayedAck = roundTrip, roundTrip
		}
	}
}

const (
	// frameTime is how long a frame of full size takes on the line in front of
	// the capture point, in nanoseconds: so short that what one connection sends
	// at once stays together, and a packet that is late is passed by those of
	// its own.
	frameTime = 4
	// lateBehind is how much later a reordered one is: two pass it, too few for
	// its sender to take it for lost.
	lateBehind = 2*frameTime + frameTime/2
	// bulkDelay of a line with bulk data, in nanoseconds: long enough that what
	// the connections send at once is rarely on the line at the same time, be
	// they as many as may be. Each is two lines from its peer.
	bulkDelay = 1_000_000
	roundTrip = 4 * bulkDelay
)

// link sets what the link does to packets. Half of the lost ones are lost in
// front of the capture point and show as gaps that are filled late, the others
// behind it and show twice.
func (l *Shape) link(c *compiler) {
	k := &c.script.Link
	for side := range k.Before {
		before, after := &k.Before[side], &k.After[side]
		if l.Mix == Bulk {
			before.Delay, after.Delay = bulkDelay, bulkDelay
		}
		if l.Mix == Bulk || l.Reorder > 0 {
			before.Rate = int64(c.mtu) * 8 * 1_000_000_000 / frameTime
			before.ReorderBy = lateBehind
		}
		before.Loss, after.Loss = l.Loss/2, l.Loss/2
		before.Reorder = l.Reorder
	}
}

// The octets of a capture file that are not in the streams.
const (
	// packetOverhead is what comes with each full packet: its headers and the
	// record around it, and half of an acknowledgement.
	packetOverhead = 105
	// loadFixed is what the beginning and the end of a connection take.
	loadFixed = 2048
	// shorter: packets of many messages of other sizes are not full; shortest: those of
	// small ones hardly ever are.
	shorter  = 1.4
	shortest = 3
)

// share is what each connection sends, in octets of its streams: at least some, so that none is without a message, however many there are.
func (l *Shape) share(mtu int) uint64 {
	each, least := float64(packetOverhead)/float64(mtu-ipv4TCP), uint64(1)
	switch l.Mix {
	case Mixed:
		each *= shorter
	case Small:
		each *= shortest
	case Bulk:
		least = leastWork + 1
	}
	return max(least, uint64(max(float64(l.Size)/float64(l.Flows)-loadFixed, 1)/(1+each+l.Loss)))
}

// timestampsLen is what the timestamps take of each segment (RFC 7323).
const timestampsLen = 12

// The packets that a connection with bulk data has under way: enough for the
// fourth to tell of the loss of the first, and as few as adapters send at once.
const (
	leastWindow = 4
	mostWindow  = 12
)

// packets is how many packets a connection with bulk data has under way.
func packets(rnd *rand.Rand) int { return leastWindow + rnd.IntN(mostWindow-leastWindow+1) }

// hurry bounds what the ends of a connection have under way, and with that the
// memory that each takes.
func hurry(rnd *rand.Rand, conn *synth.Connection) {
	n := packets(rnd)
	for side := range conn.Hosts {
		h := &conn.Hosts[side]
		h.TCP.Inflight = n * (h.TCP.MSS - timestampsLen)
		h.SCTP.Inflight = n * h.SCTP.MaxPacket
		h.Queue = max(h.TCP.Inflight, h.SCTP.Inflight)
	}
}

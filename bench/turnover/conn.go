package main

import (
	"math/rand/v2"
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
)

const (
	linkEthernet  = packet.LinkEthernet
	start         = int64(1_700_000_000e9) // of the capture, in nanoseconds since 1970
	betweenFrames = 700                    // nanoseconds
	mostBurst     = 8
	mostOpen      = 1 << 20
	mostConns     = 1 << 24
	leastSend     = 16
	mostSend      = 1024
	serverPort    = 5001
	window        = 1 << 15
)

// stage is what a connection sends next.
type stage uint8

const (
	syn stage = iota
	synAnswer
	synAcked
	request
	reply
	talk // messages, client and server in turn
	finishAnswer
	finishAcked
)

// conn is one connection.
type conn struct {
	addr  [2]packet.Addr // client and server
	port  uint16         // of the client
	seq   [2]uint32
	stage stage
	said  int // messages
	msn   [2]uint32
	enc   [2]mpa.Encoder
	over  bool
	// Of one that is idle: asks is the side that spoke last, and the other one owes an
	// acknowledgement.
	asks int
	owes bool
	// twice: it has received the octet before the next one again.
	twice bool
}

// begin makes it the nth connection.
func (c *conn) begin(n int, rnd *rand.Rand) {
	const ports, base = 1 << 14, 1 << 14
	host := n / ports
	*c = conn{port: uint16(base + n%ports), seq: [2]uint32{rnd.Uint32(), rnd.Uint32()}}
	c.addr[0] = packet.AddrFrom(netip.AddrFrom4([4]byte{10, 1, byte(host >> 8), byte(host)})) //nolint:gosec // octets of a number
	c.addr[1] = packet.AddrFrom(netip.AddrFrom4([4]byte{10, 2, 0, byte(n % 64)}))             //nolint:gosec // below 64
	for i := range c.enc {
		c.enc[i].CRC = true
	}
}

// next appends the next frame.
func (c *conn) next(dst []byte, messages int, rnd *rand.Rand) []byte {
	const ack, push = reassembly.FlagACK, reassembly.FlagPSH
	switch c.stage++; c.stage - 1 {
	case syn:
		return c.frame(dst, 0, reassembly.FlagSYN, nil)
	case synAnswer:
		return c.frame(dst, 1, reassembly.FlagSYN|ack, nil)
	case synAcked:
		return c.frame(dst, 0, ack, nil)
	case request:
		return c.frame(dst, 0, ack|push, mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1}.Append(nil))
	case reply:
		return c.frame(dst, 1, ack|push, mpa.Startup{Kind: mpa.StartupReply, C: true, Rev: 1}.Append(nil))
	case talk:
		if c.said < messages {
			c.stage = talk
			side := c.said % 2
			c.said++
			return c.frame(dst, side, ack|push, c.send(side, rnd))
		}
		c.stage = finishAnswer
		return c.frame(dst, 0, ack|reassembly.FlagFIN, nil)
	case finishAnswer:
		return c.frame(dst, 1, ack|reassembly.FlagFIN, nil)
	default:
		c.over = true
		return c.frame(dst, 0, ack, nil)
	}
}

// send is the FPDU of a Send of some octets.
func (c *conn) send(side int, rnd *rand.Rand) []byte {
	c.msn[side]++
	control := rdmap.Control{RV: 1, Opcode: rdmap.OpSend}.Octet()
	ulpdu := ddp.Segment{DV: 1, Last: true, RsvdULP: control, MSN: c.msn[side]}.Append(make([]byte, 0, mostSend))
	for range leastSend/8 + rnd.IntN((mostSend-leastSend)/8) {
		v := rnd.Uint64()
		ulpdu = append(ulpdu, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)) //nolint:gosec // octets
	}
	wire, _ := c.enc[side].Append(nil, ulpdu) // it is not too long
	return wire
}

// frame appends a frame of a side.
func (c *conn) frame(dst []byte, side int, flags uint16, payload []byte) []byte {
	b := packet.Build{
		Link: linkEthernet, SrcMAC: [6]byte{2, 0, 0, 0, 0, byte(side)}, DstMAC: [6]byte{2, 0, 0, 0, 0, byte(1 - side)}, //nolint:gosec // 0 or 1
		Src: c.addr[side], Dst: c.addr[1-side], SrcPort: c.port, DstPort: serverPort, DontFragment: true,
		Seq: c.seq[side], Flags: flags, Window: window, Payload: payload,
	}
	if side == 1 {
		b.SrcPort, b.DstPort = serverPort, c.port
	}
	if flags&reassembly.FlagACK != 0 {
		b.Ack = c.seq[1-side]
	}
	if flags&reassembly.FlagSYN != 0 {
		const mss = 1460
		b.Options = packet.AppendSACKPermitted(packet.AppendMSS(nil, mss))
	}
	if c.twice { // it says so (RFC 2883)
		b.Options, c.twice = packet.AppendSACK(nil, [2]uint32{b.Ack - 1, b.Ack}), false
	}
	c.seq[side] += uint32(len(payload)) //nolint:gosec // of a packet
	if flags&(reassembly.FlagSYN|reassembly.FlagFIN) != 0 {
		c.seq[side]++
	}
	return b.Append(dst)
}

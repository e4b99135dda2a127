package peer

import (
	"net"
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// tappedPackets is one SCTP association on its taps. The packets of SCTP are those that were
// sent and received, the headers of UDP and IP are made around them.
type tappedPackets struct {
	taps []*Tap
	ends [2]netip.AddrPort
	buf  []byte
}

// newTappedPackets begins an association that one side has opened. SCTP over UDP is known by
// its port: if neither side has it, the one that waits has it in the capture.
func newTappedPackets(taps []*Tap, local net.Addr, remote netip.AddrPort, opened bool) *tappedPackets {
	t := &tappedPackets{taps: taps, ends: [2]netip.AddrPort{endpointOf(local, remote), remote}}
	if own := t.ends[here]; own.Addr().IsUnspecified() {
		t.ends[here] = netip.AddrPortFrom(towards(remote), own.Port())
	}
	if t.ends[here].Port() != EncapsulationPort && t.ends[there].Port() != EncapsulationPort {
		waits := here
		if opened {
			waits = there
		}
		t.ends[waits] = netip.AddrPortFrom(t.ends[waits].Addr(), EncapsulationPort)
	}
	return t
}

// towards is the own address that the system uses for another one.
func towards(remote netip.AddrPort) netip.Addr {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(remote))
	if err != nil {
		return remote.Addr()
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	return endpointOf(c.LocalAddr(), remote).Addr()
}

// packet writes down a packet of a side.
func (t *tappedPackets) packet(side int, b []byte) {
	if len(t.taps) == 0 {
		return
	}
	t.buf = t.frame(t.buf[:0], side, b)
	for _, w := range t.taps {
		w.write(t.buf, len(t.buf))
	}
}

// handshake writes down what a client has begun with, and the answer: nothing of another
// association comes between, which might have the same addresses and ports.
func (t *tappedPackets) handshake(packets [][]byte) {
	for _, w := range t.taps {
		w.mu.Lock()
		for n, b := range packets {
			frame := t.frame(nil, [...]int{there, here, there}[n], b)
			w.put(frame, len(frame))
		}
		w.mu.Unlock()
	}
}

// frame puts a packet of a side into IP and UDP.
func (t *tappedPackets) frame(dst []byte, side int, b []byte) []byte {
	from, to := t.ends[side], t.ends[1-side]
	p := packet.Build{
		Link: packet.LinkRaw, Src: packet.AddrFrom(from.Addr()), Dst: packet.AddrFrom(to.Addr()), DontFragment: true, Proto: packet.ProtoUDP,
	}
	p.Payload = p.UDP(from.Port(), to.Port(), b)
	return p.Append(dst)
}

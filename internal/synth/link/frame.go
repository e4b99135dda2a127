package link

import (
	"encoding/binary"
	"math"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// Octets of IP headers without options and extensions.
const (
	ipv4Header     = 20
	ipv6Header     = 40
	fragmentHeader = 8
	// fragmentUnit is what fragments are measured in, and the least that one
	// carries.
	fragmentUnit = 8
	// checksumAt is where the checksum stands in a TCP header.
	checksumAt = 16
	// sctpChecksumAt is where it stands in an SCTP packet.
	sctpChecksumAt = 8
)

// render makes frames of a packet and writes them.
func (t *Tap) render(now int64, p *Packet, fragment int) {
	b := p.frame(&t.build)
	if t.tunnels != nil {
		fragment = t.tunnels.enter(b, t.cfg.Link, fragment)
	}
	size := 0
	if fragment > 0 || p.Orders.BadChecksum || t.cfg.Offload[p.Side] {
		own := b.Raw == nil && (b.Proto == packet.ProtoNone || b.Proto == packet.ProtoTCP)
		t.seg = b.AppendSegment(t.seg[:0])
		size = fragmentSize(b, len(t.seg), fragment)
		switch {
		case b.Raw == nil && b.Proto == packet.ProtoSCTP && t.cfg.Offload[p.Side] && len(t.seg) >= sctpChecksumAt+4:
			copy(t.seg[sctpChecksumAt:], []byte{0, 0, 0, 0})
		case !own:
		case p.Orders.BadChecksum:
			t.seg[checksumAt+1] ^= 0x55
		case t.cfg.Offload[p.Side] && size == 0: // no adapter sums over several packets
			binary.BigEndian.PutUint16(t.seg[checksumAt:], b.PseudoSum())
		}
		// From here on the segment is octets like any others, wherever headers,
		// padding and fragments put them.
		b.Raw = t.seg
	}
	if size > 0 {
		for _, f := range b.Fragments(size) {
			t.pass(now, p, f)
		}
		return
	}
	t.buf = b.Append(t.buf[:0])
	t.pass(now, p, t.buf)
}

// pass writes a frame, or the frames of the tunnel that carry it.
func (t *Tap) pass(now int64, p *Packet, data []byte) {
	if t.tunnels == nil {
		t.frame(now, p, data)
		return
	}
	for _, f := range t.tunnels.wrap(p.Side, data) {
		t.frame(now, p, f)
	}
}

// fragmentSize is how many octets of a segment go into each fragment when no
// packet is to be larger than limit. It is 0 when the segment fits, and when its
// length does not fit the IP header: it is still to be cut by segmentation
// offload then.
func fragmentSize(b *packet.Build, segment, limit int) int {
	head, extra, most := ipv4Header+(len(b.IPOptions)+3)&^3, 0, math.MaxUint16
	if !b.Src.Is4() {
		head, extra, most = ipv6Header, fragmentHeader, math.MaxUint16+ipv6Header
		for _, x := range b.Extensions {
			head += (2 + len(x.Body) + 7) &^ 7
		}
	}
	if limit <= 0 || segment <= max(limit-head, fragmentUnit) || head+segment > most {
		return 0
	}
	return max((limit-head-extra)&^(fragmentUnit-1), fragmentUnit)
}

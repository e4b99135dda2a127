package fields

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// walk steps over the headers of a frame. Of a packet that is OK, internal/packet has
// checked them; of others, what is there is shown.
type walk struct {
	l   *Layers
	b   []byte // from the next header on
	pos int    // of b in the frame, -1: not in it
}

// take adds a header and steps over it. It reports false where the capture ends in it.
func (w *walk) take(layer *Layer, size int) bool {
	w.l.push(layer, w.b, w.pos, size)
	if len(w.b) < size {
		w.b = nil
		return false
	}
	w.skip(size)
	return true
}

func (w *walk) skip(n int) {
	w.b = w.b[n:]
	if w.pos >= 0 {
		w.pos += n
	}
}

// Ethernet types that are stepped over or into.
const (
	typeIPv4  = 0x0800
	typeVLAN  = 0x8100
	typeIPv6  = 0x86dd
	typeQinQ  = 0x88a8
	typeQinQ2 = 0x9100
)

// link steps over the link layer, and the network layer behind it.
func (w *walk) link(link uint16) {
	b := w.b
	switch link {
	case packet.LinkEthernet:
		w.ethernet()
	case packet.LinkLinuxSLL:
		if w.take(layerSLL, 16) {
			w.ofType(binary.BigEndian.Uint16(b[14:]))
		}
	case packet.LinkLinuxSLL2:
		if w.take(layerSLL2, 20) {
			w.ofType(binary.BigEndian.Uint16(b))
		}
	case packet.LinkNull, packet.LinkLoop:
		if w.take(layerNull, 4) {
			w.version()
		}
	case packet.LinkRaw, packet.LinkRaw12, packet.LinkRaw14:
		w.take(layerRaw, 0)
		w.version()
	case packet.LinkIPv4, packet.LinkIPv6:
		w.version()
	}
}

func (w *walk) ethernet() {
	if b := w.b; w.take(layerEth, 14) {
		w.ofType(binary.BigEndian.Uint16(b[12:]))
	}
}

// ofType steps over tags and into IP; llc, where a length stands in place of the type, is
// left to internal/packet.
func (w *walk) ofType(t uint16) {
	for range packet.MaxVLANs {
		if t != typeVLAN && t != typeQinQ && t != typeQinQ2 {
			break
		}
		b, layer := w.b, layerVLAN
		if t == typeQinQ {
			layer = layerQinQ
		}
		if !w.take(layer, 4) {
			return
		}
		t = binary.BigEndian.Uint16(b[2:])
	}
	if t == typeIPv4 || t == typeIPv6 {
		w.version()
		return
	}
	if p := w.l.f.Packet; t < 0x600 && p != nil && len(w.l.f.Tunnels) == 0 && p.NetworkOffset > w.pos && p.NetworkOffset <= len(w.l.f.Data) {
		w.skip(p.NetworkOffset - w.pos)
		w.version()
	}
}

// version steps into the IP header at hand, and over extension headers.
func (w *walk) version() {
	if len(w.b) == 0 {
		return
	}
	switch b := w.b; b[0] >> 4 {
	case 4:
		if w.take(layerIP, max(20, int(b[0]&15)*4)) {
			w.upper(b[9], binary.BigEndian.Uint16(b[6:])&0x3fff == 0, false)
		}
	case 6:
		if w.take(layerIPv6, 40) {
			w.upper(b[6], true, true)
		}
	}
}

// upper steps over extension headers, and over UDP: what follows it is a tunnel, or SCTP.
func (w *walk) upper(next uint8, first, v6 bool) {
	for first && len(w.b) >= 8 {
		b := w.b
		layer, size := layerUDP, 8
		switch {
		case next == uint8(packet.ProtoUDP):
		case next == 51:
			layer, size = layerAH, 8+4*int(b[1])
		case !v6:
			return
		case next == 0:
			layer, size = layerHopByHop, 8+8*int(b[1])
		case next == 43:
			layer, size = layerRouting, 8+8*int(b[1])
		case next == 60:
			layer, size = layerDestOpts, 8+8*int(b[1])
		case next == 44:
			layer = layerFragment
			first = binary.BigEndian.Uint16(b[2:])&^6 == 0
		default:
			return
		}
		if w.l.found > maxHeads || !w.take(layer, size) || layer == layerUDP {
			return
		}
		next = b[0]
	}
}

// maxHeads bounds the headers of a frame.
const maxHeads = 40

// tunnels adds the headers of tunnels, with what lies between them.
func (w *walk) tunnels(p *packet.Packet) {
	data := w.l.f.Data
	for i := range w.l.f.Tunnels {
		t := &w.l.f.Tunnels[i]
		h := Head{Layer: layerTunnel, Pos: -1, aux: uint64(i)}
		if t.Inside < 0 || t.Inside > len(data) || t.Offset < 0 || t.Offset > t.Inside {
			w.l.heads = append(w.l.heads, h)
			continue
		}
		h.Pos, h.Octets, h.Size = t.Offset, data[t.Offset:], t.Inside-t.Offset
		w.l.heads = append(w.l.heads, h)
		w.b, w.pos = data[t.Inside:], t.Inside
		switch t.Carries {
		case packet.LinkEthernet:
			w.ethernet()
		case packet.LinkIPv4, packet.LinkIPv6:
			w.version()
		}
	}
	if n := len(w.l.f.Tunnels); w.l.f.Tunnels[n-1].Inside < 0 && p.NetworkOffset >= 0 && p.NetworkOffset < len(data) {
		w.b, w.pos = data[p.NetworkOffset:], p.NetworkOffset
		w.version()
	}
}

// transport adds the header of TCP or SCTP.
func (w *walk) transport(p *packet.Packet) {
	switch p.Proto {
	case packet.ProtoTCP:
		w.l.push(layerTCP, p.Segment, p.SegmentOffset, p.SegmentLen-p.PayloadLen)
	case packet.ProtoSCTP:
		w.l.push(layerSCTP, p.Segment, p.SegmentOffset, 12)
	default:
	}
}

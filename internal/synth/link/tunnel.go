package link

import (
	"encoding/binary"
	"slices"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// TunnelKind is what carries packets.
type TunnelKind uint8

// The kinds of tunnels.
const (
	TunnelGRE       TunnelKind = iota // RFC 2784
	TunnelERSPAN                      // type II
	TunnelERSPANI                     // type I
	TunnelERSPANIII                   // type III
	TunnelVXLAN                       // RFC 7348
	TunnelGeneve                      // RFC 8926
	TunnelMPLS                        // RFC 3032
	TunnelPPPoE                       // a session, RFC 2516
	TunnelIP                          // IP in IP
)

// Tunnel carries packets, or Ethernet frames, or another tunnel.
type Tunnel struct {
	Kind TunnelKind
	// Addr are the ends of the tunnel by side: the source of what the side sends.
	// MPLS and PPPoE have none.
	Addr [2]packet.Addr
	// Ethernet has it carry Ethernet frames, where it has the choice: GRE, Geneve
	// and MPLS.
	Ethernet bool

	// HasKey, Sequence and Checksum add optional fields of GRE.
	HasKey, Sequence, Checksum bool
	Key                        uint32
	// VNI is for VXLAN and Geneve.
	VNI uint32
	// Options is how many octets of options a Geneve header has, a multiple of
	// four.
	Options int
	// Span and VLAN are for ERSPAN.
	Span, VLAN uint16
	// Labels of MPLS, the top one first. ControlWord stands before Ethernet
	// frames.
	Labels      []uint32
	ControlWord bool
	// Session is for PPPoE.
	Session uint16
}

// Ethernet types (IEEE registry).
const (
	etherIPv4      = 0x0800
	etherTEB       = 0x6558 // an Ethernet frame
	etherIPv6      = 0x86dd
	etherMPLS      = 0x8847
	etherPPPoE     = 0x8864
	etherERSPAN    = 0x88be
	etherERSPANIII = 0x22eb
)

// UDP ports.
const (
	portVXLAN  = 4789
	portGeneve = 6081
	// portTunnel is the source port of tunnels.
	portTunnel = 49152
)

// HasAddrs reports whether an IP header stands before the tunnel's own.
func (t *Tunnel) HasAddrs() bool { return t.Kind != TunnelMPLS && t.Kind != TunnelPPPoE }

// Headers is how many headers it adds to a packet, besides those of IP, UDP and Ethernet that carry them.
func (t *Tunnel) Headers() int {
	switch t.Kind {
	case TunnelMPLS:
		return len(t.Labels)
	case TunnelERSPAN, TunnelERSPANIII: // behind GRE; type I is nothing but GRE
		return 2
	default:
		return 1
	}
}

// ethernet reports whether it carries Ethernet frames.
func (t *Tunnel) ethernet() bool {
	switch t.Kind {
	case TunnelERSPAN, TunnelERSPANI, TunnelERSPANIII, TunnelVXLAN:
		return true
	case TunnelGRE, TunnelGeneve, TunnelMPLS:
		return t.Ethernet
	default:
		return false
	}
}

// Carries reports whether it can carry another tunnel right within.
func (t *Tunnel) Carries(inner *Tunnel) bool {
	switch {
	case t.ethernet() || inner.HasAddrs():
		return true
	case t.Kind == TunnelPPPoE:
		return inner.Kind == TunnelMPLS
	default:
		return t.Kind == TunnelGRE || t.Kind == TunnelGeneve
	}
}

// tunnels wrap packets.
type tunnels struct {
	all      []Tunnel
	sequence [][2]uint32 // of each tunnel, by side
	outer    packet.Build
	fragment int // largest outer packet
	frames   [][]byte
}

func newTunnels(all []Tunnel) *tunnels {
	if len(all) == 0 {
		return nil
	}
	return &tunnels{all: all, sequence: make([][2]uint32, len(all))}
}

// enter takes the link layer off a packet, for the outermost tunnel. It returns
// the largest packet inside of the tunnels: it is the outermost IP packet that is
// cut into fragments.
func (t *tunnels) enter(b *packet.Build, link uint16, fragment int) int {
	t.outer = packet.Build{
		Link: link, SrcMAC: b.SrcMAC, DstMAC: b.DstMAC, VLANs: b.VLANs, Pad: b.Pad, BigEndian: b.BigEndian,
		ID: b.ID, TTL: b.TTL,
	}
	b.Link, b.VLANs, b.Pad, b.Trailer = packet.LinkRaw, nil, false, nil
	if t.all[0].HasAddrs() {
		t.fragment = fragment
		return 0
	}
	t.fragment = 0
	return fragment
}

// wrap returns the frames that carry an IP packet.
func (t *tunnels) wrap(side int, data []byte) [][]byte {
	unit, kind := slices.Clone(data), uint16(etherIPv4)
	if data[0]>>4 == 6 {
		kind = etherIPv6
	}
	for i := len(t.all) - 1; i >= 0; i-- {
		c := &t.all[i]
		if c.ethernet() {
			eth := packet.Build{Link: packet.LinkEthernet, SrcMAC: t.outer.SrcMAC, DstMAC: t.outer.DstMAC, EtherType: kind}
			unit, kind = append(eth.AppendLink(nil), unit...), etherTEB
		}
		if !c.HasAddrs() {
			unit, kind = c.onLink(unit, kind)
			continue
		}
		b := packet.Build{Link: packet.LinkRaw, ID: t.outer.ID, TTL: t.outer.TTL, Src: c.Addr[side], Dst: c.Addr[1-side]}
		c.inIP(&b, unit, kind, t.next(i, side))
		if i == 0 {
			return t.outermost(&b)
		}
		unit, kind = b.Append(nil), etherIPv4
		if !b.Src.Is4() {
			kind = etherIPv6
		}
	}
	t.outer.EtherType = kind
	t.frames = append(t.frames[:0], append(t.outer.AppendLink(nil), unit...))
	return t.frames
}

// next is the sequence number of a packet.
func (t *tunnels) next(i, side int) uint32 {
	t.sequence[i][side]++
	return t.sequence[i][side]
}

// outermost returns the frames of the outermost IP packet.
func (t *tunnels) outermost(b *packet.Build) [][]byte {
	b.Link, b.SrcMAC, b.DstMAC, b.VLANs = t.outer.Link, t.outer.SrcMAC, t.outer.DstMAC, t.outer.VLANs
	b.Pad, b.BigEndian = t.outer.Pad, t.outer.BigEndian
	if size := fragmentSize(b, len(b.Payload), t.fragment); size > 0 {
		return b.Fragments(size)
	}
	t.frames = append(t.frames[:0], b.Append(nil))
	return t.frames
}

// inIP makes b the IP packet that carries a unit of an Ethernet type.
func (t *Tunnel) inIP(b *packet.Build, unit []byte, kind uint16, sequence uint32) {
	switch t.Kind {
	case TunnelVXLAN:
		h := binary.BigEndian.AppendUint32([]byte{0x08, 0, 0, 0}, t.VNI<<8)
		b.Proto, b.Payload = packet.ProtoUDP, datagram(b, portVXLAN, append(h, unit...))
	case TunnelGeneve:
		h := binary.BigEndian.AppendUint16([]byte{byte(t.Options / 4), 0}, kind) //nolint:gosec // at most 63
		h = append(binary.BigEndian.AppendUint32(h, t.VNI<<8), geneveOptions(t.Options)...)
		b.Proto, b.Payload = packet.ProtoUDP, datagram(b, portGeneve, append(h, unit...))
	case TunnelIP:
		b.Proto, b.Payload = packet.ProtoIPv4, unit
		if kind == etherIPv6 {
			b.Proto = packet.ProtoIPv6
		}
	case TunnelERSPAN, TunnelERSPANI, TunnelERSPANIII:
		b.Proto, b.Payload = packet.ProtoGRE, t.erspan(unit, sequence)
	default:
		b.Proto, b.Payload = packet.ProtoGRE, t.gre(unit, kind, sequence)
	}
}

// erspan is a mirrored frame behind the headers of ERSPAN and of GRE, which has
// sequence numbers but for type I.
func (t *Tunnel) erspan(frame []byte, sequence uint32) []byte {
	const (
		versionII, versionIII = 1 << 12, 2 << 12
		restII, restIII       = 4, 8 // octets behind the session
	)
	version, rest, kind := uint16(versionII), restII, uint16(etherERSPAN)
	switch t.Kind {
	case TunnelERSPANI:
		return (&Tunnel{}).gre(frame, etherERSPAN, 0)
	case TunnelERSPANIII:
		version, rest, kind = versionIII, restIII, etherERSPANIII
	default:
	}
	h := binary.BigEndian.AppendUint16(nil, version|t.VLAN)
	h = append(binary.BigEndian.AppendUint16(h, t.Span), make([]byte, rest)...)
	return (&Tunnel{Sequence: true}).gre(append(h, frame...), kind, sequence)
}

// datagram is a UDP datagram. Over IPv4 its checksum is zero (RFC 7348 section 5).
func datagram(b *packet.Build, port uint16, payload []byte) []byte {
	d := b.UDP(portTunnel, port, payload)
	if b.Src.Is4() {
		d[6], d[7] = 0, 0
	}
	return d
}

// geneveOptions are options of an experimental class (RFC 8926 section 3.5), as
// long as the length of one can be, until there are n octets.
func geneveOptions(n int) (b []byte) {
	const head, unit, longest = 4, 4, 31
	for n > 0 {
		size := min(n, head+longest*unit)
		b = append(b, 0xff, 0xff, 1, byte((size-head)/unit))
		b = append(b, make([]byte, size-head)...)
		n -= size
	}
	return b
}

// gre is a unit behind a GRE header.
func (t *Tunnel) gre(unit []byte, kind uint16, sequence uint32) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0, 0}, kind)
	if t.Checksum {
		b[0] |= 0x80
		b = append(b, 0, 0, 0, 0)
	}
	if t.HasKey {
		b[0] |= 0x20
		b = binary.BigEndian.AppendUint32(b, t.Key)
	}
	if t.Sequence {
		b[0] |= 0x10
		b = binary.BigEndian.AppendUint32(b, sequence)
	}
	b = append(b, unit...)
	if t.Checksum {
		binary.BigEndian.PutUint16(b[4:], packet.InternetChecksum(b))
	}
	return b
}

// onLink is a unit behind the header of a tunnel that has no IP header, with its
// Ethernet type.
func (t *Tunnel) onLink(unit []byte, kind uint16) ([]byte, uint16) {
	var b []byte
	if t.Kind == TunnelPPPoE {
		protocol := map[uint16]uint16{etherIPv4: 0x0021, etherIPv6: 0x0057, etherMPLS: 0x0281}[kind]
		b = binary.BigEndian.AppendUint16([]byte{0x11, 0}, t.Session)
		b = binary.BigEndian.AppendUint16(b, uint16(len(unit)+2)) //nolint:gosec // a packet
		b = binary.BigEndian.AppendUint16(b, protocol)
		return append(b, unit...), etherPPPoE
	}
	for i, label := range t.Labels {
		entry := label<<12 | 64
		if i == len(t.Labels)-1 {
			entry |= 0x100
		}
		b = binary.BigEndian.AppendUint32(b, entry)
	}
	if t.Ethernet && t.ControlWord {
		b = append(b, 0, 0, 0, 0)
	}
	return append(b, unit...), etherMPLS
}

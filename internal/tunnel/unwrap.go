package tunnel

import "github.com/iwdissect/iwdissect/internal/packet"

// MaxDepth is how many tunnel headers are taken off a frame.
const MaxDepth = 8

// Reasons of frames whose tunnels could not be taken off, beside those of
// internal/packet.
const (
	// ReasonDepth: more than MaxDepth headers. The frame is Malformed.
	ReasonDepth = "tunnel-depth"
	// The capture ends before the end of the header. The frame is Truncated.
	reasonGRE    = "gre-header"
	reasonERSPAN = "erspan-header"
	reasonGeneve = "geneve-options"
	reasonMPLS   = "mpls-label"
	reasonPPPoE  = "pppoe-header"
)

// Unwrapper takes tunnel headers off frames. The zero value is ready. It is for
// one goroutine.
type Unwrapper struct {
	headers [MaxDepth + 1]Header // the last one tells that there are too many
	n       int
}

// octets is what is left of a frame.
type octets struct {
	data   []byte // as captured
	length int    // on the wire
	offset int    // in the frame, -1: in a datagram assembled from fragments
}

func (o *octets) advance(n int) {
	o.data = o.data[n:]
	o.length -= n
	if o.offset >= 0 {
		o.offset += n
	}
}

// limit drops what lies behind n octets on the wire.
func (o *octets) limit(n int) {
	o.length = n
	o.data = o.data[:min(n, len(o.data))]
}

// layer is a header that may come next.
type layer uint8

const (
	none layer = iota // nothing that is known
	ethernet
	ipv4
	ipv6
	inIPv4 // IPv4 in IP
	inIPv6 // IPv6 in IP
	gre
	erspanII
	erspanIII
	vxlan
	geneve
	mpls
	pppoe
)

// outcome is what came of a header.
type outcome uint8

const (
	taken   outcome = iota // it was taken off
	refused                // it is not what it was looked for as
	cut                    // the capture ends in it
)

// Unwrap decodes what the frame carries, where d ended at a tunnel with st
// NotIP or OtherTransport: it fills p again with what it found inside, from
// tunnel to tunnel. When there is no tunnel it returns st and leaves p alone.
//
// Frame and time are those that d was given. [packet.Decoder.Fault] tells why the
// result is Malformed or Truncated.
func (u *Unwrapper) Unwrap(d *packet.Decoder, st packet.Status, frame uint64, time int64, p *packet.Packet) packet.Status {
	u.n = 0
	for st == packet.NotIP || st == packet.OtherTransport {
		in := octets{p.Segment, p.SegmentLen, p.SegmentOffset}
		before := u.n
		next, ok := first(st, &in, p)
		for ok == taken && next > ipv6 {
			at, reason, had := in.offset, "", u.n
			next, reason, ok = u.take(next, &in, p)
			u.place(had, at, in.offset, next)
			if st == packet.OtherTransport && u.n > before {
				h := &u.headers[before]
				h.Src, h.Dst, h.HasAddrs = p.Src, p.Dst, true
			}
			switch {
			case u.n > MaxDepth: // before cut: a label may be taken and what follows it cut
				u.n = MaxDepth
				d.SetFault(packet.Fault{Code: ReasonDepth, Offset: at})
				return packet.Malformed
			case ok == cut:
				d.SetFault(packet.Fault{Code: reason, Offset: at})
				return packet.Truncated
			}
		}
		if ok == refused || next == none {
			u.n = before
			return st
		}
		st = d.DecodeInner(packet.Inner{
			Link: linkOf(next), Data: in.data, Length: in.length, Offset: in.offset,
			Frame: frame, Time: time, Fragments: p.Fragments,
		}, p)
	}
	return st
}

// place notes where the headers from the given one on stand, that were taken off together.
func (u *Unwrapper) place(from, at, inside int, next layer) {
	for i := from; i < u.n; i++ {
		h := &u.headers[i]
		h.Offset, h.Inside, h.Carries = at, inside, NoLink
		if i == u.n-1 && next > none && next <= ipv6 {
			h.Carries = linkOf(next)
		}
	}
}

// Headers are those taken off the frame that Unwrap was last called for,
// outermost first. They are valid until the next call.
func (u *Unwrapper) Headers() []Header { return u.headers[:u.n:u.n] }

func linkOf(l layer) uint16 {
	switch l {
	case ipv4:
		return packet.LinkIPv4
	case ipv6:
		return packet.LinkIPv6
	default:
		return packet.LinkEthernet
	}
}

// push adds a header.
func (u *Unwrapper) push(k Kind) *Header {
	h := &u.headers[u.n]
	u.n++
	*h = Header{Kind: k}
	return h
}

// first finds out at which tunnel the decoder ended.
func first(st packet.Status, in *octets, p *packet.Packet) (layer, outcome) {
	if st == packet.NotIP {
		if l := ofEtherType(p.EtherType); l == mpls || l == pppoe {
			return l, taken
		}
		return none, refused
	}
	switch p.Proto {
	case packet.ProtoGRE:
		return gre, taken
	case packet.ProtoIPv4:
		return inIPv4, taken
	case packet.ProtoIPv6:
		return inIPv6, taken
	case packet.ProtoUDP:
		return takeUDP(in, p.DstPort)
	default:
		return none, refused
	}
}

// take takes off one header and tells what follows. The reason is for one that
// the capture cuts.
func (u *Unwrapper) take(l layer, in *octets, p *packet.Packet) (next layer, reason string, ok outcome) {
	switch l {
	case inIPv4:
		return u.inIP(IPv4InIPv4, IPv4InIPv6, ipv4, p), "", taken
	case inIPv6:
		return u.inIP(IPv6InIPv4, IPv6InIPv6, ipv6, p), "", taken
	case gre:
		next, ok = u.takeGRE(in)
		return next, reasonGRE, ok
	case erspanII:
		next, ok = u.takeERSPAN(in)
		return next, reasonERSPAN, ok
	case erspanIII:
		next, ok = u.takeERSPANIII(in)
		return next, reasonERSPAN, ok
	case vxlan:
		next, ok = u.takeVXLAN(in)
		return next, "", ok
	case geneve:
		next, ok = u.takeGeneve(in)
		return next, reasonGeneve, ok
	case mpls:
		next, ok = u.takeMPLS(in)
		return next, reasonMPLS, ok
	case pppoe:
		next, ok = u.takePPPoE(in)
		return next, reasonPPPoE, ok
	default:
		return none, "", refused
	}
}

// inIP notes IP in IP, which has no header of its own.
func (u *Unwrapper) inIP(over4, over6 Kind, next layer, p *packet.Packet) layer {
	if p.V6 {
		u.push(over6)
	} else {
		u.push(over4)
	}
	return next
}

// need tells whether n octets are there.
func (o *octets) need(n int) outcome {
	switch {
	case o.length < n:
		return refused
	case len(o.data) < n:
		return cut
	}
	return taken
}

// Ethernet types (IEEE registry).
const (
	etherIPv4      = 0x0800
	etherTEB       = 0x6558 // transparent Ethernet bridging (RFC 1701)
	etherVLAN      = 0x8100
	etherIPv6      = 0x86dd
	etherMPLS      = 0x8847
	etherMPLSUp    = 0x8848 // upstream-assigned labels (RFC 5332)
	etherPPPoE     = 0x8864
	etherQinQ      = 0x88a8
	etherERSPAN    = 0x88be // types I and II
	etherERSPANIII = 0x22eb
)

// ofEtherType is the layer that an Ethernet type announces.
func ofEtherType(t uint16) layer {
	switch t {
	case etherIPv4:
		return ipv4
	case etherIPv6:
		return ipv6
	case etherTEB:
		return ethernet
	case etherMPLS, etherMPLSUp:
		return mpls
	case etherPPPoE:
		return pppoe
	default:
		return none
	}
}

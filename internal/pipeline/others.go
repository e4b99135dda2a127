package pipeline

import (
	"fmt"
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// Others is what a capture holds besides iWARP. It explains why there is no iWARP in it.
type Others struct {
	// Links are the link types whose frames cannot be decoded.
	Links []Link
	// Seen counts frames by what they hold instead of TCP or SCTP.
	Seen [frameKinds]Seen
	// Streams are what TCP connections with data carry that is not iWARP, by protocol and
	// server.
	Streams []Stream
	// Unopened are servers to which connections were not opened, as no data shows
	// otherwise.
	Unopened []Unopened
	// Idle counts TCP connections that were opened and carried no data.
	Idle Seen
	// OneWay counts TCP connections with data of which one direction was not captured.
	OneWay Seen
	// Dropped counts connections that are not in the lists, which are bounded.
	Dropped uint64
}

// Seen counts something. First is the frame of the first.
type Seen struct{ Count, First uint64 }

func (s *Seen) add(frame uint64) {
	if s.Count == 0 || frame < s.First {
		s.First = frame
	}
	s.Count++
}

// Link is a link type whose frames cannot be decoded.
type Link struct {
	Type uint16 // a LINKTYPE number
	Seen
}

// FrameKind is what a frame holds instead of TCP or SCTP.
type FrameKind uint8

// The kinds of frames.
const (
	// RoCEv2 is InfiniBand's transport over UDP, RoCEv1 the same right over Ethernet.
	RoCEv2 FrameKind = iota
	RoCEv1
	// IPsec, WireGuard and MACsec are encrypted.
	IPsec
	WireGuard
	MACsec
	// OtherUDP is the rest of UDP, OtherIP the rest of IP, OtherNetwork what is not IP.
	OtherUDP
	OtherIP
	OtherNetwork
	frameKinds
)

// Numbers of these protocols (the IANA and IEEE registries).
const (
	portRoCE      = 4791
	portWireGuard = 51820
	portIPsecNAT  = 4500
	protoESP      = 50
	etherRoCE     = 0x8915
	etherMACsec   = 0x88e5
)

// maxLinks, maxStreams and maxUnopened bound the lists.
const (
	maxLinks    = 16
	maxStreams  = 64
	maxUnopened = 64
)

// frame counts a frame that was not decoded as TCP or SCTP.
func (o *Others) frame(f *capture.Frame, status packet.Status, p *packet.Packet) {
	switch status {
	case packet.UnknownLink:
		o.link(f)
	case packet.NotIP:
		kind := OtherNetwork
		switch p.EtherType {
		case etherRoCE:
			kind = RoCEv1
		case etherMACsec:
			kind = MACsec
		}
		o.Seen[kind].add(f.Number)
	case packet.OtherTransport:
		o.Seen[transport(p)].add(f.Number)
	default:
	}
}

// transport tells what an IP packet holds.
func transport(p *packet.Packet) FrameKind {
	switch {
	case p.Proto == protoESP:
		return IPsec
	case p.Proto != packet.ProtoUDP:
		return OtherIP
	case p.DstPort == portRoCE && baseTransport(p.Segment):
		return RoCEv2
	case p.DstPort == portIPsecNAT || p.SrcPort == portIPsecNAT:
		return IPsec
	case p.DstPort == portWireGuard || p.SrcPort == portWireGuard:
		return WireGuard
	}
	return OtherUDP
}

// baseTransport reports whether InfiniBand's Base Transport Header may follow a UDP
// header: its version is 0. What was not captured may be anything.
func baseTransport(segment []byte) bool {
	const version = 8 + 1 // behind the UDP header, with flags in the upper half
	return len(segment) <= version || segment[version]&0xf == 0
}

// link counts a frame of a link type that cannot be decoded.
func (o *Others) link(f *capture.Frame) {
	for i := range o.Links {
		if o.Links[i].Type == uint16(f.Link) {
			o.Links[i].add(f.Number)
			return
		}
	}
	if len(o.Links) < maxLinks {
		o.Links = append(o.Links, Link{uint16(f.Link), Seen{1, f.Number}})
	}
}

// undecodable says that none of so many frames of a capture could be decoded for its link type: a
// capture of which nothing was read must not look like one in which nothing is wrong.
func (o *Others) undecodable(src capture.Source, frames uint64) error {
	var all uint64
	for i := range o.Links {
		all += o.Links[i].Count
	}
	if all == 0 || all < frames {
		return nil
	}
	e := &capture.Error{Code: capture.CodeLink, Err: fmt.Errorf("none of %d frames can be decoded: link type %d is not supported", frames, o.Links[0].Type)}
	if named, ok := src.(interface{ Name() string }); ok {
		e.File = named.Name()
	}
	return e
}

// Stream is what TCP connections to a server carry that is not iWARP.
type Stream struct {
	Protocol Protocol
	// Server is the side that did not open the connection, or the one with the smaller port
	// if that was not captured.
	Server netip.AddrPort
	// Connections counts the connections, Late those of them whose start was not captured, Cut
	// those of which the snap length cut off octets.
	Connections, Late, Cut, Octets uint64
	First                          uint64
}

// Unopened is a server to which connections were not opened.
type Unopened struct {
	Server netip.AddrPort
	// Refused counts those that it answered with a reset, Silent those that it did not
	// answer. Spoilt are a single SYN each, with a wrong TCP checksum.
	Refused, Silent, Spoilt Seen
}

// connection notes a TCP connection that is over and carried no iWARP. first are the
// first octets of both sides.
func (o *Others) connection(t *trace.Connection, first [2][]byte) {
	a, b := &t.Flow[0], &t.Flow[1]
	server := serverOf(t)
	answer := &t.Flow[server]
	switch {
	case a.Octets+b.Octets > 0:
		if (a.Frames == 0 || b.Frames == 0) && !t.EndedEarly && !t.MayBeRest {
			o.OneWay.add(t.FirstFrame)
		}
		p := protocolOf(first)
		if f := &t.Flow; p.half() && (!t.SYN || f[0].Cut || f[1].Cut || f[0].Rare().Gaps+f[1].Rare().Gaps > 0) {
			p = Unrecognized // the rest may be what the capture lacks
		}
		o.stream(t, t.Side[server].Addr, p)
	case !t.SYN:
		o.Idle.add(t.FirstFrame)
	case answer.Frames == 0 && t.Flow[1-server].Frames == 1 && t.Flow[1-server].Rare().SumsWrong == 1:
		if u := o.unopened(t.Side[server].Addr); u != nil {
			u.Spoilt.add(t.FirstFrame)
		}
	case answer.Frames == 0 && t.HalfOpen == nil: // else it answered for the connection before
		o.silent(t.Side[server].Addr, t.FirstFrame)
	case answer.RST != nil && answer.MSS == 0 && answer.Frames == 1:
		if u := o.unopened(t.Side[server].Addr); u != nil {
			u.Refused.add(answer.RST.Frame)
		}
	default:
		o.Idle.add(t.FirstFrame)
	}
}

// silent notes a connection that its server did not answer.
func (o *Others) silent(server netip.AddrPort, frame uint64) {
	if u := o.unopened(server); u != nil {
		u.Silent.add(frame)
	}
}

// serverOf returns the side that was connected to.
func serverOf(t *trace.Connection) int {
	switch {
	case t.Flow[0].Opens:
		return 1
	case t.Flow[1].Opens:
		return 0
	case t.Side[0].Addr.Port() < t.Side[1].Addr.Port():
		return 0
	}
	return 1
}

func (o *Others) stream(t *trace.Connection, server netip.AddrPort, p Protocol) {
	var s *Stream
	for i := range o.Streams {
		if l := &o.Streams[i]; l.Protocol == p && l.Server == server {
			s = l
			break
		}
	}
	if s == nil {
		if len(o.Streams) >= maxStreams {
			o.Dropped++
			return
		}
		o.Streams = append(o.Streams, Stream{Protocol: p, Server: server, First: t.FirstFrame})
		s = &o.Streams[len(o.Streams)-1]
	}
	s.First = min(s.First, t.FirstFrame)
	s.Connections++
	s.Octets += t.Flow[0].Octets + t.Flow[1].Octets
	if !t.SYN {
		s.Late++
	}
	if t.Flow[0].Cut || t.Flow[1].Cut {
		s.Cut++
	}
}

func (o *Others) unopened(server netip.AddrPort) *Unopened {
	for i := range o.Unopened {
		if o.Unopened[i].Server == server {
			return &o.Unopened[i]
		}
	}
	if len(o.Unopened) >= maxUnopened {
		o.Dropped++
		return nil
	}
	o.Unopened = append(o.Unopened, Unopened{Server: server})
	return &o.Unopened[len(o.Unopened)-1]
}

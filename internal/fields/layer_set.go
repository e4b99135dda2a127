package fields

import (
	"encoding/binary"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Layers finds the headers of frames and the values in them. What a value needs of the
// frames before, as relative sequence numbers do, is kept for each connection. The zero
// value is not usable.
//
// A Layers is for one capture and one goroutine, and takes in every frame of it in order.
type Layers struct {
	// Interfaces are those of the capture, if it tells them.
	Interfaces func() []pcapng.Interface
	// Absolute leaves sequence and acknowledgement numbers as they stand in the header.
	Absolute bool

	f     *pipeline.Frame
	heads []Head
	found int // headers, also those that are not looked at
	// first and last are moments of frames, before that of the frame before this one.
	first, last, before int64
	begun               bool
	// shown is the moment of the last frame that was shown, if hasShown.
	shown    int64
	hasShown bool
	// follow: values of TCP that depend on the packets before are wanted.
	follow bool
	flows  tcpFlows
	tsns   sctpFlows
	seg    tcpSegment
	// only are the layers whose headers are looked at, by their numbers; nil: all.
	only []bool
	// carried are the protocols of the PDUs of the frame.
	carried []string
	buf     []byte // for texts; grown for the next frame, never while one is shown
	proto   []byte
}

// NewLayers makes a Layers for values of any row, or, without follow, only for those that
// stand in the frame itself.
func NewLayers(follow bool) *Layers { return &Layers{follow: follow} }

// fresh forgets the frames before.
func (l *Layers) fresh() {
	*l = Layers{follow: l.follow, Absolute: l.Absolute, Interfaces: l.Interfaces, buf: l.buf, proto: l.proto, heads: l.heads, only: l.only}
}

// Open takes in a frame. It is borrowed until the next call.
func (l *Layers) Open(f *pipeline.Frame) {
	l.f = f
	l.carried = l.carried[:0]
	l.buf, l.proto = l.buf[:0], l.proto[:0]
	switch now := f.Moment(); {
	case f.NoTime:
	case !l.begun:
		l.begun, l.first, l.before, l.last = true, now, now, now
	default:
		l.before, l.last = l.last, now
	}
	l.heads, l.found = l.heads[:0], 0
	l.find()
	if l.follow {
		l.track()
	}
}

// protocolsName is the field that needs all headers of a frame.
const protocolsName = "frame.protocols"

// Shown notes that the frame is shown: the next one that is counts its time from it.
func (l *Layers) Shown() {
	if !l.f.NoTime {
		l.shown, l.hasShown = l.f.Moment(), true
	}
}

// since is the time from a moment to this frame, if it is known.
func (l *Layers) since(from int64) (Value, bool) {
	ns, known := trace.Between(from, l.f.Moment())
	return signed(ns), known
}

// Heads are the headers of the frame, outermost first.
func (l *Layers) Heads() []Head { return l.heads }

// Frame is the frame at hand.
func (l *Layers) Frame() *pipeline.Frame { return l.f }

// Carries notes a protocol behind the last header of the frame.
func (l *Layers) Carries(protocol string) { l.carried = append(l.carried, protocol) }

// PDU notes what a PDU of the frame adds to its protocols.
func (l *Layers) PDU(p *trace.PDU) {
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		l.Carries("iwarp_mpa")
	case trace.KindFPDU, trace.KindSCTPSegment:
		if p.Kind == trace.KindFPDU && !slices.Contains(l.carried, "iwarp_mpa") {
			l.Carries("iwarp_mpa")
		}
		l.Carries("iwarp_ddp_rdmap")
		if _, n, _ := p.ULPDU(); p.Segment != nil && n > ddp.UntaggedLen && p.Control.Opcode.HeaderLen() == 0 || p.Segment != nil && p.Segment.Tagged && n > ddp.TaggedLen {
			l.Carries("data")
		}
	default:
	}
}

// iface is the interface of the frame, or nil.
func (l *Layers) iface() *pcapng.Interface {
	if l.Interfaces == nil {
		return nil
	}
	all := l.Interfaces()
	if i := l.f.Interface; i >= 0 && i < len(all) {
		return &all[i]
	}
	return nil
}

// Texts that are made are kept in one buffer, so that none is allocated for.

// room returns a place for at most n more octets of text.
func (l *Layers) room(n int) []byte {
	if cap(l.buf)-len(l.buf) < n {
		l.buf = make([]byte, 0, max(1024, 2*cap(l.buf), n)) // what was handed out keeps the old one
	}
	return l.buf[len(l.buf):len(l.buf):cap(l.buf)]
}

// scratch makes a value of what was written to room.
func (l *Layers) scratch(text []byte) Value {
	l.buf = l.buf[:len(l.buf)+len(text)]
	return Value{Bytes: text}
}

func (l *Layers) str(s string) Value { return l.scratch(append(l.room(len(s)), s...)) }

// push adds a header.
func (l *Layers) push(layer *Layer, b []byte, pos, size int) {
	l.found++
	if l.only != nil && !l.only[layer.id] {
		return
	}
	l.heads = append(l.heads, Head{Layer: layer, Octets: b, Pos: pos, Size: size})
}

// find finds the headers.
func (l *Layers) find() {
	f, p := l.f, l.f.Packet
	l.push(layerFrame, f.Data, 0, len(f.Data))
	if f.Plain() {
		l.plain(f.Data, p)
		return
	}
	w := walk{l: l, b: f.Data}
	w.link(uint16(f.Link))
	if p == nil {
		return
	}
	if len(f.Tunnels) > 0 {
		w.tunnels(p)
	}
	if f.Status == packet.OK {
		w.transport(p)
	}
}

// plain finds the headers of a frame whose places are known.
func (l *Layers) plain(data []byte, p *packet.Packet) {
	l.push(layerEth, data, 0, 14)
	for at, i := 14, uint8(0); i < p.NumVLANs; at, i = at+4, i+1 {
		layer := layerVLAN
		if binary.BigEndian.Uint16(data[at-2:]) == typeQinQ {
			layer = layerQinQ
		}
		l.push(layer, data[at:], at, 4)
	}
	if at := p.NetworkOffset; p.V6 {
		l.push(layerIPv6, data[at:], at, 40)
	} else {
		l.push(layerIP, data[at:], at, 20)
	}
	l.push(layerTCP, p.Segment, p.SegmentOffset, p.SegmentLen-p.PayloadLen)
}

// padding are the octets behind the IP packet in a frame of Ethernet.
func (l *Layers) padding() (Value, bool) {
	f, p := l.f, l.f.Packet
	if p == nil || len(f.Tunnels) > 0 || p.NetworkOffset < 0 || p.NetworkOffset+4 > len(f.Data) {
		return Value{}, false
	}
	ip := f.Data[p.NetworkOffset:]
	end := 0
	switch {
	case !p.V6:
		end = int(ip[2])<<8 | int(ip[3])
	case len(ip) >= 6:
		end = 40 + (int(ip[4])<<8 | int(ip[5]))
	}
	if end < 20 || end >= len(ip) || p.Notes&packet.NoteLengthFromFrame != 0 {
		return Value{}, false
	}
	return Value{Bytes: ip[end:]}, true
}

// protocols joins the names of the layers, as Wireshark does: a type field counts as a
// protocol of its own.
func (l *Layers) protocols() []byte {
	b := l.proto[:0]
	for i := range l.heads {
		name := l.heads[i].Name(l)
		if name == "" || name == "frame" {
			continue
		}
		b = append(append(b, ':'), name...)
		switch name {
		case "eth", "vlan", "ieee8021ad", "sll":
			b = append(b, ":ethertype"...)
		}
	}
	for _, c := range l.carried {
		b = append(append(b, ':'), c...)
	}
	l.proto = b
	if len(b) > 0 {
		b = b[1:]
	}
	return b
}

// AppendSegment says in a line what the TCP segment of the frame is.
func (l *Layers) AppendSegment(b []byte) []byte {
	p := l.f.Packet
	b = appendUint(b, uint64(p.SrcPort))
	b = append(appendUint(append(b, " → "...), uint64(p.DstPort)), ' ')
	n := len(b)
	b = append(b, '[')
	for i := len(tcpFlagNames) - 1; i >= 0; i-- {
		if p.Flags>>uint(len(tcpFlagNames)-1-i)&1 == 0 {
			continue
		}
		if len(b) > n+1 {
			b = append(b, ", "...)
		}
		b = append(b, tcpFlagNames[i]...)
	}
	b = appendUint(append(b, "] Seq="...), uint64(l.seg.seq))
	if p.Flags&packet.FlagACK != 0 {
		b = appendUint(append(b, " Ack="...), uint64(l.seg.ack))
	}
	b = appendUint(append(b, " Win="...), uint64(l.seg.window))
	b = appendUint(append(b, " Len="...), uint64(p.PayloadLen)) //nolint:gosec // not negative
	if v, ok := packet.MSS(p.Options); ok {
		b = appendUint(append(b, " MSS="...), uint64(v))
	}
	if packet.SACKPermitted(p.Options) {
		b = append(b, " SACK_PERM"...)
	}
	if v, e, ok := packet.Timestamps(p.Options); ok {
		b = appendUint(append(b, " TSval="...), uint64(v))
		b = appendUint(append(b, " TSecr="...), uint64(e))
	}
	if v, ok := packet.WindowScale(p.Options); ok {
		b = appendUint(append(b, " WS="...), 1<<min(v, 14))
	}
	return b
}

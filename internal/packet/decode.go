package packet

import "math"

// Decoder decodes frames. It keeps the fragments that wait for the rest of
// their datagram; nothing else passes from one frame to the next. A Decoder is
// for one goroutine.
type Decoder struct {
	fault Fault
	frags reassembler
}

// NewDecoder returns a Decoder with the default limits on fragments.
func NewDecoder() *Decoder {
	d := &Decoder{}
	d.SetLimits(FragmentLimits{})
	return d
}

// input is the part of a frame not decoded yet, on its way through the layers.
type input struct {
	// rest holds the captured octets, without those behind the end of the packet.
	rest []byte
	// wire counts the octets that rest had on the wire: never less than len(rest).
	wire int
	// off is the offset of rest in the frame, or -1 when reassembled.
	off   int
	frame uint64
	time  int64
}

// maxUnsized bounds the packets whose IP header gives no length. Offloading
// builds segments of up to 512 KiB; a frame that claims much more to have been
// cut would let the octets of a few headers stand for gigabytes of stream.
const maxUnsized = 1 << 20

// advance steps over n octets, which the caller has checked to be there.
func (in *input) advance(n int) {
	in.rest = in.rest[n:]
	in.wire -= n
	if in.off >= 0 {
		in.off += n
	}
}

// limit drops what lies behind n octets on the wire.
func (in *input) limit(n int) {
	in.wire = n
	if len(in.rest) > n {
		in.rest = in.rest[:n:n]
	}
}

// Decode decodes one frame into p. All of p is overwritten; whatever the
// status, it holds what was known when decoding stopped.
//
// The link is a LINKTYPE number of the capture file, origLen the length of the
// frame on the wire in octets, frame its number (reported in
// [Packet.Fragments]), time its capture time in nanoseconds since any epoch
// (only used to give up on old fragments). The data is borrowed, see the
// package comment.
func (d *Decoder) Decode(link uint16, data []byte, origLen uint32, frame uint64, time int64, p *Packet) Status {
	if link == LinkEthernet && Plain(data, p) {
		return OK
	}
	return d.general(link, data, origLen, frame, time, p)
}

// general decodes any frame, layer by layer.
func (d *Decoder) general(link uint16, data []byte, origLen uint32, frame uint64, time int64, p *Packet) Status {
	*p = Packet{NetworkOffset: -1, SegmentOffset: -1}
	d.fault = Fault{}
	// Clamped alike whatever the size of int, so that all machines agree.
	wire := max(len(data), int(min(origLen, math.MaxInt32)))
	in := input{rest: data, wire: wire, frame: frame, time: time}
	return d.layers(&in, link, p)
}

// layers decodes a frame from its link header on.
func (d *Decoder) layers(in *input, link uint16, p *Packet) Status {
	st := d.linkHeader(in, link, p)
	if st != OK {
		return st
	}
	p.NetworkOffset = in.off
	if p.EtherType == etherIPv4 {
		return d.ipv4(in, p)
	}
	return d.ipv6(in, p)
}

// SetFault replaces what Fault and Reason tell of the last frame. It is for
// whoever decodes what lies between two calls of Decode and DecodeInner.
func (d *Decoder) SetFault(f Fault) { d.fault = f }

// Fault tells why the last frame was Truncated or Malformed. It is meaningless
// after another status.
func (d *Decoder) Fault() Fault { return d.fault }

// Reason returns the code of Fault.
func (d *Decoder) Reason() string { return d.fault.Code }

// Stats returns the counters of the fragments seen so far.
func (d *Decoder) Stats() FragmentStats { return d.frags.snapshot() }

// SetLimits bounds the fragments kept; zero fields take the default. It is
// meant to be called before the first frame.
func (d *Decoder) SetLimits(l FragmentLimits) { d.frags.limits = l.orDefault() }

// malformed notes a header that contradicts itself.
func (d *Decoder) malformed(in *input, code string) Status {
	d.fault = Fault{Code: code, Offset: in.off}
	return Malformed
}

// short notes a header of need octets that is not all there: cut by the
// capture, or never there at all.
func (d *Decoder) short(in *input, need int, code string) Status {
	d.fault = Fault{Code: code, Offset: in.off}
	if in.wire < need {
		return Malformed
	}
	return Truncated
}

package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// sctpOctets is an SCTP packet with a chunk of octets of user data. What is in
// the chunk does not matter here.
func sctpOctets(n int) []byte {
	b := []byte{0x13, 0x89, 0x13, 0x8a, 1, 2, 3, 4, 0, 0, 0, 0, 0, 7}
	b = binary.BigEndian.AppendUint16(b, uint16(4+n))
	return append(b, randomOctets(rand.New(rand.NewPCG(5, 5)), n)...)
}

// inUDP puts octets into a UDP datagram.
func inUDP(src, dst uint16, b []byte) []byte {
	u := binary.BigEndian.AppendUint16(nil, src)
	u = binary.BigEndian.AppendUint16(u, dst)
	u = binary.BigEndian.AppendUint16(u, uint16(8+len(b)))
	return append(append(u, 0, 0), b...)
}

// datagramBuild is a frame with a UDP datagram.
func datagramBuild(v6 bool, raw []byte) Build {
	b := segment4()
	if v6 {
		b = segment6()
	}
	b.ID, b.Proto, b.Raw = 99, ProtoUDP, raw
	return b
}

// TestSCTP_Plain: SCTP right in IP is handed out from its common header on.
func TestSCTP_Plain(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		s := sctpOctets(20)
		b := datagramBuild(v6, s)
		b.Proto = ProtoSCTP
		frame := b.Append(nil)
		p := dirty()
		st := NewDecoder().Decode(b.Link, frame, uint32(len(frame)), 1, 0, &p)
		if st != OK || p.Proto != ProtoSCTP || p.Notes != 0 || p.SrcPort != 5001 || p.DstPort != 5002 || !bytes.Equal(p.Payload, s) || !bytes.Equal(p.Segment, s) {
			t.Errorf("%v %+v", st, p)
		}
		if p.PayloadLen != len(s) || p.PayloadOffset() != len(frame)-len(s) {
			t.Errorf("%d octets at %d", p.PayloadLen, p.PayloadOffset())
		}
	}
}

// TestSCTP_Encapsulated: SCTP in UDP is handed out as SCTP, with its own ports,
// whichever end has port 9899 (RFC 6951 section 4.1).
func TestSCTP_Encapsulated(t *testing.T) {
	s := sctpOctets(20)
	for _, v6 := range []bool{false, true} {
		for _, ports := range [][2]uint16{{9899, 9899}, {9899, 40000}, {40000, 9899}} {
			b := datagramBuild(v6, inUDP(ports[0], ports[1], s))
			b.Pad, b.Trailer = true, []byte("behind")
			frame := b.Append(nil)
			p := dirty()
			st := NewDecoder().Decode(b.Link, frame, uint32(len(frame)), 1, 0, &p)
			if st != OK || p.Proto != ProtoSCTP || p.Notes != NoteEncapsulated || p.SrcPort != 5001 || p.DstPort != 5002 || p.V6 != v6 {
				t.Errorf("%v %+v", st, p)
			}
			if !bytes.Equal(p.Payload, s) || !bytes.Equal(p.Segment, s) || p.PayloadLen != len(s) || p.SegmentLen != len(s) || p.Cut() {
				t.Errorf("%d and %d octets", p.PayloadLen, p.SegmentLen)
			}
			if at := p.PayloadOffset(); !bytes.Equal(frame[at:at+len(s)], s) || at != p.SegmentOffset {
				t.Errorf("at %d", at)
			}
			if p.Src != b.Src || p.Dst != b.Dst || p.Fragments != nil {
				t.Errorf("%v to %v", p.Src, p.Dst)
			}
		}
	}
}

// TestSCTP_EncapsulatedOtherwise: what is not SCTP stays another transport, with
// the ports of UDP.
func TestSCTP_EncapsulatedOtherwise(t *testing.T) {
	good := sctpOctets(20)
	change := func(f func(u []byte) []byte) []byte { return f(inUDP(9899, 9899, good)) }
	for _, tt := range []struct {
		name     string
		raw      []byte
		src, dst uint16
	}{
		{"another port", inUDP(9898, 9900, good), 9898, 9900},
		{"empty", inUDP(9899, 9899, nil), 9899, 9899},
		{"no chunk", inUDP(9899, 9899, good[:12]), 9899, 9899},
		{"text", inUDP(9899, 53, []byte("hello")), 9899, 53},
		{"source port 0", change(func(u []byte) []byte { clear(u[8:10]); return u }), 9899, 9899},
		{"destination port 0", change(func(u []byte) []byte { clear(u[10:12]); return u }), 9899, 9899},
		{"chunk length 3", change(func(u []byte) []byte { u[22], u[23] = 0, 3; return u }), 9899, 9899},
		{"UDP length beyond IP", change(func(u []byte) []byte { u[5] = 0xff; return u }), 9899, 9899},
		{"UDP length too short", change(func(u []byte) []byte { u[5] = 19; return u }), 9899, 9899},
		{"UDP length 0", change(func(u []byte) []byte { u[5] = 0; return u }), 9899, 9899},
		{"only ports", []byte{0x26, 0xab, 0x26, 0xab}, 9899, 9899},
		{"nothing", []byte{}, 0, 0},
	} {
		for _, v6 := range []bool{false, true} {
			b := datagramBuild(v6, tt.raw)
			frame := b.Append(nil)
			p := dirty()
			d := NewDecoder()
			st := d.Decode(b.Link, frame, uint32(len(frame)), 1, 0, &p)
			if st != OtherTransport || p.Proto != ProtoUDP || p.SrcPort != tt.src || p.DstPort != tt.dst || p.Notes&NoteEncapsulated != 0 || d.Reason() != "" {
				t.Errorf("%s: %v %v %d %d, %q", tt.name, st, p.Proto, p.SrcPort, p.DstPort, d.Reason())
			}
		}
	}
}

// TestSCTP_EncapsulatedPadding: octets behind the UDP length are not the
// packet's.
func TestSCTP_EncapsulatedPadding(t *testing.T) {
	s := sctpOctets(20)
	b := datagramBuild(false, append(inUDP(9899, 9899, s), 1, 2, 3))
	frame := b.Append(nil)
	p := dirty()
	if st := NewDecoder().Decode(b.Link, frame, uint32(len(frame)), 1, 0, &p); st != OK || !bytes.Equal(p.Payload, s) || p.PayloadLen != len(s) {
		t.Errorf("%v, %d octets", st, p.PayloadLen)
	}
}

// TestSCTP_EncapsulatedFragments: a datagram in IP fragments is assembled
// before one looks for SCTP in it, in whatever order they come as long as the
// first one, which has the ports, comes first: without it nothing tells that the
// others are wanted.
func TestSCTP_EncapsulatedFragments(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 6951))
	s := sctpOctets(3000)
	for _, v6 := range []bool{false, true} {
		for range 100 {
			b := datagramBuild(v6, inUDP(9899, 9899, s))
			frames := b.Fragments(8 * (1 + rng.IntN(200)))
			rest := frames[1:]
			rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
			d := NewDecoder()
			var p Packet
			if st := feed(d, &p, b.Link, frames...); st != OK {
				t.Fatalf("%v %+v", st, d.Fault())
			}
			if p.Proto != ProtoSCTP || p.Notes != NoteEncapsulated || !bytes.Equal(p.Payload, s) || p.PayloadLen != len(s) || p.SrcPort != 5001 || p.DstPort != 5002 {
				t.Fatalf("%v, %d octets", p.Proto, p.PayloadLen)
			}
			if p.PayloadOffset() != -1 || len(frames) > 1 && len(p.Fragments) != len(frames) {
				t.Fatalf("%d of %d frames, at %d", len(p.Fragments), len(frames), p.PayloadOffset())
			}
			if n := d.Stats(); n.Pending != 0 || n.PendingMemory != 0 {
				t.Fatalf("%+v", n)
			}
		}
	}
}

// TestSCTP_FragmentsOfOthers: fragments of UDP to other ports, and those whose
// first one has not come, are not kept.
func TestSCTP_FragmentsOfOthers(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		b := datagramBuild(v6, inUDP(9899, 9899, sctpOctets(900)))
		other := datagramBuild(v6, inUDP(2049, 2049, sctpOctets(900)))
		d := NewDecoder()
		var p Packet
		for i, f := range append(b.Fragments(304)[1:], other.Fragments(304)...) {
			if st := d.Decode(b.Link, f, uint32(len(f)), uint64(i+1), 0, &p); st != OtherTransport || p.Proto != ProtoUDP {
				t.Errorf("%v %v", st, p.Proto)
			}
		}
		if n := d.Stats(); n.Pending != 0 || n.PendingMemory != 0 {
			t.Errorf("%+v", n)
		}
	}
}

// TestSCTP_Cut: at every snap length a frame is either too short to tell, or
// SCTP with as many octets as were captured.
func TestSCTP_Cut(t *testing.T) {
	s := sctpOctets(40)
	for _, v6 := range []bool{false, true} {
		for _, udp := range []bool{false, true} {
			b := datagramBuild(v6, inUDP(9899, 9899, s))
			if !udp {
				b.Proto, b.Raw = ProtoSCTP, s
			}
			frame := b.Append(nil)
			head := len(frame) - len(s)
			for n := range len(frame) {
				p := dirty()
				st := NewDecoder().Decode(b.Link, frame[:n:n], uint32(len(frame)), 1, 0, &p)
				// In UDP the first chunk has to be seen, right in IP the header.
				need := head + 12
				if udp {
					need += 4
				}
				switch {
				case n >= need:
					if st != OK || p.Proto != ProtoSCTP || !bytes.Equal(p.Payload, s[:n-head]) || p.PayloadLen != len(s) || !p.Cut() {
						t.Fatalf("%d octets, UDP %t: %v, %d of %d", n, udp, st, len(p.Payload), p.PayloadLen)
					}
				case udp && n >= head-8:
					if st != OtherTransport || p.Proto != ProtoUDP {
						t.Fatalf("%d octets: %v %v", n, st, p.Proto)
					}
				case st != Truncated:
					t.Fatalf("%d octets, UDP %t: %v", n, udp, st)
				}
			}
		}
	}
}

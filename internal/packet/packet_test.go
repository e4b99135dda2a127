package packet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

var linkTypes = []uint16{
	LinkNull, LinkEthernet, LinkRaw12, LinkRaw14, LinkRaw, LinkLoop,
	LinkLinuxSLL, LinkIPv4, LinkIPv6, LinkLinuxSLL2,
}

var (
	v4a, v4b = Addr4(10, 0, 0, 1), Addr4(10, 0, 0, 2)
	v6a, v6b = Addr{0xfd, 0, 0, 1, 15: 1}, Addr{0xfd, 0, 0, 1, 15: 2}
)

// segment4 is a plain frame, for tests to vary.
func segment4() Build {
	return Build{
		Link: LinkEthernet, Src: v4a, Dst: v4b, SrcPort: 4000, DstPort: 5001,
		Seq: 1000, Ack: 2000, Flags: FlagACK | FlagPSH, Window: 512, Payload: []byte("0123456789abcdef"),
	}
}

func segment6() Build {
	b := segment4()
	b.Src, b.Dst = v6a, v6b
	return b
}

func randomOctets(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// randomBuild varies every field of a valid frame over link.
func randomBuild(rng *rand.Rand, link uint16) Build {
	b := Build{
		Link: link, Src: v4a, Dst: v4b, ID: rng.Uint32(), TTL: uint8(rng.IntN(255) + 1),
		TrafficClass: uint8(rng.Uint32()), DontFragment: rng.IntN(2) == 0, BigEndian: rng.IntN(2) == 0,
		SrcPort: uint16(rng.Uint32()), DstPort: uint16(rng.Uint32()),
		Seq: rng.Uint32(), Ack: rng.Uint32(), Flags: uint16(rng.Uint32()) & flagMask,
		Window: uint16(rng.Uint32()), Urgent: uint16(rng.Uint32()),
	}
	copy(b.SrcMAC[:], randomOctets(rng, 6))
	copy(b.DstMAC[:], randomOctets(rng, 6))
	if link == LinkIPv6 || link != LinkIPv4 && rng.IntN(2) == 0 {
		b.Src, b.Dst = v6a, v6b
		copy(b.Src[4:], randomOctets(rng, 12))
		for range rng.IntN(3) {
			ext := []Proto{protoHopByHop, protoDestOpts, protoRouting, protoAH}[rng.IntN(4)]
			if ext == protoHopByHop && len(b.Extensions) > 0 {
				ext = protoDestOpts
			}
			// PadN fills the header up (RFC 8200 section 4.2); as a routing
			// header it reads as one with no segments left.
			body := []byte{1, 4, 0, 0, 0, 0}
			if ext == protoRouting {
				body[1] = 0
			}
			if ext == protoAH {
				body = randomOctets(rng, 14) // AH in IPv6 is padded to eight
			}
			b.Extensions = append(b.Extensions, Extension{ext, body})
		}
	} else {
		copy(b.Src[12:], randomOctets(rng, 4))
		if rng.IntN(3) == 0 {
			b.IPOptions = []byte{148, 4, 0, 0, 1}[:4+rng.IntN(2)]
		}
	}
	switch link {
	case LinkEthernet, LinkLinuxSLL, LinkLinuxSLL2:
		for range rng.IntN(MaxVLANs + 1) {
			tpid := []uint16{0, etherVLAN, etherQinQ, etherQinQ2}[rng.IntN(4)]
			b.VLANs = append(b.VLANs, VLAN{tpid, uint16(rng.Uint32())})
		}
		b.SNAP = rng.IntN(4) == 0 && (link == LinkEthernet || b.VLANs == nil)
		b.Pad = rng.IntN(2) == 0
	}
	if rng.IntN(4) == 0 {
		b.Trailer = randomOctets(rng, rng.IntN(8))
	}
	if rng.IntN(4) == 0 {
		b.Proto = ProtoSCTP
		b.SrcPort, b.DstPort, b.Seq, b.Ack, b.Flags, b.Window, b.Urgent = 0, 0, 0, 0, 0, 0, 0
		b.Payload = randomOctets(rng, 12+rng.IntN(64))
		return b
	}
	if rng.IntN(2) == 0 {
		b.Options = AppendTimestamps([]byte{OptNop, OptNop}, rng.Uint32(), rng.Uint32())
	}
	b.Payload = randomOctets(rng, rng.IntN(64))
	return b
}

// checkBuild compares what was decoded from frame with b, which described it.
func checkBuild(t *testing.T, b *Build, frame []byte, p *Packet) {
	t.Helper()
	want := Packet{
		Src: b.Src, Dst: b.Dst, V6: !b.Src.Is4(), Proto: b.proto(), EtherType: etherIPv4,
		Payload: b.Payload, PayloadLen: len(b.Payload), Segment: b.AppendSegment(nil),
		NumVLANs: uint8(len(b.VLANs)),
	}
	if want.V6 {
		want.EtherType = etherIPv6
	}
	for i, v := range b.VLANs {
		want.VLANs[i] = v.TCI
	}
	if want.Proto == ProtoTCP {
		want.SrcPort, want.DstPort, want.Seq, want.Ack = b.SrcPort, b.DstPort, b.Seq, b.Ack
		want.Flags, want.Window, want.Urgent = b.Flags, b.Window, b.Urgent
		want.Options = appendPadded(nil, b.Options, 4)
	} else {
		want.SrcPort, want.DstPort = p.SrcPort, p.DstPort
	}
	want.SegmentLen = len(want.Segment)
	want.NetworkOffset, want.SegmentOffset = p.NetworkOffset, p.SegmentOffset
	if diff := diffPackets(&want, p); diff != "" {
		t.Fatalf("%+v\n% x\n(-want +got)\n%s", b, frame, diff)
	}
	if got := frame[p.PayloadOffset():][:len(p.Payload)]; !bytes.Equal(got, p.Payload) {
		t.Fatalf("PayloadOffset %d points to % x, want % x", p.PayloadOffset(), got, p.Payload)
	}
	if p.Proto == ProtoTCP && p.VerifyChecksum() != ChecksumOK {
		t.Fatalf("checksum %v of %+v", p.VerifyChecksum(), b)
	}
}

func diffPackets(want, got *Packet) string {
	return cmp.Diff(want, got, cmp.Transformer("empty", func(b []byte) string { return fmt.Sprintf("%x", b) }))
}

// dirty is a Packet in which every field is set, to see what Decode leaves.
func dirty() Packet {
	junk := []byte("junk")
	return Packet{
		Src: Addr{1}, Dst: Addr{2}, SrcPort: 3, DstPort: 4, EtherType: 5, Proto: 6, V6: true, Notes: 0xff,
		NumVLANs: 9, VLANs: [MaxVLANs]uint16{1, 2, 3, 4}, Seq: 1, Ack: 2, Flags: 3, Window: 4, Urgent: 5,
		Options: junk, Payload: junk, PayloadLen: 99, Segment: junk, SegmentLen: 99,
		NetworkOffset: 99, SegmentOffset: 99, Fragments: []uint64{1},
	}
}

func TestDecode_Build(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	d := NewDecoder()
	for _, link := range linkTypes {
		for range 2000 {
			b := randomBuild(rng, link)
			frame := b.Append(nil)
			p := dirty()
			if st := d.Decode(link, frame, uint32(len(frame)), 1, 0, &p); st != OK {
				t.Fatalf("link %d: %v %+v for %+v\n% x", link, st, d.Fault(), b, frame)
			}
			checkBuild(t, &b, frame, &p)
		}
	}
}

// The plain path says the same as the general one, over a Packet used before.
func TestPlain_AgreesWithGeneral(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	d := NewDecoder()
	taken, ofSCTP := 0, 0
	for range 30_000 {
		b := randomBuild(rng, LinkEthernet)
		frame := b.Append(nil)
		var whole Packet
		if st := d.general(LinkEthernet, frame, uint32(len(frame)), 1, 0, &whole); st == OK && rng.IntN(2) == 0 {
			at := whole.NetworkOffset + 9 // the protocol
			if whole.V6 {
				at = whole.NetworkOffset + 6
			}
			frame[at] = byte(ProtoSCTP)
		}
		for range rng.IntN(3) { // some hostile ones
			frame[12+rng.IntN(len(frame)-12)] = byte(rng.Uint32())
		}
		frame = frame[:len(frame)-rng.IntN(2)*rng.IntN(len(frame))]
		got, want := dirty(), dirty()
		if !Plain(frame, &got) {
			if left := dirty(); diffPackets(&left, &got) != "" {
				t.Fatalf("refused % x but changed the packet", frame)
			}
			continue
		}
		taken++
		if got.Proto == ProtoSCTP {
			ofSCTP++
		}
		if st := d.general(LinkEthernet, frame, uint32(len(frame)), 1, 0, &want); st != OK {
			t.Fatalf("plain took % x, general says %v", frame, st)
		}
		if diff := diffPackets(&want, &got); diff != "" {
			t.Fatalf("% x\n(-general +plain)\n%s", frame, diff)
		}
	}
	if taken < 1000 || ofSCTP < 300 {
		t.Fatalf("only %d frames were plain, %d of them SCTP", taken, ofSCTP)
	}
}

// truncations calls f for every prefix of a frame of every kind and link type.
func truncations(t *testing.T, f func(t *testing.T, b *Build, frame []byte, n int)) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, link := range linkTypes {
		t.Run(fmt.Sprintf("link%d", link), func(t *testing.T) {
			for range 100 {
				b := randomBuild(rng, link)
				frame := b.Append(nil)
				for n := range frame {
					f(t, &b, frame, n)
				}
			}
		})
	}
}

// A snap length that cuts a frame yields Truncated up to the end of the fixed
// transport header, and OK with all lengths right from there on.
func TestDecode_CutBySnapLength(t *testing.T) {
	d := NewDecoder()
	truncations(t, func(t *testing.T, b *Build, frame []byte, n int) {
		var whole, p Packet
		d.Decode(b.Link, frame, uint32(len(frame)), 1, 0, &whole)
		st := d.Decode(b.Link, bytes.Clone(frame[:n]), uint32(len(frame)), 1, 0, &p)
		need := whole.SegmentOffset + TCPLen
		if b.Proto == ProtoSCTP {
			need = whole.SegmentOffset + sctpMinLen
		}
		if n < need {
			if st != Truncated || d.Reason() == "" || d.Fault().Offset < 0 || d.Fault().Offset > n {
				t.Fatalf("%d of %d octets: %v %+v", n, len(frame), st, d.Fault())
			}
			return
		}
		if st != OK || p.PayloadLen != whole.PayloadLen || p.SegmentLen != whole.SegmentLen {
			t.Fatalf("%d of %d octets: %v, payload %d of %d", n, len(frame), st, len(p.Payload), p.PayloadLen)
		}
		if !bytes.HasPrefix(whole.Payload, p.Payload) || !bytes.HasPrefix(whole.Options, p.Options) {
			t.Fatalf("%d of %d octets: other payload or options", n, len(frame))
		}
		if have := max(0, min(n, whole.PayloadOffset()+len(whole.Payload))-whole.PayloadOffset()); len(p.Payload) != have {
			t.Fatalf("%d of %d octets: payload %d, want %d", n, len(frame), len(p.Payload), have)
		}
		if p.Cut() && b.proto() == ProtoTCP && p.VerifyChecksum() != ChecksumUnknown {
			t.Fatalf("checksum %v of a cut segment", p.VerifyChecksum())
		}
	})
}

// A frame that was that short on the wire is not the fault of the capture.
func TestDecode_ShortOnTheWire(t *testing.T) {
	d := NewDecoder()
	truncations(t, func(t *testing.T, b *Build, frame []byte, n int) {
		var whole, p Packet
		d.Decode(b.Link, frame, uint32(len(frame)), 1, 0, &whole)
		st := d.Decode(b.Link, bytes.Clone(frame[:n]), uint32(n), 1, 0, &p)
		// Once the IP header promises more than the frame had, what is missing
		// counts as cut, for some tools lose the original length.
		ip := whole.NetworkOffset + ipv4MinLen
		if whole.V6 {
			ip = whole.NetworkOffset + ipv6Len
		}
		switch {
		case n < ip && st != Malformed,
			n >= ip && n < whole.SegmentOffset+sctpMinLen && st != Truncated,
			n >= whole.SegmentOffset+TCPLen && (st != OK || p.PayloadLen != whole.PayloadLen):
			t.Fatalf("%d of %d octets: %v %+v", n, len(frame), st, d.Fault())
		}
		if short := n < whole.SegmentOffset+whole.SegmentLen; st == OK && short != (p.Notes&NoteBeyondFrame != 0) {
			t.Fatalf("%d of %d octets: notes %b", n, len(frame), p.Notes)
		}
	})
}

func TestDecode_NoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	d := NewDecoder()
	var p Packet
	for _, link := range linkTypes {
		for range 50 {
			b := randomBuild(rng, link)
			frame := b.Append(nil)
			for _, n := range []int{len(frame), len(frame) / 2} { // whole and cut
				if a := testing.AllocsPerRun(10, func() { d.Decode(link, frame[:n], uint32(len(frame)), 1, 0, &p) }); a != 0 {
					t.Fatalf("%v allocations for %+v", a, b)
				}
			}
		}
	}
}

package packet

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// edit returns the frame of b after f changed it.
func edit(b Build, f func(frame []byte)) []byte {
	frame := b.Append(nil)
	f(frame)
	return frame
}

// with returns b after f changed it.
func with(b Build, f func(*Build)) *Build { f(&b); return &b }

func TestDecode_Status(t *testing.T) {
	udp := func(b Build) *Build {
		b.Proto = ProtoUDP
		b.Payload = []byte{0x27, 0x0f, 0x27, 0x0f, 0, 8, 0, 0}
		return &b
	}
	tests := []struct {
		name   string
		link   uint16
		frame  []byte
		want   Status
		reason string
		proto  Proto
	}{
		{"empty", LinkEthernet, nil, Malformed, "ethernet-header", 0},
		{"unknown link", 9999, []byte("x"), UnknownLink, "", 0},
		{"arp", LinkEthernet, with(segment4(), func(b *Build) { b.EtherType = 0x0806 }).Append(nil), NotIP, "", 0},
		{"arp over sll2", LinkLinuxSLL2, with(segment4(), func(b *Build) { b.Link = LinkLinuxSLL2; b.EtherType = 0x0806 }).Append(nil), NotIP, "", 0},
		{"spanning tree", LinkEthernet, append(make([]byte, 12), 0, 38, 0x42, 0x42, 3, 0, 0), NotIP, "", 0},
		{"netware", LinkEthernet, append(make([]byte, 12), 0, 38, 0xff, 0xff, 0, 0), NotIP, "", 0},
		{"snap of a vendor", LinkEthernet, append(make([]byte, 12), 0, 38, 0xaa, 0xaa, 3, 0, 0, 12, 8, 0), NotIP, "", 0},
		{"llc missing", LinkEthernet, append(make([]byte, 12), 0, 0), Malformed, "llc-header", 0},
		{"snap short", LinkEthernet, append(make([]byte, 12), 0, 4, 0xaa, 0xaa, 3, 0), Malformed, "snap-header", 0},
		{"five tags", LinkEthernet, with(segment4(), func(b *Build) { b.VLANs = make([]VLAN, 5) }).Append(nil), Malformed, "vlan-depth", 0},
		{"netlink", LinkLinuxSLL, edit(*with(segment4(), func(b *Build) { b.Link = LinkLinuxSLL }), func(f []byte) { f[2], f[3] = 3, 0x38 }), NotIP, "", 0},
		{"can", LinkLinuxSLL, with(segment4(), func(b *Build) { b.Link = LinkLinuxSLL; b.EtherType = 0x000c }).Append(nil), NotIP, "", 0},
		{"unknown family", LinkNull, []byte{7, 0, 0, 0, 0x45}, NotIP, "", 0},
		{"loop in the wrong order", LinkLoop, with(segment4(), func(b *Build) { b.Link = LinkNull }).Append(nil), NotIP, "", 0},
		{"raw with version 5", LinkRaw, []byte{0x55}, Malformed, "ip-version", 0},
		{"version 6 as ipv4", LinkIPv4, with(segment6(), func(b *Build) { b.Link = LinkIPv6 }).Append(nil), Malformed, "ipv4-version", 0},
		{"version 4 as ipv6", LinkIPv6, with(segment4(), func(b *Build) { b.Link = LinkIPv4 }).Append(nil), Malformed, "ipv6-version", 0},
		{"ihl 4", LinkEthernet, edit(segment4(), func(f []byte) { f[14] = 0x44 }), Malformed, "ipv4-header-length", 0},
		{"total length in the header", LinkEthernet, edit(segment4(), func(f []byte) { f[16], f[17] = 0, 19 }), Malformed, "ipv4-total-length", 0},
		{"no room for tcp", LinkEthernet, edit(segment4(), func(f []byte) { f[16], f[17] = 0, 39 }), Malformed, "tcp-header", ProtoTCP},
		{"data offset 4", LinkEthernet, edit(segment4(), func(f []byte) { f[46] = 0x40 }), Malformed, "tcp-data-offset", ProtoTCP},
		{"data offset beyond", LinkEthernet, edit(segment4(), func(f []byte) { f[46] = 0xf0 }), Malformed, "tcp-data-offset", ProtoTCP},
		{"sctp short", LinkEthernet, with(segment4(), func(b *Build) { b.Proto = ProtoSCTP; b.Payload = make([]byte, 11) }).Append(nil), Malformed, "sctp-header", ProtoSCTP},
		{"udp", LinkEthernet, udp(segment4()).Append(nil), OtherTransport, "", ProtoUDP},
		{"udp over ipv6", LinkEthernet, udp(segment6()).Append(nil), OtherTransport, "", ProtoUDP},
		{"esp", LinkEthernet, with(segment6(), func(b *Build) { b.Proto = 50 }).Append(nil), OtherTransport, "", 50},
		{"hop-by-hop in ipv4", LinkEthernet, edit(segment4(), func(f []byte) { f[23] = 0 }), OtherTransport, "", 0},
		{"no next header", LinkEthernet, with(segment6(), func(b *Build) { b.Proto = 59 }).Append(nil), OtherTransport, "", 59},
		{"extension beyond", LinkEthernet, with(segment6(), func(b *Build) {
			b.Proto = protoDestOpts
			b.Payload = []byte{6, 9, 0, 0, 0, 0, 0, 0}
		}).Append(nil), Malformed, "ipv6-extension", protoDestOpts},
		{"extension of one octet", LinkEthernet, with(segment6(), func(b *Build) {
			b.Proto = protoAH
			b.Payload = []byte{6}
		}).Append(nil), Malformed, "ipv6-extension", protoAH},
		{"too many extensions", LinkEthernet, with(segment6(), func(b *Build) {
			for range 16 {
				b.Extensions = append(b.Extensions, Extension{protoDestOpts, make([]byte, 6)})
			}
		}).Append(nil), Malformed, "ipv6-extension-count", 60},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := NewDecoder()
			p := dirty()
			st := d.Decode(tc.link, tc.frame, uint32(len(tc.frame)), 1, 0, &p)
			if st != tc.want || d.Reason() != tc.reason || p.Proto != tc.proto {
				t.Fatalf("%v %q %v, want %v %q %v", st, d.Reason(), p.Proto, tc.want, tc.reason, tc.proto)
			}
			if tc.proto != 0 && p.Src != v4a && p.Src != v6a {
				t.Errorf("source %v", p.Src)
			}
			if tc.proto == ProtoUDP && (p.SrcPort != 9999 || p.DstPort != 9999) {
				t.Errorf("ports %d, %d", p.SrcPort, p.DstPort)
			}
		})
	}
}

// A segment whose IP length is missing takes the length of the frame, captured
// or not.
func TestDecode_NoIPLength(t *testing.T) {
	for _, b := range []Build{segment4(), segment6()} {
		b.NoLength = true
		b.Payload = bytes.Repeat([]byte("x"), 100_000)
		frame := b.Append(nil)
		for _, n := range []int{len(frame), 1000} {
			var p Packet
			if st := NewDecoder().Decode(b.Link, frame[:n], uint32(len(frame)), 1, 0, &p); st != OK {
				t.Fatal(st)
			}
			if p.PayloadLen != 100_000 || p.Notes != NoteLengthFromFrame || p.Cut() != (n < len(frame)) {
				t.Errorf("%d octets: payload length %d, notes %b", n, p.PayloadLen, p.Notes)
			}
		}
	}
}

// A length that only the file claims, and no sender makes, is not believed.
func TestDecode_NoIPLengthAbsurd(t *testing.T) {
	for _, b := range []Build{segment4(), segment6()} {
		b.NoLength = true
		frame := b.Append(nil)
		d := NewDecoder()
		var p Packet
		if st := d.Decode(b.Link, frame, 0xfffffff0, 1, 0, &p); st != Malformed {
			t.Errorf("%v, payload length %d", st, p.PayloadLen)
		}
	}
}

// The largest segment that IP can tell the length of goes the plain way.
func TestDecode_SuperSegment(t *testing.T) {
	b := segment4()
	b.Payload = bytes.Repeat([]byte("y"), 65535-40)
	frame := b.Append(nil)
	var p Packet
	if !Plain(frame, &p) || p.PayloadLen != 65495 || p.VerifyChecksum() != ChecksumOK {
		t.Errorf("payload length %d, checksum %v", p.PayloadLen, p.VerifyChecksum())
	}
}

func TestDecode_JumboHopByHop(t *testing.T) {
	b := segment6()
	b.Payload = bytes.Repeat([]byte("z"), 70_000)
	b.Extensions = []Extension{{protoHopByHop, []byte{0xc2, 4, 0, 1, 0x11, 0x8c}}}
	frame := b.Append(nil)
	var p Packet
	if st := NewDecoder().Decode(b.Link, frame, uint32(len(frame)), 1, 0, &p); st != OK || p.PayloadLen != 70_000 {
		t.Errorf("%v, payload length %d", st, p.PayloadLen)
	}
	if p.VerifyChecksum() != ChecksumOK {
		t.Errorf("checksum %v", p.VerifyChecksum())
	}
}

func TestDecode_AddressFamilies(t *testing.T) {
	b := segment6()
	b.Link = LinkRaw
	ip := b.Append(nil)
	for _, family := range []byte{10, 23, 24, 28, 30} {
		for _, c := range []struct {
			link uint16
			head []byte
		}{
			{LinkNull, []byte{family, 0, 0, 0}}, {LinkNull, []byte{0, 0, 0, family}}, {LinkLoop, []byte{0, 0, 0, family}},
		} {
			frame := append(c.head, ip...)
			var p Packet
			if st := NewDecoder().Decode(c.link, frame, uint32(len(frame)), 1, 0, &p); st != OK || !p.V6 {
				t.Errorf("family %d, link %d: %v", family, c.link, st)
			}
		}
	}
}

func TestDecode_LLCWithoutSNAP(t *testing.T) {
	b := segment4()
	b.Link = LinkRaw
	frame := append(append(make([]byte, 12), 0, 59, 6, 6, 3), b.Append(nil)...)
	var p Packet
	if st := NewDecoder().Decode(LinkEthernet, frame, uint32(len(frame)), 1, 0, &p); st != OK || p.NetworkOffset != 17 {
		t.Errorf("%v at %d", st, p.NetworkOffset)
	}
}

// Where the header does not show the endpoints, no checksum is called bad.
func TestVerifyChecksum_Routed(t *testing.T) {
	tests := []struct {
		name string
		b    Build
	}{
		{"loose source route", *with(segment4(), func(b *Build) { b.IPOptions = []byte{1, 131, 7, 4, 10, 0, 0, 9} })},
		{"strict source route", *with(segment4(), func(b *Build) { b.IPOptions = []byte{148, 4, 0, 0, 137, 7, 4, 10, 0, 0, 9} })},
		{"routing header", *with(segment6(), func(b *Build) {
			b.Extensions = []Extension{{protoRouting, append([]byte{0, 1, 0, 0, 0, 0}, v6b[:]...)}}
		})},
		{"home address", *with(segment6(), func(b *Build) {
			b.Extensions = []Extension{{protoDestOpts, append([]byte{0, 1, 0, 0xc9, 16}, v6b[:]...)}}
		})},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			frame := tc.b.Append(nil)
			frame[len(frame)-1] ^= 1
			var p Packet
			st := NewDecoder().Decode(LinkEthernet, frame, uint32(len(frame)), 1, 0, &p)
			if st != OK || p.Notes != NoteRouted || p.VerifyChecksum() != ChecksumUnknown {
				t.Errorf("%v, notes %b, checksum %v", st, p.Notes, p.VerifyChecksum())
			}
		})
	}
}

func TestVerifyChecksum_EveryBit(t *testing.T) {
	for _, b := range []Build{segment4(), segment6()} {
		b.Payload = append(b.Payload, 'x') // an odd length
		frame := b.Append(nil)
		var p Packet
		d := NewDecoder()
		if d.Decode(b.Link, frame, uint32(len(frame)), 1, 0, &p); p.VerifyChecksum() != ChecksumOK {
			t.Fatalf("checksum %v", p.VerifyChecksum())
		}
		for bit := range len(p.Segment) * 8 {
			p.Segment[bit/8] ^= 1 << (bit % 8)
			if p.VerifyChecksum() != ChecksumBad {
				t.Fatalf("bit %d: %v", bit, p.VerifyChecksum())
			}
			p.Segment[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// The wide sum equals the plain one of RFC 1071 section 4.1.
func TestSum_SlowReference(t *testing.T) {
	b := bytes.Repeat([]byte{0xff, 0xff, 0xff, 0, 1, 0x80, 0xfe}, 40)
	for n := range b {
		for from := range 9 {
			part := b[min(from, n):n]
			var s uint64
			for i, c := range part {
				s += uint64(c) << (8 * (1 - i%2))
			}
			if got, want := onesum.Carried(sum(part)), onesum.Carried(s); got != want {
				t.Fatalf("%d octets: %#04x, want %#04x", len(part), got, want)
			}
		}
	}
}

func TestAddr_Text(t *testing.T) {
	tests := []struct {
		a    Addr
		text string
		port string
	}{
		{v4a, "10.0.0.1", "10.0.0.1:4000"},
		{v6a, "fd00:1::1", "[fd00:1::1]:4000"},
		{Addr{}, "::", "[::]:4000"},
		{Addr{15: 1}, "::1", "[::1]:4000"},
		{Addr4(255, 255, 255, 255), "255.255.255.255", "255.255.255.255:4000"},
	}
	buf := make([]byte, 0, 64)
	for _, tc := range tests {
		if got := tc.a.String(); got != tc.text {
			t.Errorf("String %q, want %q", got, tc.text)
		}
		if got := string(tc.a.AppendText(buf)); got != tc.text {
			t.Errorf("AppendText %q, want %q", got, tc.text)
		}
		if got := string(AppendAddrPort(buf, tc.a, 4000)); got != tc.port {
			t.Errorf("AppendAddrPort %q, want %q", got, tc.port)
		}
		if tc.a.Is4() != tc.a.Netip().Is4() || AddrFrom(tc.a.Netip()) != tc.a {
			t.Errorf("%v: Is4 %v", tc.a, tc.a.Is4())
		}
		if n := testing.AllocsPerRun(10, func() { AppendAddrPort(tc.a.AppendText(buf), tc.a, 4000) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

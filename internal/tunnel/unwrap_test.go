package tunnel

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
)

var (
	outerA, outerB = packet.Addr4(192, 0, 2, 1), packet.Addr4(192, 0, 2, 2)
	innerA, innerB = packet.Addr4(10, 0, 0, 1), packet.Addr4(10, 0, 0, 2)
	macA, macB     = [6]byte{0, 0x16, 0x3e, 0, 0, 1}, [6]byte{0, 0x16, 0x3e, 0, 0, 2}
)

const payload = "0123456789abcdef"

// segment is the TCP segment that tunnels carry.
func segment(link uint16) []byte {
	return (&packet.Build{
		Link: link, SrcMAC: macA, DstMAC: macB, Src: innerA, Dst: innerB, SrcPort: 40000, DstPort: 5001,
		Seq: 7, Flags: packet.FlagACK, Payload: []byte(payload),
	}).Append(nil)
}

// in4 puts octets behind an Ethernet and an IPv4 header.
func in4(proto packet.Proto, octets ...[]byte) []byte {
	return (&packet.Build{
		Link: packet.LinkEthernet, SrcMAC: macA, DstMAC: macB, Src: outerA, Dst: outerB, ID: 1,
		Proto: proto, Payload: bytes.Join(octets, nil),
	}).Append(nil)
}

// inUDP puts octets behind a UDP header, too.
func inUDP(port uint16, octets ...[]byte) []byte {
	b := packet.Build{Src: outerA, Dst: outerB}
	return in4(packet.ProtoUDP, b.UDP(50000, port, bytes.Join(octets, nil)))
}

// inEthernet puts octets behind an Ethernet header with the type t.
func inEthernet(t uint16, octets ...[]byte) []byte {
	b := packet.Build{Link: packet.LinkEthernet, SrcMAC: macA, DstMAC: macB, EtherType: t}
	return append(b.AppendLink(nil), bytes.Join(octets, nil)...)
}

func raw() []byte { return segment(packet.LinkRaw) }
func eth() []byte { return segment(packet.LinkEthernet) }

// tunnels are frames with the segment inside, and what is to be said of their
// tunnels.
var tunnels = []struct {
	name  string
	frame []byte
	want  string
}{
	{"GRE", in4(47, []byte{0, 0, 8, 0}, raw()), "gre a>b gre.proto=0x800"},
	{"GRE with all options", in4(47, []byte{0xb0, 0, 8, 0, 1, 2, 0, 0, 0, 0, 0, 42, 0, 0, 0, 9}, raw()), "gre a>b gre.proto=0x800 gre.checksum=0x102 gre.key=0x2a gre.sequence_number=9"},
	{"GRE with Ethernet", in4(47, []byte{0, 0, 0x65, 0x58}, eth()), "gre a>b gre.proto=0x6558"},
	{"GRE with MPLS", in4(47, []byte{0, 0, 0x88, 0x47, 0, 1, 1, 64}, raw()), "gre a>b gre.proto=0x8847, mpls mpls.label=16"},
	{"ERSPAN I", in4(47, []byte{0, 0, 0x88, 0xbe}, eth()), "gre a>b gre.proto=0x88be"},
	{"ERSPAN II", in4(47, []byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 100, 0xe0, 7, 0, 0, 0, 0}, eth()), "gre a>b gre.proto=0x88be gre.sequence_number=1, erspan erspan.version=1 erspan.vlan=100 erspan.spanid=7"},
	{"ERSPAN III", in4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 100, 0, 7, 1, 2, 3, 4, 0, 0, 0, 0}, eth()), "gre a>b gre.proto=0x22eb gre.sequence_number=1, erspan erspan.version=2 erspan.vlan=100 erspan.spanid=7"},
	{"ERSPAN III with a subheader and IP", in4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 100, 0, 7, 1, 2, 3, 4, 0, 0, 0x08, 1, 1, 2, 3, 4, 5, 6, 7, 8}, raw()), "gre a>b gre.proto=0x22eb gre.sequence_number=1, erspan erspan.version=2 erspan.vlan=100 erspan.spanid=7"},
	{"VXLAN", inUDP(4789, []byte{8, 0, 0, 0, 0, 0, 42, 0}, eth()), "vxlan a>b vxlan.vni=42"},
	{"VXLAN on the port of Linux", inUDP(8472, []byte{8, 0, 0, 0, 0, 0, 42, 0}, eth()), "vxlan a>b vxlan.vni=42"},
	{"VXLAN with a group policy", inUDP(4789, []byte{0x88, 0x48, 1, 2, 0, 0, 42, 0}, eth()), "vxlan a>b vxlan.vni=42 vxlan.gbp=258"},
	{"Geneve", inUDP(6081, []byte{0, 0, 0x65, 0x58, 0, 0, 42, 0}, eth()), "geneve a>b geneve.vni=42"},
	{"Geneve with IP", inUDP(6081, []byte{0, 0x40, 8, 0, 0, 0, 42, 0}, raw()), "geneve a>b geneve.vni=42"},
	{"Geneve with all options", inUDP(6081, []byte{63, 0, 0x65, 0x58, 0, 0, 42, 0}, make([]byte, 63*4), eth()), "geneve a>b geneve.vni=42"},
	{"MPLS", inEthernet(0x8847, []byte{0, 1, 0, 64, 0, 2, 1, 64}, raw()), "mpls mpls.label=16, mpls mpls.label=32"},
	{"MPLS upstream", inEthernet(0x8848, []byte{0, 1, 1, 64}, raw()), "mpls mpls.label=16"},
	{"MPLS with Ethernet", inEthernet(0x8847, []byte{0, 1, 1, 64}, eth()), "mpls mpls.label=16"},
	{"MPLS with Ethernet behind a control word", inEthernet(0x8847, []byte{0, 1, 1, 64, 0, 0, 0, 1}, eth()), "mpls mpls.label=16"},
	{"MPLS with an address that begins like IPv4", inEthernet(0x8847, []byte{0, 1, 1, 64}, append([]byte{0x45, 0, 0xff, 0xff, 0, 1}, eth()[6:]...)), "mpls mpls.label=16"},
	{"MPLS with a tagged frame", inEthernet(0x8847, []byte{0, 1, 1, 64}, eth()[:12], []byte{0x81, 0, 0, 7}, eth()[12:]), "mpls mpls.label=16"},
	{"PPPoE", inEthernet(0x8864, []byte{0x11, 0, 0, 17, 0, 58, 0, 0x21}, raw()), "pppoe pppoe.session_id=0x11"},
	{"PPPoE with a short protocol", inEthernet(0x8864, []byte{0x11, 0, 0, 17, 0, 57, 0x21}, raw(), make([]byte, 9)), "pppoe pppoe.session_id=0x11"},
	{"PPPoE with MPLS", inEthernet(0x8864, []byte{0x11, 0, 0, 17, 0, 62, 2, 0x81, 0, 1, 1, 64}, raw()), "pppoe pppoe.session_id=0x11, mpls mpls.label=16"},
	{"IP in IP", in4(4, raw()), "4in4 a>b"},
	{"eight deep", nested(8), strings.Repeat("4in4 a>b, ", 7) + "4in4 a>b"},
}

// nested is the segment in IP in IP n times.
func nested(n int) []byte {
	b := raw()
	for i := range n {
		p := packet.Build{Link: packet.LinkRaw, Src: outerA, Dst: outerB, ID: 1, Proto: packet.ProtoIPv4, Payload: b}
		if i == n-1 {
			p.Link = packet.LinkEthernet
		}
		b = p.Append(nil)
	}
	return b
}

// unwrap decodes a frame of which data was captured.
func unwrap(u *Unwrapper, d *packet.Decoder, data []byte, length int, number uint64, p *packet.Packet) packet.Status {
	st := d.Decode(packet.LinkEthernet, data, uint32(length), number, 0, p)
	if st == packet.NotIP || st == packet.OtherTransport {
		st = u.Unwrap(d, st, number, 0, p)
	}
	return st
}

// told is what headers say, as text.
func told(hs []Header) string {
	var all []string
	for i := range hs {
		h := &hs[i]
		text := h.Kind.String()
		if h.HasAddrs {
			names := map[packet.Addr]string{outerA: "a", outerB: "b"}
			text += " " + names[h.Src] + ">" + names[h.Dst]
		}
		for _, v := range h.Values() {
			if v.Digits > 0 {
				text += fmt.Sprintf(" %s=%#x", v.Name, v.Number)
			} else {
				text += fmt.Sprintf(" %s=%d", v.Name, v.Number)
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestUnwrap(t *testing.T) {
	var u Unwrapper
	d := packet.NewDecoder()
	for _, tc := range tunnels {
		t.Run(tc.name, func(t *testing.T) {
			var p packet.Packet
			if st := unwrap(&u, d, tc.frame, len(tc.frame), 1, &p); st != packet.OK {
				t.Fatalf("%v, %q", st, d.Reason())
			}
			if p.Src != innerA || p.DstPort != 5001 || string(p.Payload) != payload || p.PayloadLen != len(payload) || p.VerifyChecksum() != packet.ChecksumOK {
				t.Errorf("%+v", p)
			}
			if at := p.PayloadOffset(); string(tc.frame[at:at+len(payload)]) != payload {
				t.Errorf("the payload is said to be at %d", at)
			}
			if got := told(u.Headers()); got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestUnwrap_Allocations: tunnels cost none.
func TestUnwrap_Allocations(t *testing.T) {
	var u Unwrapper
	d := packet.NewDecoder()
	var p packet.Packet
	for _, tc := range tunnels {
		if n := testing.AllocsPerRun(10, func() { unwrap(&u, d, tc.frame, len(tc.frame), 1, &p) }); n != 0 {
			t.Errorf("%s: %v allocations", tc.name, n)
		}
	}
}

// TestUnwrap_Cut: at every snap length the frame is truncated, or the rest of the
// payload is known to be missing. VXLAN and Geneve cannot be told from other UDP
// before their header is there.
func TestUnwrap_Cut(t *testing.T) {
	var u Unwrapper
	d := packet.NewDecoder()
	for _, tc := range tunnels {
		for n := range len(tc.frame) {
			var p packet.Packet
			st := unwrap(&u, d, tc.frame[:n:n], len(tc.frame), 1, &p)
			switch st {
			case packet.OK:
				if p.PayloadLen != len(payload) || len(p.Payload) > n || p.Src != innerA {
					t.Fatalf("%s cut to %d: %+v", tc.name, n, p)
				}
			case packet.Truncated:
				if d.Reason() == "" || d.Fault().Offset > n {
					t.Fatalf("%s cut to %d: %+v", tc.name, n, d.Fault())
				}
			case packet.OtherTransport:
				if p.Proto != packet.ProtoUDP {
					t.Fatalf("%s cut to %d: %v", tc.name, n, p.Proto)
				}
			case packet.NotIP:
				if !strings.HasPrefix(tc.name, "MPLS") {
					t.Fatalf("%s cut to %d: not IP", tc.name, n)
				}
			default:
				t.Fatalf("%s cut to %d: %v, %q", tc.name, n, st, d.Reason())
			}
		}
	}
}

// TestUnwrap_Fragments: a tunnel whose outer datagram came in fragments, and a
// packet in a tunnel that came in fragments, each in fragments of the tunnel's.
func TestUnwrap_Fragments(t *testing.T) {
	var u Unwrapper
	d := packet.NewDecoder()
	feed := func(p *packet.Packet, frames ...[]byte) (st packet.Status) {
		for i, f := range frames {
			st = unwrap(&u, d, f, len(f), uint64(i+1), p)
		}
		return st
	}
	b := packet.Build{Src: outerA, Dst: outerB}
	for name, proto := range map[string]packet.Proto{"GRE": 47, "IP in IP": 4, "VXLAN": 17, "VXLAN of Linux": 17} {
		body := raw()
		switch proto {
		case 47:
			body = append([]byte{0, 0, 8, 0}, body...)
		case 17:
			port := uint16(4789)
			if name != "VXLAN" {
				port = 8472
			}
			body = b.UDP(50000, port, append([]byte{8, 0, 0, 0, 0, 0, 42, 0}, eth()...))
		}
		outer := packet.Build{Link: packet.LinkEthernet, Src: outerA, Dst: outerB, ID: 5, Proto: proto, Payload: body}
		var p packet.Packet
		frames := outer.Fragments(24)
		if st := feed(&p, frames...); st != packet.OK || string(p.Payload) != payload || p.PayloadOffset() != -1 {
			t.Errorf("%s: %v, %q: %+v", name, st, d.Reason(), p)
		}
		if len(p.Fragments) != len(frames) || len(u.Headers()) != 1 {
			t.Errorf("%s: frames %v of %d, tunnels %s", name, p.Fragments, len(frames), told(u.Headers()))
		}
	}

	inner := packet.Build{Link: packet.LinkRaw, Src: innerA, Dst: innerB, ID: 3, SrcPort: 1, DstPort: 2, Payload: bytes.Repeat([]byte("x"), 100)}
	var frames [][]byte
	for i, f := range inner.Fragments(80) {
		outer := packet.Build{Link: packet.LinkEthernet, Src: outerA, Dst: outerB, ID: uint32(10 + i), Proto: packet.ProtoIPv4, Payload: f}
		frames = append(frames, outer.Fragments(48)...)
	}
	var p packet.Packet
	if st := feed(&p, frames...); st != packet.OK || p.PayloadLen != 100 || fmt.Sprint(p.Fragments) != "[1 2 3 4 5]" {
		t.Errorf("%v, %q, frames %v of %d", st, d.Reason(), p.Fragments, len(frames))
	}
	if s := d.Stats(); s.Pending != 0 || s.PendingFragments != 0 || s.PendingMemory != 0 {
		t.Errorf("%+v", s)
	}
}

// TestUnwrap_TooDeep: the ninth header is said to be too many, and nothing is
// decoded behind it.
func TestUnwrap_TooDeep(t *testing.T) {
	labels := bytes.Repeat([]byte{0, 1, 0, 64}, MaxDepth)
	for name, frame := range map[string][]byte{
		"IP in IP":            nested(MaxDepth + 1),
		"MPLS":                inEthernet(0x8847, labels, []byte{0, 1, 1, 64}, raw()),
		"MPLS without an end": inEthernet(0x8847, bytes.Repeat([]byte{0, 1, 0, 64}, 10_000)),
		"MPLS, cut behind":    inEthernet(0x8847, labels, []byte{0, 1, 1, 64}, nil),
	} {
		var u Unwrapper
		d := packet.NewDecoder()
		var p packet.Packet
		if st := unwrap(&u, d, frame, len(frame)+20, 1, &p); st != packet.Malformed || d.Reason() != ReasonDepth {
			t.Errorf("%s: %v, %q", name, st, d.Reason())
		}
		if n := len(u.Headers()); n != MaxDepth {
			t.Errorf("%s: %d headers", name, n)
		}
	}
}

// TestUnwrap_CutSecond: of a second header that is cut the first one is told, with
// its addresses.
func TestUnwrap_CutSecond(t *testing.T) {
	var u Unwrapper
	d := packet.NewDecoder()
	var p packet.Packet
	frame := in4(47, []byte{0, 0, 0x88, 0x47, 0, 1, 1, 64}, raw())
	st := unwrap(&u, d, frame[:40], len(frame), 1, &p)
	if got := told(u.Headers()); st != packet.Truncated || d.Fault() != (packet.Fault{Code: "mpls-label", Offset: 38}) || got != "gre a>b gre.proto=0x8847" {
		t.Errorf("%v, %+v, %s", st, d.Fault(), got)
	}
}

// TestUnwrap_Refused: what is no tunnel, or not one of these, stays what it was.
func TestUnwrap_Refused(t *testing.T) {
	const udp, not = packet.OtherTransport, packet.NotIP
	for _, tc := range []struct {
		name  string
		frame []byte
		want  packet.Status
	}{
		{"GRE with routing", in4(47, []byte{0x40, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0}, raw()), udp},
		{"GRE version 1", in4(47, []byte{0x30, 1, 0x88, 0x0b, 0, 60, 0, 1, 0, 0, 0, 1}, raw()), udp},
		{"GRE with another protocol", in4(47, []byte{0, 0, 0x12, 0x34}, raw()), udp},
		{"GRE without octets", in4(47), udp},
		{"GRE shorter than its flags", in4(47, []byte{0xb0, 0, 8, 0, 0, 0}), udp},
		{"ERSPAN II of another version", in4(47, []byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x20, 100, 0, 7, 0, 0, 0, 0}, eth()), udp},
		{"ERSPAN III of another version", in4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x10, 100, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0}, eth()), udp},
		{"ERSPAN III with another frame type", in4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 100, 0, 7, 0, 0, 0, 0, 0, 0, 0x04, 0}, eth()), udp},
		{"VXLAN without I", inUDP(4789, []byte{0, 0, 0, 0, 0, 0, 42, 0}, eth()), udp},
		{"VXLAN with a reserved bit", inUDP(4789, []byte{9, 0, 0, 0, 0, 0, 42, 0}, eth()), udp},
		{"VXLAN with a reserved octet", inUDP(4789, []byte{8, 0, 0, 0, 0, 0, 42, 1}, eth()), udp},
		{"VXLAN on another port", inUDP(4790, []byte{8, 0, 0, 0, 0, 0, 42, 0}, eth()), udp},
		{"Geneve version 1", inUDP(6081, []byte{0x40, 0, 0x65, 0x58, 0, 0, 42, 0}, eth()), udp},
		{"Geneve with a control message", inUDP(6081, []byte{0, 0x80, 0x65, 0x58, 0, 0, 42, 0}, eth()), udp},
		{"Geneve with another protocol", inUDP(6081, []byte{0, 0, 0x12, 0x34, 0, 0, 42, 0}, eth()), udp},
		{"Geneve shorter than its options", inUDP(6081, []byte{63, 0, 0x65, 0x58, 0, 0, 42, 0}, make([]byte, 100)), udp},
		{"MPLS with something else", inEthernet(0x8847, []byte{0, 1, 1, 64}, make([]byte, 60)), not},
		{"MPLS with an IP header that is longer", inEthernet(0x8847, []byte{0, 1, 1, 64}, raw()[:30]), not},
		{"PPPoE discovery", inEthernet(0x8863, []byte{0x11, 9, 0, 0, 0, 0}, make([]byte, 40)), not},
		{"PPPoE of another version", inEthernet(0x8864, []byte{0x21, 0, 0, 17, 0, 58, 0, 0x21}, raw()), not},
		{"PPPoE longer than the frame", inEthernet(0x8864, []byte{0x11, 0, 0, 17, 0, 59, 0, 0x21}, raw()), not},
		{"PPPoE with LCP", inEthernet(0x8864, []byte{0x11, 0, 0, 17, 0, 58, 0xc0, 0x21}, raw()), not},
		{"ARP", inEthernet(0x0806, make([]byte, 28)), not},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var u Unwrapper
			d := packet.NewDecoder()
			var p, before packet.Packet
			d.Decode(packet.LinkEthernet, tc.frame, uint32(len(tc.frame)), 1, 0, &before)
			st := unwrap(&u, d, tc.frame, len(tc.frame), 1, &p)
			if st != tc.want || len(u.Headers()) != 0 || p.Src != before.Src || p.Proto != before.Proto || p.EtherType != before.EtherType {
				t.Errorf("%v, %s, %+v", st, told(u.Headers()), p)
			}
		})
	}
}

// TestUnwrap_OtherInside: a tunnel that carries something else is told all the
// same.
func TestUnwrap_OtherInside(t *testing.T) {
	var u Unwrapper
	d := packet.NewDecoder()
	var p packet.Packet
	frame := in4(47, []byte{0, 0, 0x65, 0x58}, inEthernet(0x0806, make([]byte, 28)))
	if st := unwrap(&u, d, frame, len(frame), 1, &p); st != packet.NotIP || p.EtherType != 0x0806 || len(u.Headers()) != 1 {
		t.Errorf("%v, %s", st, told(u.Headers()))
	}
}

// TestUnwrap_SCTPInUDP: SCTP in UDP is found in a tunnel, and stays what it is
// outside of one.
func TestUnwrap_SCTPInUDP(t *testing.T) {
	sctp := []byte{0, 80, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 11, 0, 0, 4}
	b := packet.Build{Src: outerA, Dst: outerB}
	plain := packet.Build{Link: packet.LinkRaw, Src: outerA, Dst: outerB, Proto: packet.ProtoUDP, Payload: b.UDP(9899, 9899, sctp)}
	for _, frame := range [][]byte{in4(4, plain.Append(nil)), in4(packet.ProtoUDP, plain.Payload), in4(packet.ProtoUDP, b.UDP(9899, 4789, sctp))} {
		var u Unwrapper
		var p packet.Packet
		if st := unwrap(&u, packet.NewDecoder(), frame, len(frame), 1, &p); st != packet.OK || p.Proto != packet.ProtoSCTP || p.Notes&packet.NoteEncapsulated == 0 {
			t.Errorf("%v, %+v", st, p)
		}
	}
}

func TestKind_String(t *testing.T) {
	for k := GRE; k <= IPv6InIPv6; k++ {
		if strings.HasPrefix(k.String(), "tunnel-") || k.Title() == k.String() {
			t.Errorf("kind %d is %q, %q", k, k, k.Title())
		}
	}
	if k := Kind(99); k.String() != "tunnel-99" || k.Title() != "tunnel-99" {
		t.Errorf("%v", k)
	}
}

// FuzzUnwrap: whatever the octets, nothing panics, the work is bounded, and what
// is found lies in the frame.
func FuzzUnwrap(f *testing.F) {
	for _, tc := range tunnels {
		f.Add(tc.frame, uint16(0))
		f.Add(tc.frame[:len(tc.frame)-20], uint16(20))
	}
	f.Fuzz(func(t *testing.T, frame []byte, cut uint16) {
		var u Unwrapper
		d := packet.NewDecoder()
		var p packet.Packet
		for n := range uint64(2) { // the second one may complete a datagram
			st := unwrap(&u, d, frame, len(frame)+int(cut), n, &p)
			if len(u.Headers()) > MaxDepth || (st == packet.Malformed || st == packet.Truncated) && d.Reason() == "" {
				t.Fatalf("%v, %d headers, reason %q", st, len(u.Headers()), d.Reason())
			}
			if st != packet.OK {
				continue
			}
			if p.PayloadLen < len(p.Payload) {
				t.Fatalf("%+v", p)
			}
			if at := p.PayloadOffset(); at >= 0 && at <= len(frame) && !bytes.HasPrefix(frame[at:], p.Payload) {
				t.Fatalf("the payload is not at %d", at)
			}
		}
	})
}

func BenchmarkUnwrapVXLAN(b *testing.B) {
	var u Unwrapper
	d := packet.NewDecoder()
	var p packet.Packet
	frame := inUDP(4789, []byte{8, 0, 0, 0, 0, 0, 42, 0}, eth())
	b.ReportAllocs()
	for b.Loop() {
		if st := unwrap(&u, d, frame, len(frame), 1, &p); st != packet.OK {
			b.Fatal(st)
		}
	}
}

package packet

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// benchBuild is a full segment with timestamps, as bulk transfers consist of.
func benchBuild(link uint16, v6 bool, vlans int) Build {
	b := segment4()
	if v6 {
		b = segment6()
	}
	b.Link = link
	b.VLANs = make([]VLAN, vlans)
	b.Options = AppendTimestamps([]byte{OptNop, OptNop}, 1, 2)
	b.Payload = bytes.Repeat([]byte("p"), 1400)
	return b
}

func benchDecode(b *testing.B, build Build) {
	frame := build.Append(nil)
	d := NewDecoder()
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		if st := d.Decode(build.Link, frame, uint32(len(frame)), 1, 0, &p); st != OK {
			b.Fatal(st)
		}
	}
}

func BenchmarkDecodeEthernetIPv4TCP(b *testing.B) { benchDecode(b, benchBuild(LinkEthernet, false, 0)) }

func BenchmarkDecodeEthernetIPv6TCP(b *testing.B) { benchDecode(b, benchBuild(LinkEthernet, true, 0)) }

func BenchmarkDecodeEthernetVLAN(b *testing.B) { benchDecode(b, benchBuild(LinkEthernet, false, 1)) }

func BenchmarkDecodeEthernetQinQ(b *testing.B) { benchDecode(b, benchBuild(LinkEthernet, false, 2)) }

func BenchmarkDecodeSLL2(b *testing.B)    { benchDecode(b, benchBuild(LinkLinuxSLL2, false, 0)) }
func BenchmarkDecodeRawIPv6(b *testing.B) { benchDecode(b, benchBuild(LinkRaw, true, 0)) }

func BenchmarkDecodeIPv6Extension(b *testing.B) {
	build := benchBuild(LinkEthernet, true, 0)
	build.Extensions = []Extension{{protoHopByHop, make([]byte, 6)}}
	benchDecode(b, build)
}

// A frame cut by the snap length takes the general path.
func BenchmarkDecodeCut(b *testing.B) {
	build := benchBuild(LinkEthernet, false, 0)
	frame := build.Append(nil)
	d := NewDecoder()
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(LinkEthernet, frame[:128], uint32(len(frame)), 1, 0, &p)
	}
}

func BenchmarkDecodeFragments(b *testing.B) {
	build := benchBuild(LinkEthernet, false, 0)
	build.Payload = bytes.Repeat([]byte("p"), 4000)
	frames := build.Fragments(1480)
	d := NewDecoder()
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		for i, f := range frames {
			d.Decode(LinkEthernet, f, uint32(len(f)), uint64(i), 0, &p)
		}
	}
}

// BenchmarkGopacketParser is the reusable parser of gopacket on the frame of
// BenchmarkDecodeEthernetIPv4TCP and its relatives.
func BenchmarkGopacketParser(b *testing.B) {
	for _, c := range []struct {
		name  string
		build Build
	}{
		{"IPv4", benchBuild(LinkEthernet, false, 0)},
		{"IPv6", benchBuild(LinkEthernet, true, 0)},
		{"VLAN", benchBuild(LinkEthernet, false, 1)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var eth layers.Ethernet
			var tag layers.Dot1Q
			var ip4 layers.IPv4
			var ip6 layers.IPv6
			var tcp layers.TCP
			parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &tag, &ip4, &ip6, &tcp)
			parser.IgnoreUnsupported = true
			found := make([]gopacket.LayerType, 0, 8)
			frame := c.build.Append(nil)
			b.ReportAllocs()
			for b.Loop() {
				if err := parser.DecodeLayers(frame, &found); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

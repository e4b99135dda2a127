package packet_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// TestShard_ForEver pins in which part connections are. What is here must never change: parts that
// were made by other versions and on other machines are put together.
func TestShard_ForEver(t *testing.T) {
	for _, tt := range []struct {
		proto    packet.Proto
		src, dst string
		hash     uint64
		parts    string // K of 2, 3, 4, 7, 16 and 1000
	}{
		{packet.ProtoTCP, "10.0.0.1:4000", "10.0.0.2:5001", 0x8822c36fafd5137c, "[0 2 0 1 12 732]"},
		{packet.ProtoTCP, "10.0.0.1:49152", "10.0.0.1:49153", 0x738281896ce0a190, "[0 2 0 3 0 328]"},
		{packet.ProtoTCP, "192.0.2.7:20049", "198.51.100.1:65535", 0x2bb7845f8f3393fb, "[1 1 3 4 11 955]"},
		{packet.ProtoTCP, "[fd00::1]:4791", "[fd00::2]:4420", 0x5d64ac3301725f09, "[1 2 1 0 9 865]"},
		{packet.ProtoTCP, "[2001:db8::1]:1", "[2001:db8::ff]:65535", 0xfd403f5917425953, "[1 1 3 3 3 235]"},
		// Of SCTP the addresses have no part in it.
		{packet.ProtoSCTP, "10.0.0.1:4000", "10.0.0.2:5001", 0, "[1 1 1 1 1 265]"},
		{packet.ProtoSCTP, "[fd00::9]:4000", "[fd00::8]:5001", 0, "[1 1 1 1 1 265]"},
		{packet.ProtoSCTP, "[fd00::9]:5001", "[fd00::8]:5001", 0, "[0 0 2 0 14 814]"},
	} {
		src, dst := netip.MustParseAddrPort(tt.src), netip.MustParseAddrPort(tt.dst)
		to := &packet.Packet{Proto: tt.proto, Src: packet.AddrFrom(src.Addr()), Dst: packet.AddrFrom(dst.Addr()), SrcPort: src.Port(), DstPort: dst.Port()}
		from := &packet.Packet{Proto: tt.proto, Src: to.Dst, Dst: to.Src, SrcPort: to.DstPort, DstPort: to.SrcPort}
		if e, _ := from.Endpoints(); tt.hash != 0 && e.Hash() != tt.hash {
			t.Errorf("%s %s: hash %#x, want %#x", tt.src, tt.dst, e.Hash(), tt.hash)
		}
		var parts []uint32
		for _, n := range []uint32{2, 3, 4, 7, 16, 1000} {
			for k := range n {
				s := packet.Shard{K: k, N: n}
				if s.Has(to) != s.Has(from) {
					t.Errorf("%s %s: the directions are in different parts of %d", tt.src, tt.dst, n)
				}
				if s.Has(to) {
					parts = append(parts, k)
				}
			}
		}
		if fmt.Sprint(parts) != tt.parts {
			t.Errorf("%v %s %s: parts %v, want %s", tt.proto, tt.src, tt.dst, parts, tt.parts)
		}
	}
}

// TestShard_Even: connections of a client that differ in a port are divided evenly.
func TestShard_Even(t *testing.T) {
	for _, proto := range []packet.Proto{packet.ProtoTCP, packet.ProtoSCTP} {
		const n, all = 8, 16384
		var count [n]int
		p := &packet.Packet{Proto: proto, Src: packet.Addr4(10, 0, 0, 1), Dst: packet.Addr4(10, 0, 0, 2), DstPort: 20049}
		for i := range all {
			p.SrcPort = uint16(32768 + i)
			for k := range uint32(n) {
				if (packet.Shard{K: k, N: n}).Has(p) {
					count[k]++
				}
			}
		}
		for k, c := range count {
			if c < all/n*9/10 || c > all/n*11/10 {
				t.Errorf("%v: part %d has %d of %d", proto, k, c, all)
			}
		}
	}
}

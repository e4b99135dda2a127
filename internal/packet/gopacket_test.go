package packet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// serialise writes b with gopacket; ok is false for what gopacket cannot write.
func serialise(t *testing.T, b *Build) (frame []byte, ok bool) {
	t.Helper()
	for _, v := range b.VLANs {
		if v.TPID == etherQinQ2 { // unknown to gopacket
			return nil, false
		}
	}
	var stack []gopacket.SerializableLayer
	ether := layers.EthernetTypeIPv6
	family := layers.ProtocolFamilyIPv6BSD
	if b.Src.Is4() {
		ether, family = layers.EthernetTypeIPv4, layers.ProtocolFamilyIPv4
	}
	switch b.Link {
	case LinkEthernet:
		eth := &layers.Ethernet{SrcMAC: b.SrcMAC[:], DstMAC: b.DstMAC[:], EthernetType: ether}
		stack = append(stack, eth)
		next := &eth.EthernetType
		for _, v := range b.VLANs {
			*next = layers.EthernetTypeDot1Q
			if v.TPID == etherQinQ {
				*next = layers.EthernetTypeQinQ
			}
			tag := &layers.Dot1Q{Priority: uint8(v.TCI >> 13), DropEligible: v.TCI&0x1000 != 0, VLANIdentifier: v.TCI & 0xfff, Type: ether}
			stack, next = append(stack, tag), &tag.Type
		}
		if b.SNAP {
			if len(b.VLANs) > 0 {
				return nil, false
			}
			eth.EthernetType = layers.EthernetTypeLLC
			eth.Length = 0
			stack = append(stack, &layers.LLC{DSAP: 0xaa, SSAP: 0xaa, Control: 3}, &layers.SNAP{OrganizationalCode: []byte{0, 0, 0}, Type: ether})
		}
	case LinkNull:
		stack = append(stack, &layers.Loopback{Family: family})
	case LinkLinuxSLL:
		// gopacket reads but does not write this one: the header is ours. It
		// knows no LLC behind it.
		if b.SNAP {
			return nil, false
		}
	case LinkRaw, LinkIPv4, LinkIPv6:
	default:
		return nil, false
	}
	var network gopacket.NetworkLayer
	if b.Src.Is4() {
		ip := &layers.IPv4{
			Version: 4, TOS: b.TrafficClass, Id: uint16(b.ID), TTL: b.TTL, Protocol: layers.IPProtocol(b.proto()),
			SrcIP: net.IP(b.Src[12:]), DstIP: net.IP(b.Dst[12:]),
		}
		if b.DontFragment {
			ip.Flags = layers.IPv4DontFragment
		}
		if len(b.IPOptions) > 0 {
			ip.Options = []layers.IPv4Option{{OptionType: 148, OptionLength: 4, OptionData: []byte{0, 0}}}
		}
		if len(b.IPOptions) > 4 {
			ip.Options = append(ip.Options, layers.IPv4Option{OptionType: ipv4OptNop, OptionLength: 1})
		}
		stack, network = append(stack, ip), ip
	} else {
		if len(b.Extensions) > 0 {
			return nil, false
		}
		ip := &layers.IPv6{
			Version: 6, TrafficClass: b.TrafficClass, HopLimit: b.TTL, NextHeader: layers.IPProtocol(b.proto()),
			SrcIP: net.IP(b.Src[:]), DstIP: net.IP(b.Dst[:]),
		}
		stack, network = append(stack, ip), ip
	}
	if b.proto() == ProtoTCP {
		tcp := &layers.TCP{
			SrcPort: layers.TCPPort(b.SrcPort), DstPort: layers.TCPPort(b.DstPort), Seq: b.Seq, Ack: b.Ack,
			FIN: b.Flags&FlagFIN != 0, SYN: b.Flags&FlagSYN != 0, RST: b.Flags&FlagRST != 0, PSH: b.Flags&FlagPSH != 0,
			ACK: b.Flags&FlagACK != 0, URG: b.Flags&FlagURG != 0, ECE: b.Flags&FlagECE != 0, CWR: b.Flags&FlagCWR != 0,
			NS: b.Flags&FlagNS != 0, Window: b.Window, Urgent: b.Urgent,
		}
		if len(b.Options) > 0 {
			tcp.Options = []layers.TCPOption{
				{OptionType: layers.TCPOptionKindNop},
				{OptionType: layers.TCPOptionKindNop},
				{OptionType: layers.TCPOptionKindTimestamps, OptionLength: 10, OptionData: b.Options[4:]},
			}
		}
		if err := tcp.SetNetworkLayerForChecksum(network); err != nil {
			t.Fatal(err)
		}
		stack = append(stack, tcp)
	}
	stack = append(stack, gopacket.Payload(b.Payload))
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, stack...); err != nil {
		t.Fatalf("%v for %+v", err, b)
	}
	if b.Link == LinkLinuxSLL {
		head, _ := b.appendLink(nil)
		return append(head, buf.Bytes()...), true
	}
	return buf.Bytes(), true
}

// parse decodes with gopacket; layers beyond TCP and SCTP are left alone.
func parse(link uint16, frame []byte) gopacket.Packet {
	first := gopacket.Decoder(layers.LinkType(link))
	switch link {
	case LinkRaw, LinkRaw12, LinkRaw14:
		first = layers.LinkTypeRaw
	case LinkIPv4:
		first = layers.LayerTypeIPv4
	case LinkIPv6:
		first = layers.LayerTypeIPv6
	}
	return gopacket.NewPacket(frame, first, gopacket.DecodeOptions{NoCopy: true, Lazy: true})
}

// differs compares p with the layers that gopacket found, field for field and
// octet for octet.
func differs(p *Packet, want gopacket.Packet) error {
	network := want.NetworkLayer()
	if network == nil {
		return errors.New("gopacket finds no network layer")
	}
	flow := network.NetworkFlow()
	src, dst := net.IP(flow.Src().Raw()).To16(), net.IP(flow.Dst().Raw()).To16()
	if !bytes.Equal(src, p.Src[:]) || !bytes.Equal(dst, p.Dst[:]) {
		return fmt.Errorf("addresses %v %v, want %v %v", p.Src, p.Dst, src, dst)
	}
	var tags []uint16
	for _, l := range want.Layers() {
		if v, ok := l.(*layers.Dot1Q); ok {
			tags = append(tags, v.VLANIdentifier)
		}
	}
	if len(tags) != int(p.NumVLANs) {
		return fmt.Errorf("%d tags, want %d", p.NumVLANs, len(tags))
	}
	for i, id := range tags {
		if p.VLANs[i]&0xfff != id {
			return fmt.Errorf("tag %d is %d, want %d", i, p.VLANs[i]&0xfff, id)
		}
	}
	switch l := want.TransportLayer().(type) {
	case *layers.TCP:
		var flags uint16
		for i, set := range []bool{l.FIN, l.SYN, l.RST, l.PSH, l.ACK, l.URG, l.ECE, l.CWR, l.NS} {
			if set {
				flags |= 1 << i
			}
		}
		if p.Proto != ProtoTCP || p.SrcPort != uint16(l.SrcPort) || p.DstPort != uint16(l.DstPort) ||
			p.Seq != l.Seq || p.Ack != l.Ack || p.Flags != flags || p.Window != l.Window || p.Urgent != l.Urgent {
			return fmt.Errorf("TCP %+v, want %+v", p, l)
		}
		if !bytes.Equal(p.Options, l.Contents[20:]) || !bytes.Equal(p.Payload, l.Payload) {
			return fmt.Errorf("options % x and %d octets, want % x and %d", p.Options, len(p.Payload), l.Contents[20:], len(l.Payload))
		}
	case *layers.SCTP:
		if p.Proto != ProtoSCTP || p.SrcPort != uint16(l.SrcPort) || p.DstPort != uint16(l.DstPort) ||
			!bytes.Equal(p.Payload, append(bytes.Clone(l.Contents), l.Payload...)) {
			return fmt.Errorf("SCTP %+v, want %+v", p, l)
		}
	default:
		return fmt.Errorf("gopacket finds transport %T", l)
	}
	return nil
}

// What gopacket writes, Decode reads as gopacket does and Build writes alike.
func TestGopacket_Differential(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	d := NewDecoder()
	tried := map[uint16]int{}
	for _, link := range linkTypes {
		for range 3000 {
			b := randomBuild(rng, link)
			b.Trailer, b.BigEndian = nil, false
			b.Pad = true // gopacket always pads
			frame, ok := serialise(t, &b)
			if !ok {
				continue
			}
			tried[link]++
			var p Packet
			if st := d.Decode(link, frame, uint32(len(frame)), 1, 0, &p); st != OK {
				t.Fatalf("link %d: %v for %+v\n% x", link, st, b, frame)
			}
			if err := differs(&p, parse(link, frame)); err != nil {
				t.Fatalf("link %d: %v\n%+v\n% x", link, err, b, frame)
			}
			if own := b.Append(nil); !bytes.Equal(own, frame) {
				t.Fatalf("Build wrote\n% x, gopacket\n% x\nfor %+v", own, frame, b)
			}
		}
	}
	for _, link := range []uint16{LinkNull, LinkEthernet, LinkRaw, LinkLinuxSLL, LinkIPv4, LinkIPv6} {
		if tried[link] < 300 {
			t.Errorf("link %d: only %d frames", link, tried[link])
		}
	}
}

type packetReader interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	LinkType() layers.LinkType
}

func openCapture(f *os.File) (packetReader, error) {
	if filepath.Ext(f.Name()) == ".pcapng" {
		return pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	}
	return pcapgo.NewReader(f)
}

// Every packet of real captures is what gopacket says it is: of those of the
// project, and of further ones if the environment names a folder.
func TestGopacket_Captures(t *testing.T) {
	var names []string
	for _, dir := range []string{"../../testdata/pcaps", os.Getenv("IWDISSECT_CAPTURES")} {
		if dir == "" {
			continue
		}
		in, err := filepath.Glob(filepath.Join(dir, "*.pcap*"))
		if err != nil || len(in) == 0 {
			t.Fatalf("no captures in %s: %v", dir, err)
		}
		names = append(names, in...)
	}
	total := 0
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := openCapture(f)
			if err != nil {
				t.Fatal(err)
			}
			d := NewDecoder()
			for frame := uint64(1); ; frame++ {
				data, info, err := r.ZeroCopyReadPacketData()
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var p Packet
				link := uint16(r.LinkType())
				st := d.Decode(link, data, uint32(info.Length), frame, info.Timestamp.UnixNano(), &p)
				want := parse(link, data)
				switch {
				case st == OK:
					if err := differs(&p, want); err != nil {
						t.Fatalf("frame %d: %v", frame, err)
					}
					total++
				case st == Malformed || st == Truncated:
					if info.CaptureLength == info.Length {
						t.Errorf("frame %d: %v, %+v", frame, st, d.Fault())
					}
				default:
					if l := want.TransportLayer(); l != nil && (l.LayerType() == layers.LayerTypeTCP || l.LayerType() == layers.LayerTypeSCTP) {
						t.Errorf("frame %d: %v, gopacket finds %v", frame, st, l.LayerType())
					}
				}
			}
		})
	}
	t.Logf("%d packets compared", total)
}

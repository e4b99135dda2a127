package diagnose_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// raw are n frames of a link type.
func raw(link uint16, n int, data []byte) []capture.Frame {
	var fs []capture.Frame
	for i := range n {
		fs = append(fs, capture.Frame{Time: tracetest.Start + int64(i), Link: pcapng.LinkType(link), OrigLen: uint32(len(data)), Data: data})
	}
	return tracetest.Number(fs)
}

// headersOnly are the frames of a connection of which few octets were captured.
func headersOnly(snap int) []capture.Frame {
	ps, _ := sends(3)
	return tracetest.Net{Snap: snap}.Frames(ps)
}

// cutTo cuts frames to a snap length.
func cutTo(snap int, fs []capture.Frame) []capture.Frame {
	for i := range fs {
		fs[i].Data = fs[i].Data[:min(snap, len(fs[i].Data))]
	}
	return fs
}

// ethernet is a frame with an Ethernet type.
func ethernet(etherType uint16, payload []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 12), etherType), payload...)
}

// ipv4 is an Ethernet frame with a packet of an IP protocol.
func ipv4(proto byte, payload []byte) []byte {
	h := []byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(payload)))
	return ethernet(0x0800, append(h, payload...))
}

// udp is a datagram to a port, with InfiniBand's headers or anything else in it.
func udp(port uint16, payload []byte) []byte {
	h := []byte{0xc0, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint16(h[2:], port)
	binary.BigEndian.PutUint16(h[4:], uint16(len(h)+len(payload)))
	return ipv4(17, append(h, payload...))
}

// talk is a TCP connection in which both sides say something.
func talk(n tracetest.Net, client, server string) []capture.Frame {
	var t tracetest.TCP
	t.Handshake()
	t.Send(tracetest.Client, []byte(client))
	t.Send(tracetest.Server, []byte(server))
	t.Close()
	return n.Frames(t.Packets)
}

// on is a network on which the server has a port.
func on(port uint16, pair int) tracetest.Net { return tracetest.Net{ServerPort: port, Pair: pair} }

// syns are n connections that only send a SYN, and are refused if they are.
func syns(port uint16, n int, refused bool) []capture.Frame {
	var parts [][]capture.Frame
	for i := range n {
		ps := []tracetest.Packet{{Side: tracetest.Client, Off: -1, Flags: packet.FlagSYN, Time: tracetest.Start}}
		if refused {
			ps = append(ps, tracetest.Packet{Side: tracetest.Server, Off: -1, Ack: 0, Flags: packet.FlagRST | packet.FlagACK, Time: tracetest.Start + 1000})
		}
		parts = append(parts, on(port, i).Frames(ps))
	}
	return tracetest.Join(parts...)
}

// late is a connection of which the capture lacks the start.
func late(port uint16, b string) []capture.Frame {
	var t tracetest.TCP
	t.Handshake()
	for range 4 {
		t.Send(tracetest.Client, []byte(b))
		t.Send(tracetest.Server, []byte(b))
	}
	return tracetest.Number(on(port, 0).Frames(t.Packets)[3:])
}

const (
	clientHello = "\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03"
	icReq       = "\x00\x00\x80\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	bth         = "\x0a\x40\xff\xff\x00\x00\x00\x12\x80\x00\x00\x01"
	noProtocol  = "\x99\x88\x77\x66 what nobody knows"
)

// iwarp is a connection of iWARP.
func iwarp() []capture.Frame {
	ps, _ := sends(3)
	return tracetest.Net{}.Frames(ps)
}

var captures = []struct {
	name   string
	frames []capture.Frame
}{
	{"iWARP", iwarp()},
	{"iWARP and much else", tracetest.Join(iwarp(), raw(1, 3, udp(4791, []byte(bth))), talk(on(443, 9), clientHello, clientHello), raw(220, 1, make([]byte, 64)))},
	{"RoCEv2", raw(1, 5, udp(4791, []byte(bth)))},
	{"no RoCEv2, though on its port", raw(1, 5, udp(4791, []byte("\x0a\x41 another version")))},
	{"RoCEv1", raw(1, 2, ethernet(0x8915, []byte(bth)))},
	{"InfiniBand", raw(247, 4, make([]byte, 64))},
	{"ERF", raw(197, 4, make([]byte, 64))},
	{"USB", raw(220, 1, make([]byte, 64))},
	{"Wi-Fi", raw(127, 7, make([]byte, 64))},
	{"an unknown link type", raw(147, 1, make([]byte, 64))},
	{"HTTP", tracetest.Join(talk(on(80, 0), "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"), talk(on(80, 1), "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"))},
	{"TLS and SSH", tracetest.Join(talk(on(443, 0), clientHello, clientHello), talk(on(22, 1), "SSH-2.0-OpenSSH_9\r\n", "SSH-2.0-OpenSSH_9\r\n"))},
	{"IPsec and WireGuard", tracetest.Join(raw(1, 3, ipv4(50, make([]byte, 64))), raw(1, 1, udp(51820, make([]byte, 64))))},
	{"NVMe/TCP", talk(on(4420, 0), icReq, "\x01"+icReq[1:])},
	{"SMC-R", talk(on(5000, 0), "\xe2\xd4\xc3\xd9\x01\x00\x34\x10", "\xe2\xd4\xc3\xd9\x02\x00\x34\x10")},
	{"refused", syns(7174, 3, true)},
	{"one refused beside iWARP", tracetest.Join(iwarp(), syns(7174, 1, true))},
	{"not answered", syns(7174, 2, false)},
	{"an unknown protocol", talk(on(7174, 0), noProtocol, noProtocol)},
	{"started before the capture", late(7174, noProtocol)},
	{"no data", talk(on(7174, 0), "", "")},
	{"headers only", headersOnly(54)},
	{"headers only, beside UDP", tracetest.Join(cutTo(40, raw(1, 3, udp(53, make([]byte, 20)))), headersOnly(54))},
	{"half of the headers", headersOnly(40)},
	{"hardly a header", headersOnly(20)},
	{"one direction of something else", func() []capture.Frame {
		var t tracetest.TCP
		t.Handshake()
		t.Send(tracetest.Client, []byte(noProtocol))
		t.Send(tracetest.Client, []byte(noProtocol))
		return on(7174, 0).Frames([]tracetest.Packet{t.Packets[0], t.Packets[2], t.Packets[3], t.Packets[4]})
	}()},
	{"UDP and ARP", tracetest.Join(raw(1, 2, udp(53, make([]byte, 20))), raw(1, 1, ethernet(0x0806, make([]byte, 28))))},
	{"empty", nil},
}

// TestCapture compares what is said of whole captures.
func TestCapture(t *testing.T) {
	var b strings.Builder
	for _, c := range captures {
		said := text(diagnosed(t, tracetest.Source(c.frames)))
		if c.name == "iWARP" && said != "" {
			t.Errorf("iWARP: %s", said)
		}
		fmt.Fprintf(&b, "== %s\n%s", c.name, said)
	}
	golden(t, "capture.txt", b.String())
}

// TestKinds holds that each kind is explained.
func TestKinds(t *testing.T) {
	for _, k := range diagnose.Kinds() {
		if means, ok := diagnose.Explain(k); !ok || !strings.HasSuffix(means, ".") {
			t.Errorf("%s: %q", k, means)
		}
	}
}

// TestSummary_Live: who captures with this program need not be told how to capture.
func TestSummary_Live(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := diagnose.Summary{Live: live}
		s.Capture(&pipeline.Totals{}, new(pipeline.Others))
		if ds := s.List(); len(ds) != 1 || ds[0].Title != "empty" || strings.Contains(ds[0].Advice, "tcpdump -i") == live {
			t.Errorf("live %v: %+v", live, ds)
		}
	}
}

// TestSummary_Lost: what the capture says that it lost is told, whatever else it holds.
func TestSummary_Lost(t *testing.T) {
	for _, tt := range []struct {
		lost capture.Lost
		want string
	}{
		{capture.Lost{System: 41, Interface: 3}, "lost packets before they were written: 41 by the operating system and 3 by the interface."},
		{capture.Lost{Interface: 1}, "lost packets before they were written: 1 by the interface."},
		{capture.Lost{}, ""},
	} {
		for _, iwarp := range []uint64{0, 1} {
			said := ""
			for _, d := range diagnose.Capture(&pipeline.Totals{IWARP: iwarp, Frames: 9, Lost: tt.lost}, new(pipeline.Others)) {
				if d.Kind == diagnose.Missing {
					said = d.Text
				}
			}
			if !strings.Contains(said, tt.want) || (said == "") != (tt.want == "") {
				t.Errorf("%+v: %q", tt.lost, said)
			}
		}
	}
}

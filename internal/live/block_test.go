package live

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ringPacket is one packet of a hand-made block.
type ringPacket struct {
	data     []byte
	origLen  uint32 // 0: all of data
	status   uint32
	tci      uint16
	tpid     uint16
	hatype   uint16
	pkttype  byte
	protocol uint16
	mac      int // 0: behind the header and the reserved room
}

const (
	testSec  = 4_000_000_000 // beyond 2^31: seconds are unsigned
	testNsec = 123_456_789
)

// makeBlock lays packets out as the kernel does.
func makeBlock(size int, packets ...ringPacket) []byte {
	ne := binary.NativeEndian
	b := make([]byte, size)
	ne.PutUint32(b[blockStatusOff:], statusUser)
	ne.PutUint32(b[blockPacketsOff:], uint32(len(packets)))
	ne.PutUint32(b[blockFirstOff:], blockHdrLen)
	off := blockHdrLen
	for i, p := range packets {
		h := b[off:]
		mac := p.mac
		if mac == 0 {
			mac = pktHdrLen + headroom
		}
		next := (mac + len(p.data) + 15) &^ 15
		if i < len(packets)-1 {
			ne.PutUint32(h[pktNextOff:], uint32(next))
		}
		if p.origLen == 0 {
			p.origLen = uint32(len(p.data))
		}
		if p.hatype == 0 {
			p.hatype = 1
		}
		ne.PutUint32(h[pktSecOff:], testSec)
		ne.PutUint32(h[pktNsecOff:], testNsec+uint32(i))
		ne.PutUint32(h[pktSnapLenOff:], uint32(len(p.data)))
		ne.PutUint32(h[pktLenOff:], p.origLen)
		ne.PutUint32(h[pktStatusOff:], p.status)
		ne.PutUint16(h[pktMacOff:], uint16(mac))
		ne.PutUint32(h[pktTCIOff:], uint32(p.tci))
		ne.PutUint16(h[pktTPIDOff:], p.tpid)
		binary.BigEndian.PutUint16(h[addrProtocolOff:], p.protocol)
		ne.PutUint32(h[addrIfindexOff:], 7)
		ne.PutUint16(h[addrHatypeOff:], p.hatype)
		h[addrPkttypeOff] = p.pkttype
		h[addrHalenOff] = 6
		copy(h[addrAddrOff:], []byte{1, 2, 3, 4, 5, 6})
		copy(h[mac:], p.data)
		off += next
	}
	return b
}

// octets returns n octets that differ from each other and from those of other
// seeds.
func octets(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + seed*31 + i>>8)
	}
	return b
}

func walkAll(t *testing.T, w *walker, block []byte) []Packet {
	t.Helper()
	if err := w.reset(block); err != nil {
		t.Fatal(err)
	}
	var out []Packet
	var p Packet
	for {
		ok, err := w.next(&p)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		p.Data = bytes.Clone(p.Data)
		out = append(out, p)
	}
}

func TestWalkBlock(t *testing.T) {
	frame := octets(1, 100)
	tagged := func(tpid, tci uint16) []byte {
		b := bytes.Clone(frame[:12])
		b = binary.BigEndian.AppendUint16(b, tpid)
		b = binary.BigEndian.AppendUint16(b, tci)
		return append(b, frame[12:]...)
	}
	cooked := func(pkttype byte, head ...byte) []byte {
		b := []byte{0, pkttype, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}
		return append(append(b, head...), frame...)
	}
	tests := []struct {
		name string
		link uint16
		snap int
		in   ringPacket
		want []byte // nil: not delivered
		orig uint32
	}{
		{"plain", LinkEthernet, 1000, ringPacket{data: frame}, frame, 100},
		{"cut by the kernel", LinkEthernet, 1000, ringPacket{data: frame[:60], origLen: 1514}, frame[:60], 1514},
		{"cut here", LinkEthernet, 64, ringPacket{data: frame}, frame[:64], 100},
		{
			"tag with protocol", LinkEthernet, 1000,
			ringPacket{data: frame, status: statusVLANValid | statusTPIDValid, tci: 0xa123, tpid: 0x88a8},
			tagged(0x88a8, 0xa123), 104,
		},
		{
			"tag without protocol", LinkEthernet, 1000,
			ringPacket{data: frame, status: statusVLANValid, tci: 5, tpid: 0xffff},
			tagged(0x8100, 5), 104,
		},
		{
			"priority tag zero", LinkEthernet, 1000,
			ringPacket{data: frame, status: statusVLANValid | statusTPIDValid, tpid: 0x8100},
			tagged(0x8100, 0), 104,
		},
		{"tag not valid", LinkEthernet, 1000, ringPacket{data: frame, tci: 5, tpid: 0x8100}, frame, 100},
		{
			"tag cut away again", LinkEthernet, 50,
			ringPacket{data: frame[:50], origLen: 100, status: statusVLANValid, tci: 5},
			tagged(0x8100, 5)[:50], 104,
		},
		{
			"tag on a frame without addresses", LinkEthernet, 1000,
			ringPacket{data: frame[:11], origLen: 100, status: statusVLANValid, tci: 5},
			frame[:11], 100,
		},
		{"outgoing", LinkEthernet, 1000, ringPacket{data: frame, pkttype: pktOutgoing}, frame, 100},
		{"loopback incoming", LinkEthernet, 1000, ringPacket{data: frame, hatype: hatypeLoop}, frame, 100},
		{"loopback outgoing", LinkEthernet, 1000, ringPacket{data: frame, hatype: hatypeLoop, pkttype: pktOutgoing}, nil, 0},
		{"empty", LinkEthernet, 1000, ringPacket{data: []byte{}, origLen: 9}, []byte{}, 9},
		{"raw", LinkRaw, 1000, ringPacket{data: frame, hatype: 0xfffe, status: statusVLANValid}, frame, 100},
		{"cooked", LinkLinuxSLL, 1000, ringPacket{data: frame, protocol: 0x0800}, cooked(0, 8, 0), 116},
		{"cooked outgoing", LinkLinuxSLL, 1000, ringPacket{data: frame, protocol: 0x86dd, pkttype: 4}, cooked(4, 0x86, 0xdd), 116},
		{
			"cooked with tag", LinkLinuxSLL, 1000,
			ringPacket{data: frame, protocol: 0x0800, status: statusVLANValid | statusTPIDValid, tci: 0x0fff, tpid: 0x8100},
			cooked(0, 0x81, 0, 0x0f, 0xff, 8, 0), 120,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := walker{link: tt.link, snapLen: tt.snap}
			// A second packet shows that the first left its neighbour alone.
			second := ringPacket{data: octets(2, 77), pkttype: tt.in.pkttype &^ pktOutgoing}
			got := walkAll(t, &w, makeBlock(1024, tt.in, second))
			wantSecond := second.data[:min(len(second.data), tt.snap)] // behind its cooked header, if any
			if tt.want == nil {
				if len(got) != 1 {
					t.Fatalf("got %d packets, want the second only", len(got))
				}
				return
			}
			if len(got) != 2 {
				t.Fatalf("got %d packets, want 2", len(got))
			}
			want := Packet{
				Time: testSec*1e9 + testNsec, Data: tt.want, OrigLen: tt.orig, Interface: 7,
				Outgoing: tt.in.pkttype == pktOutgoing,
			}
			if d := cmp.Diff(want, got[0]); d != "" {
				t.Errorf("first packet (-want +got):\n%s", d)
			}
			if got[1].Time != want.Time+1 || !bytes.HasSuffix(got[1].Data, wantSecond) {
				t.Errorf("second packet damaged: %x", got[1].Data)
			}
		})
	}
}

func TestWalkBlock_Hostile(t *testing.T) {
	ne := binary.NativeEndian
	tests := []struct {
		name   string
		change func(b []byte)
		before int // packets delivered before the error
	}{
		{"first packet in the header", func(b []byte) { ne.PutUint32(b[blockFirstOff:], 16) }, 0},
		{"first packet outside", func(b []byte) { ne.PutUint32(b[blockFirstOff:], 0xfffffff0) }, 0},
		{"first packet cut", func(b []byte) { ne.PutUint32(b[blockFirstOff:], uint32(len(b)-pktHdrLen+1)) }, 0},
		{"frame in the header", func(b []byte) { ne.PutUint16(b[blockHdrLen+pktMacOff:], pktHdrLen-1) }, 0},
		{"frame outside", func(b []byte) { ne.PutUint16(b[blockHdrLen+pktMacOff:], 0xffff) }, 0},
		{"frame too long", func(b []byte) { ne.PutUint32(b[blockHdrLen+pktSnapLenOff:], 0xffffffff) }, 0},
		{"next is itself", func(b []byte) { ne.PutUint32(b[blockHdrLen+pktNextOff:], 0) }, 0},
		{"next outside", func(b []byte) { ne.PutUint32(b[blockHdrLen+pktNextOff:], 0x80000000) }, 0},
		{"more packets than there are", func(b []byte) { ne.PutUint32(b[blockPacketsOff:], 0xffffffff) }, 1},
		{"no room for a tag", func(b []byte) {
			ne.PutUint16(b[blockHdrLen+pktMacOff:], pktHdrLen+tagLen-1)
			ne.PutUint32(b[blockHdrLen+pktStatusOff:], statusVLANValid)
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := makeBlock(1024, ringPacket{data: octets(1, 60)}, ringPacket{data: octets(2, 60)})
			tt.change(b)
			w := walker{link: LinkEthernet, snapLen: 1000}
			err := w.reset(b)
			var p Packet
			n := 0
			for ok := true; err == nil && ok; {
				if ok, err = w.next(&p); ok {
					n++
				}
			}
			if err == nil || n != tt.before {
				t.Fatalf("error %v after %d packets, want one after %d", err, n, tt.before)
			}
			if ok, err := w.next(&p); ok || err != nil {
				t.Errorf("after the error: %v, %v; want the end of the block", ok, err)
			}
		})
	}
	var w walker
	if err := w.reset(make([]byte, blockHdrLen-1)); err == nil {
		t.Error("a block without a whole header was taken")
	}
}

// FuzzWalkBlock gives the walker blocks with arbitrary contents: it must end,
// within bounds, after at most as many packets as fit.
func FuzzWalkBlock(f *testing.F) {
	for _, link := range []uint16{LinkEthernet, LinkRaw, LinkLinuxSLL} {
		f.Add(link, makeBlock(512, ringPacket{data: octets(1, 60)}, ringPacket{data: octets(2, 20)}))
		f.Add(link, makeBlock(512, ringPacket{data: octets(1, 60), status: statusVLANValid, tci: 9},
			ringPacket{data: octets(2, 9), status: statusVLANValid, mac: pktHdrLen}))
		f.Add(link, makeBlock(300, ringPacket{data: octets(3, 80), hatype: hatypeLoop, pkttype: pktOutgoing}))
	}
	f.Add(LinkEthernet, []byte{})
	f.Fuzz(func(t *testing.T, link uint16, block []byte) {
		const snapLen = 128
		w := walker{link: link, snapLen: snapLen}
		if w.reset(block) != nil {
			return
		}
		var p Packet
		for n := 0; ; n++ {
			ok, err := w.next(&p)
			if err != nil || !ok {
				break
			}
			if n > len(block)/pktHdrLen {
				t.Fatalf("%d packets in a block of %d octets", n, len(block))
			}
			if len(p.Data) > snapLen || cap(p.Data) != len(p.Data) {
				t.Fatalf("packet of %d octets, capacity %d", len(p.Data), cap(p.Data))
			}
		}
		if ok, err := w.next(&p); ok || err != nil {
			t.Fatalf("after the end: %v, %v", ok, err)
		}
	})
}

func manyPackets(n, size int) []byte {
	packets := make([]ringPacket, n)
	for i := range packets {
		packets[i].data = octets(i, size)
		if i%4 == 0 {
			packets[i].status, packets[i].tci = statusVLANValid, 3
		}
	}
	return makeBlock(n*(size+256)+blockHdrLen, packets...)
}

func TestWalkBlock_Allocations(t *testing.T) {
	block := manyPackets(100, 200)
	w := walker{link: LinkEthernet, snapLen: DefaultSnapLen}
	var p Packet
	n := testing.AllocsPerRun(100, func() {
		if w.reset(block) != nil {
			t.Error("block refused")
		}
		for ok := true; ok; {
			ok, _ = w.next(&p)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a block, want 0", n)
	}
}

func BenchmarkWalkBlock(b *testing.B) {
	const packets = 300
	block := manyPackets(packets, 1460)
	w := walker{link: LinkEthernet, snapLen: DefaultSnapLen}
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		if err := w.reset(block); err != nil {
			b.Fatal(err)
		}
		for ok := true; ok; {
			ok, _ = w.next(&p)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/packets, "ns/packet")
}

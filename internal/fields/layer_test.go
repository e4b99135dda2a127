package fields

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Fields of the same name have one type and one width, wherever they stand.
func TestLayerFields_OneMeaning(t *testing.T) {
	seen := map[string]*Field{}
	for _, l := range AllLayers() {
		for i := range l.Rows {
			r := &l.Rows[i]
			if r.Name == "" {
				continue
			}
			if f := seen[r.Name]; f == nil {
				seen[r.Name] = r.Field
			} else if f.Type != r.Type || f.Hex != r.Hex || f.Type != Text && f.Type != Octets && f.Bits != r.Bits && !strings.HasPrefix(r.Name, "sll.") {
				t.Errorf("%s is %v of %d bits, and %v of %d", r.Name, f.Type, f.Bits, r.Type, r.Bits)
			}
			if r.Label == "" {
				t.Errorf("%s has no label", r.Name)
			}
		}
	}
}

func TestAppendShow(t *testing.T) {
	for _, c := range []struct {
		f            Field
		v            Value
		show, column string
	}{
		{Field{Type: Uint}, Value{Num: 7}, "7", "7"},
		{Field{Type: Uint, Hex: true, Bits: 4}, Value{Num: 7}, "0x07", "0x07"},
		{Field{Type: Uint, Hex: true, Bits: 24}, Value{Num: 7}, "0x000007", "0x000007"},
		{Field{Type: Uint, Hex: true, Bits: 64}, Value{Num: 1<<64 - 1}, "0xffffffffffffffff", "0xffffffffffffffff"},
		{Field{Type: Int}, signed(-2), "-2", "-2"},
		{Field{Type: Bool}, Value{Num: 1}, "1", "1"},
		{Field{Type: Duration}, signed(-1_500_000_001), "-1.500000001", "-1.500000001"},
		{Field{Type: Duration}, signed(-1 << 63), "-9223372036.854775808", "-9223372036.854775808"},
		{Field{Type: Time}, Value{Num: 1_767_225_600_000_050_000}, "Jan  1, 2026 00:00:00.000050000 UTC", "Jan  1, 2026 00:00:00.000050000 UTC"},
		{Field{Type: Octets}, Value{Bytes: []byte{1, 0xab}}, "01:ab", "01ab"},
		{Field{Type: Ether}, Value{Bytes: []byte{2, 0, 0, 0, 0, 1}}, "02:00:00:00:00:01", "02:00:00:00:00:01"},
		{Field{Type: IPv4}, Value{Bytes: []byte{10, 0, 0, 1}}, "10.0.0.1", "10.0.0.1"},
		{Field{Type: IPv6}, Value{Bytes: append([]byte{0xfd}, make([]byte, 15)...)}, "fd00::", "fd00::"},
		{Field{Type: Text}, Value{Bytes: []byte("a")}, "a", "a"},
		{Field{Type: None}, Value{}, "", "1"},
	} {
		if got := string(AppendShow(nil, &c.f, c.v)); got != c.show {
			t.Errorf("%v: shown as %q, want %q", c.f.Type, got, c.show)
		}
		if got := string(AppendColumn(nil, &c.f, c.v)); got != c.column {
			t.Errorf("%v: column %q, want %q", c.f.Type, got, c.column)
		}
	}
}

// The table of connections keeps the latest, and forgets the oldest half when it is full.
func TestTCPFlows_Bounded(t *testing.T) {
	var flows tcpFlows
	first := flows.of(0)
	if flows.of(0) != first {
		t.Error("a connection has one state")
	}
	for n := range uint64(3 * maxFlows) {
		flows.of(n)
		if len(flows.flows) > maxFlows {
			t.Fatalf("%d connections are kept", len(flows.flows))
		}
	}
	if flows.of(0) != nil {
		t.Error("the oldest connection is kept")
	}
	if last := uint64(3*maxFlows - 1); flows.of(last) == nil {
		t.Error("the latest connection is forgotten")
	}
	if flows.of(1<<40) == nil || len(flows.flows) > maxFlows {
		t.Error("a number far ahead is taken, with bounded memory")
	}
}

// Whatever the octets, every value can be found and shown.
func FuzzLayers(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/pcaps/*.pcap")
	for _, path := range files {
		src, err := capture.Open(path, nil)
		if err != nil {
			f.Fatal(err)
		}
		var fr capture.Frame
		for range 6 {
			if src.Next(&fr) != nil {
				break
			}
			f.Add(uint16(fr.Link), fr.Data, fr.OrigLen)
		}
		src.Close()
	}
	for _, b := range []packet.Build{{Link: packet.LinkLinuxSLL2}, {Link: packet.LinkNull}, {Link: packet.LinkRaw}} {
		f.Add(b.Link, []byte{0x45, 0, 0, 40}, uint32(40))
	}
	f.Fuzz(func(_ *testing.T, link uint16, data []byte, length uint32) {
		plan := NewLayerPlan(LayerFields())
		plan.Interfaces = func() []pcapng.Interface { return nil }
		c := &columns{plan: plan, list: LayerFields()}
		run := pipeline.New(pipeline.Options{}, c)
		for n := range uint64(2) {
			run.Frame(&capture.Frame{Data: data, OrigLen: max(length, uint32(len(data))), Link: pcapng.LinkType(link), Number: n + 1, Comments: []string{"x"}})
		}
	})
}

// BenchmarkLayerPlan fills the columns that people ask for most, and all there are.
func BenchmarkLayerPlan(b *testing.B) {
	for _, c := range []struct {
		name  string
		names []string
	}{
		{"few", []string{"frame.number", "ip.src", "tcp.len"}},
		{"following", []string{"frame.number", "tcp.seq", "tcp.analysis.retransmission"}},
		{"all", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			list := LayerFields()
			if c.names != nil {
				list = nil
				for _, n := range c.names {
					list = append(list, LayerField(n))
				}
			}
			k := &filler{plan: NewLayerPlan(list), row: NewRow(len(list)), n: b.N}
			b.ReportAllocs()
			for k.n > 0 {
				src, err := capture.Open("../../testdata/pcaps/rping-rev2-crc.pcap", nil)
				if err != nil {
					b.Fatal(err)
				}
				k.b = b
				if err := pipeline.New(pipeline.Options{}, k).Read(src); err != nil {
					b.Fatal(err)
				}
				src.Close()
			}
		})
	}
}

// filler fills a row again and again with the same frame.
type filler struct {
	columns
	plan *LayerPlan
	row  *Row
	n    int
	b    *testing.B
}

func (k *filler) PDU(*trace.PDU) {}

func (k *filler) Frame(f *pipeline.Frame) {
	if f.Packet == nil || f.Packet.PayloadLen == 0 || k.n <= 0 {
		return
	}
	k.b.ResetTimer()
	for ; k.n > 0; k.n-- {
		k.row.Reset()
		k.plan.Open(f)
		k.plan.Fill(k.row, Early)
		k.plan.Fill(k.row, Late)
	}
}

// A capture of one direction has no acknowledgements: what is remembered of the segments of
// many connections stays bounded, and is given back with connections that are forgotten.
func TestLayers_SentBound(t *testing.T) {
	conn, p := &trace.Connection{}, &packet.Packet{Proto: packet.ProtoTCP, PayloadLen: 1}
	l := NewLayers(true)
	l.f = &pipeline.Frame{Packet: p, Status: packet.OK, Conn: conn}
	const connections = uint64(maxAllSent/maxSent + 10)
	for conn.Number = range connections {
		for p.Seq = range uint32(maxSent) {
			l.f.Number++
			l.track()
		}
	}
	sum := func() (n int) {
		for _, c := range l.flows.flows {
			n += c.remembered()
		}
		return n
	}
	if n := sum(); n != maxAllSent || l.flows.sent != n {
		t.Errorf("%d segments are remembered, counted as %d, of at most %d", n, l.flows.sent, maxAllSent)
	}
	l.flows.drop(100)
	if n := sum(); n != maxAllSent-100*maxSent || l.flows.sent != n {
		t.Errorf("%d segments are remembered without the first connections, counted as %d", n, l.flows.sent)
	}
}

package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Ten packets pass, one every 100 ns, from the sides in turn.
func TestTap_LeavesOut(t *testing.T) {
	for _, c := range []struct {
		name    string
		capture Capture
		want    []int
	}{
		{"nothing", Capture{}, upTo(10)},
		{"skip", Capture{Skip: 3}, []int{3, 4, 5, 6, 7, 8, 9}},
		{"skip all", Capture{Skip: 10}, nil},
		{"start", Capture{Start: 300}, []int{3, 4, 5, 6, 7, 8, 9}},
		{"stop", Capture{Stop: 300}, []int{0, 1, 2}},
		{"start and stop", Capture{Start: 250, Stop: 600}, []int{3, 4, 5}},
		{"only client", Capture{Only: FromClient}, []int{0, 2, 4, 6, 8}},
		{"only server", Capture{Only: FromServer}, []int{1, 3, 5, 7, 9}},
		{"missing", Capture{Missing: []int{9, 1, 3}}, []int{1, 3, 4, 5, 6, 7, 9}},
		{"missing counts what is skipped", Capture{Skip: 2, Missing: []int{2, 4}}, []int{2, 4, 5, 6, 7, 8, 9}},
		{"missing counts the other side", Capture{Only: FromClient, Missing: []int{3}}, []int{0, 4, 6, 8}},
		{"drop all", Capture{Drop: 1}, nil},
	} {
		for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
			t.Run(c.name+"/"+format.String(), func(t *testing.T) {
				c.capture.Format, c.capture.Link = format, packet.LinkEthernet
				w := newWorld(t, Config{}, c.capture)
				for n := range 10 {
					w.send(int64(n)*100, n, Packet{Side: n % 2, Build: build(n, 10)})
				}
				if d := cmp.Diff(c.want, seqs(w.run(t))); d != "" {
					t.Error("captured:", d)
				}
				if d := cmp.Diff(upTo(10), w.arrived); d != "" {
					t.Error("arrived:", d)
				}
			})
		}
	}
}

func TestTap_Drop(t *testing.T) {
	capture := func(seed uint64) []int {
		c := usual()
		c.Drop, c.Seed = 0.2, seed
		w := newWorld(t, Config{}, c)
		w.sendAll(2000, 10)
		seen := seqs(w.run(t))
		if d := cmp.Diff(upTo(2000), w.arrived); d != "" {
			t.Error("arrived:", d)
		}
		return seen
	}
	first := capture(1)
	if !share(2000 - len(first)) {
		t.Errorf("%d of 2000 dropped", 2000-len(first))
	}
	if !slices.Equal(first, capture(1)) || slices.Equal(first, capture(2)) {
		t.Error("what is dropped does not follow the seed")
	}
}

func TestTap_Snaplen(t *testing.T) {
	for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
		w := newWorld(t, Config{}, Capture{Format: format, Link: packet.LinkEthernet, Snaplen: 80})
		w.send(0, 0, Packet{Build: build(0, 26)})
		w.send(1, 1, Packet{Build: build(1, 27)})
		w.send(2, 2, Packet{Build: build(2, 1448)})
		frames := w.run(t)
		for i, want := range []struct{ captured, wire int }{{80, 80}, {80, 81}, {80, 1502}} {
			if r := frames[i].rec; len(r.Data) != want.captured || int(r.OrigLen) != want.wire {
				t.Errorf("%v: %d of %d octets instead of %d of %d", format, len(r.Data), r.OrigLen, want.captured, want.wire)
			}
		}
		if _, ifaces := read(t, w.file.Bytes()); ifaces[0].SnapLen != 80 {
			t.Errorf("%v: the file gives a snaplen of %d", format, ifaces[0].SnapLen)
		}
		if w.tap.Octets() != 240 {
			t.Errorf("%v: %d octets counted", format, w.tap.Octets())
		}
	}
}

func TestTap_Resolution(t *testing.T) {
	const epoch = 1_790_000_000_123_456_789
	for _, c := range []struct {
		name   string
		format pcapng.Format
		micro  bool
		want   int64
	}{
		{"pcap of nanoseconds", pcapng.PCAP, false, epoch + 1111},
		{"pcap of microseconds", pcapng.PCAP, true, (epoch + 1111) / 1000 * 1000},
		{"pcapng", pcapng.PCAPNG, false, epoch + 1111},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Config{}, Capture{Format: c.format, Link: packet.LinkEthernet, Micro: c.micro, Epoch: epoch})
			w.send(1111, 0, Packet{Build: build(0, 1)})
			if d := cmp.Diff([]int64{c.want}, times(w.run(t))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTap_ClockSteps(t *testing.T) {
	for _, c := range []struct {
		name  string
		epoch int64
		steps []Step
		want  []int64
	}{
		{"none", 5000, nil, []int64{5000, 5100, 5200, 5300}},
		{"forward", 5000, []Step{{200, 50}}, []int64{5000, 5100, 5250, 5350}},
		{"back", 5000, []Step{{150, -1000}}, []int64{5000, 5100, 4200, 4300}},
		{"several in no order", 5000, []Step{{300, 7}, {100, 1}}, []int64{5000, 5101, 5201, 5308}},
		{"before 1970", 0, []Step{{100, -150}}, []int64{0, 0, 50, 150}},
		{"beyond all time", math.MaxInt64, nil, []int64{math.MaxInt64, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := usual()
			p.Epoch, p.Steps = c.epoch, c.steps
			w := newWorld(t, Config{}, p)
			w.sendAll(4, 100)
			if d := cmp.Diff(c.want, times(w.run(t))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTap_PerSide(t *testing.T) {
	for _, c := range []struct {
		name   string
		merge  bool
		seqs   []int
		stamps []int64
	}{
		{"as they pass", false, []int{0, 1, 2, 3}, []int64{1000, 850, 1200, 1050}},
		{"merged", true, []int{1, 0, 3, 2}, []int64{850, 1000, 1050, 1200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := usual()
			p.Epoch, p.PerSide, p.ClockOffset, p.Merge = 1000, true, -250, c.merge
			w := newWorld(t, Config{}, p)
			for n := range 4 {
				w.send(int64(n)*100, n, Packet{Side: n % 2, Build: build(n, 10)})
			}
			frames := w.run(t)
			if d := cmp.Diff(c.seqs, seqs(frames)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.stamps, times(frames)); d != "" {
				t.Error(d)
			}
			for _, f := range frames {
				if f.rec.Interface != int(f.packet.Seq)%2 {
					t.Errorf("packet %d on interface %d", f.packet.Seq, f.rec.Interface)
				}
			}
			if _, i := read(t, w.file.Bytes()); len(i) != 2 || i[0].Name != "client" || i[1].Name != "server" {
				t.Errorf("interfaces %+v", i)
			}
		})
	}
}

// Frames of one stamp stay as they passed, and those that come late by less
// than the window find their place, however many frames there are.
func TestTap_MergeSortsAll(t *testing.T) {
	const count = 5 * mergeWindow
	p := usual()
	p.Epoch, p.PerSide, p.ClockOffset, p.Merge = 1e9, true, -10*(mergeWindow-1), true
	w := newWorld(t, Config{}, p)
	for n := range count {
		w.send(int64(n/2)*10, n, Packet{Side: n % 2, Build: build(n, 0)})
	}
	frames := w.run(t)
	if len(frames) != count || !slices.IsSorted(times(frames)) {
		t.Fatalf("%d of %d frames, sorted: %v", len(frames), count, slices.IsSorted(times(frames)))
	}
	for i := 1; i < count; i++ {
		a, b := &frames[i-1], &frames[i]
		if a.rec.Time == b.rec.Time && a.rec.Interface == b.rec.Interface && a.packet.Seq > b.packet.Seq {
			t.Fatalf("packet %d before %d", a.packet.Seq, b.packet.Seq)
		}
	}
}

func TestTap_OneInterfaceHasAName(t *testing.T) {
	w := newWorld(t, Config{}, usual())
	w.run(t)
	if _, i := read(t, w.file.Bytes()); len(i) != 1 || i[0].Name == "" {
		t.Errorf("interfaces %+v", i)
	}
}

func TestNewTap_PerSideNeedsPcapng(t *testing.T) {
	if _, err := NewTap(&bytes.Buffer{}, Capture{Format: pcapng.PCAP, PerSide: true}); err == nil {
		t.Error("no error")
	}
}

func TestTap_Comment(t *testing.T) {
	const comment = "what this capture shows"
	for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
		w := newWorld(t, Config{}, Capture{Format: format, Link: packet.LinkEthernet, Comment: comment})
		w.sendAll(1, 0)
		w.run(t)
		if has := bytes.Contains(w.file.Bytes(), []byte(comment)); has != (format == pcapng.PCAPNG) {
			t.Errorf("%v has the comment: %v", format, has)
		}
	}
}

func TestTap_Offload(t *testing.T) {
	for _, build := range []func(n, size int) *packet.Build{build, build6} {
		c := usual()
		c.Offload[Client] = true
		w := newWorld(t, Config{}, c)
		for n := range 2 {
			b := build(n, 65500*(1-n)+1)
			b.Options = packet.AppendTimestamps(nil, 1, 2)
			w.send(int64(n), n, Packet{Side: n, Build: b})
		}
		frames := w.run(t)
		f := &frames[0]
		if f.checksum != packet.ChecksumUnfilled || frames[1].checksum != packet.ChecksumOK {
			t.Errorf("checksums: client %v, server %v", f.checksum, frames[1].checksum)
		}
		if got, want := binary.BigEndian.Uint16(f.packet.Segment[16:]), pseudoSum(&f.packet); got != want {
			t.Errorf("checksum field %#04x instead of %#04x", got, want)
		}
	}
}

// pseudoSum is the sum over the pseudo header, word by word (RFC 9293 section
// 3.1, RFC 8200 section 8.1).
func pseudoSum(p *packet.Packet) uint16 {
	var words []byte
	if p.V6 {
		words = append(append(words, p.Src[:]...), p.Dst[:]...)
	} else {
		words = append(append(words, p.Src[12:]...), p.Dst[12:]...)
	}
	words = binary.BigEndian.AppendUint32(words, uint32(p.SegmentLen))
	words = append(words, 0, 0, 0, 6)
	s := 0
	for i := 0; i < len(words); i += 2 {
		s += int(words[i])<<8 | int(words[i+1])
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// A segment before segmentation offload is larger than an IP packet can be.
func TestTap_LargeSegments(t *testing.T) {
	for _, build := range []func(n, size int) *packet.Build{build, build6} {
		w := newWorld(t, Config{}, usual())
		w.send(0, 0, Packet{Build: build(0, 65000)})
		w.send(1, 1, Packet{Build: build(1, 65536)})
		for i, f := range w.run(t) {
			fits := f.packet.Notes&packet.NoteLengthFromFrame == 0
			if f.status != packet.OK || f.checksum != packet.ChecksumOK || fits != (i == 0) || f.packet.PayloadLen != 65000+i*536 {
				t.Errorf("packet %d: %v, checksum %v, %d octets, length fits: %v", i, f.status, f.checksum, f.packet.PayloadLen, fits)
			}
		}
	}
}

var errFull = errors.New("disk is full")

// full is a writer that takes so many octets.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestTap_ErrorOfWriting(t *testing.T) {
	for _, c := range []struct {
		name  string
		room  int
		count int
	}{
		{"at the end", 0, 5},
		{"in the middle", 300_000, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			tap, err := NewTap(&full{c.room}, usual())
			if err != nil {
				t.Fatal(err)
			}
			w := &world{tap: tap}
			w.link = New(&w.queue, Config{}, tap)
			w.sendAll(c.count, 1)
			for w.queue.Step() {
			}
			for range 2 {
				if err := tap.Close(); !errors.Is(err, errFull) {
					t.Errorf("Close: %v", err)
				}
			}
			if d := cmp.Diff(upTo(c.count), w.arrived); d != "" {
				t.Error("arrived:", d)
			}
			if c.room > 0 && !tap.Failed() {
				t.Error("nobody was told of it")
			}
		})
	}
}

// BenchmarkTap_See renders and writes full segments over Ethernet.
func BenchmarkTap_See(b *testing.B) {
	const size = 1448
	for _, offload := range []bool{false, true} {
		name := map[bool]string{false: "checksum", true: "offload"}[offload]
		b.Run(name, func(b *testing.B) {
			c := usual()
			c.Offload[Client] = offload
			tap, err := NewTap(io.Discard, c)
			if err != nil {
				b.Fatal(err)
			}
			p := Packet{Build: build(1, size)}
			p.Own = own(p.Build)
			b.SetBytes(size)
			b.ReportAllocs()
			now := int64(0)
			for b.Loop() {
				tap.see(now, &p)
				now += 1000
			}
			if err := tap.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

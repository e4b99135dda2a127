package link

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

func TestLink_DelayOfBothLines(t *testing.T) {
	w := newWorld(t, Config{Before: both(Line{Delay: 10}), After: both(Line{Delay: 7})}, usual())
	w.sendAll(3, 100)
	frames := w.run(t)
	if d := cmp.Diff([]int64{10, 110, 210}, times(frames)); d != "" {
		t.Error("captured:", d)
	}
	if d := cmp.Diff([]int64{17, 117, 217}, w.times); d != "" {
		t.Error("arrived:", d)
	}
}

// Frames of 154 octets at 1 Gbit/s take 1232 ns each, however they are sent.
func TestLink_RateSpacesPackets(t *testing.T) {
	for _, c := range []struct {
		name  string
		every int64
		want  []int64
	}{
		{"back to back", 0, []int64{1232, 2464, 3696, 4928}},
		{"faster than the line", 1000, []int64{1232, 2464, 3696, 4928}},
		{"slower than the line", 2000, []int64{1232, 3232, 5232, 7232}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Config{Before: both(Line{Rate: 1e9})}, usual())
			w.sendAll(4, c.every)
			if d := cmp.Diff(c.want, times(w.run(t))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLink_RateCountsLostPackets(t *testing.T) {
	w := newWorld(t, Config{Before: both(Line{Rate: 1e9})}, usual())
	w.send(0, 0, Packet{Build: build(0, 100), Orders: Orders{LoseBefore: true}})
	w.send(0, 1, Packet{Build: build(1, 100)})
	if d := cmp.Diff([]int64{2464}, times(w.run(t))); d != "" {
		t.Error(d)
	}
}

func TestLink_DirectionsAreApart(t *testing.T) {
	w := newWorld(t, Config{Before: [2]Line{{Rate: 1e9, Delay: 5}, {Delay: 3}}}, usual())
	w.send(0, 0, Packet{Side: Client, Build: build(0, 100)})
	w.send(0, 1, Packet{Side: Server, Build: build(1, 100)})
	frames := w.run(t)
	if d := cmp.Diff([]int{1, 0}, seqs(frames)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{3, 1237}, times(frames)); d != "" {
		t.Error(d)
	}
}

func TestLink_JitterKeepsOrder(t *testing.T) {
	l := both(Line{Delay: 10, Jitter: 5000})
	w := newWorld(t, Config{Before: l, After: l, Seed: 4}, usual())
	w.sendAll(500, 10)
	frames := w.run(t)
	if d := cmp.Diff(upTo(500), seqs(frames)); d != "" {
		t.Error("captured:", d)
	}
	if d := cmp.Diff(upTo(500), w.arrived); d != "" {
		t.Error("arrived:", d)
	}
	for i, at := range times(frames) {
		if early, late := int64(10*i+10), int64(10*i+5010); at < early || at > late {
			t.Fatalf("packet %d passes at %d, not from %d to %d", i, at, early, late)
		}
	}
	steady := 0
	for i, at := range w.times {
		if at == int64(10*i+20) {
			steady++
		}
	}
	if steady > 50 {
		t.Errorf("%d of 500 packets have no jitter", steady)
	}
}

func TestLink_Orders(t *testing.T) {
	for _, c := range []struct {
		name          string
		orders        Orders
		seen, arrived []int
	}{
		{"none", Orders{}, []int{0, 1, 2}, []int{0, 1, 2}},
		{"lost before", Orders{LoseBefore: true}, []int{0, 2}, []int{0, 2}},
		{"lost after", Orders{LoseAfter: true}, []int{0, 1, 2}, []int{0, 2}},
		{"copies", Orders{Copies: 2}, []int{0, 1, 1, 1, 2}, []int{0, 1, 1, 1, 2}},
		{"the original of two lost before", Orders{Copies: 1, LoseBefore: true}, []int{0, 1, 2}, []int{0, 1, 2}},
		{"copies lost after", Orders{Copies: 1, LoseAfter: true}, []int{0, 1, 1, 2}, []int{0, 2}},
		{"delayed", Orders{Delay: 1000}, []int{0, 2, 1}, []int{0, 2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Config{}, usual())
			for n := range 3 {
				p := Packet{Build: build(n, 100)}
				if n == 1 {
					p.Orders = c.orders
				}
				w.send(int64(n)*100, n, p)
			}
			if d := cmp.Diff(c.seen, seqs(w.run(t))); d != "" {
				t.Error("captured:", d)
			}
			if d := cmp.Diff(c.arrived, w.arrived); d != "" {
				t.Error("arrived:", d)
			}
		})
	}
}

// share says whether n of 2000 is about a share of 0.2.
func share(n int) bool { return n > 320 && n < 480 }

func TestLink_LossBeforeIsNotSeen(t *testing.T) {
	w := newWorld(t, Config{Before: both(Line{Loss: 0.2})}, usual())
	w.sendAll(2000, 10)
	seen := seqs(w.run(t))
	if !share(2000 - len(seen)) {
		t.Errorf("%d of 2000 lost", 2000-len(seen))
	}
	if d := cmp.Diff(seen, w.arrived); d != "" {
		t.Error("seen and arrived:", d)
	}
}

func TestLink_LossAfterIsSeen(t *testing.T) {
	w := newWorld(t, Config{After: both(Line{Loss: 0.2})}, usual())
	w.sendAll(2000, 10)
	if d := cmp.Diff(upTo(2000), seqs(w.run(t))); d != "" {
		t.Error(d)
	}
	if !share(2000 - len(w.arrived)) {
		t.Errorf("%d of 2000 lost", 2000-len(w.arrived))
	}
}

func TestLink_Duplicate(t *testing.T) {
	w := newWorld(t, Config{Before: both(Line{Duplicate: 0.2})}, usual())
	w.sendAll(2000, 10)
	seen := seqs(w.run(t))
	if !share(len(seen) - 2000) {
		t.Errorf("%d of 2000 twice", len(seen)-2000)
	}
	if d := cmp.Diff(upTo(2000), slices.Compact(slices.Clone(seen))); d != "" {
		t.Error("a copy is not behind its original:", d)
	}
	if d := cmp.Diff(seen, w.arrived); d != "" {
		t.Error("seen and arrived:", d)
	}
}

func TestLink_Reorder(t *testing.T) {
	w := newWorld(t, Config{Before: both(Line{Delay: 5, Reorder: 0.2, ReorderBy: 25})}, usual())
	w.sendAll(2000, 10)
	frames := w.run(t)
	late := 0
	for i := range frames {
		n, at := int64(frames[i].packet.Seq), frames[i].rec.Time
		switch at - 10*n {
		case 5:
		case 30:
			late++
		default:
			t.Fatalf("packet %d at %d", n, at)
		}
	}
	if !share(late) || len(frames) != 2000 {
		t.Errorf("%d of %d late", late, len(frames))
	}
}

func TestLink_SafeFromChance(t *testing.T) {
	l := both(Line{Loss: 1, Duplicate: 1, Reorder: 1, ReorderBy: 1e6})
	w := newWorld(t, Config{Before: l, After: l}, usual())
	for n := range 10 {
		w.send(int64(n), n, Packet{Build: build(n, 1), Orders: Orders{Safe: n != 3}})
	}
	want := []int{0, 1, 2, 4, 5, 6, 7, 8, 9}
	if d := cmp.Diff(want, seqs(w.run(t))); d != "" {
		t.Error("captured:", d)
	}
	if d := cmp.Diff(want, w.arrived); d != "" {
		t.Error("arrived:", d)
	}
}

func TestLink_WithoutCapturePoint(t *testing.T) {
	w := &world{}
	w.link = New(&w.queue, Config{Fragment: 100}, nil)
	w.sendAll(5, 10)
	w.send(60, 5, Packet{Build: build(5, 1), Orders: Orders{BadChecksum: true}})
	w.queue.At(70, func() { w.link.Send(&Packet{Build: build(6, 1)}) }) // nobody waits for it
	for w.queue.Step() {
	}
	if d := cmp.Diff(upTo(6), w.arrived); d != "" {
		t.Error(d)
	}
}

// Each side counts its packets, as hosts do; one given by the Build stays.
func TestLink_Identification(t *testing.T) {
	w := newWorld(t, Config{}, usual())
	for n, side := range []int{Client, Client, Server, Client, Server} {
		b := build(n, 10)
		if n == 3 {
			b.ID = 0x1234
		}
		w.send(int64(n), n, Packet{Side: side, Build: b})
	}
	var ids []int
	for _, f := range w.run(t) {
		ids = append(ids, int(f.rec.Data[14+4])<<8|int(f.rec.Data[14+5]))
	}
	if d := cmp.Diff([]int{1, 2, 1, 0x1234, 2}, ids); d != "" {
		t.Error(d)
	}
}

func TestLink_NumbersAtTheirEdges(t *testing.T) {
	for _, l := range []Line{
		{Jitter: math.MaxInt64},
		{Jitter: math.MinInt64},
		{Delay: math.MinInt64, Rate: -1},
		{Rate: 1, ReorderBy: math.MaxInt64, Reorder: 1},
		{Loss: math.NaN(), Duplicate: -1, Reorder: math.Inf(1)},
	} {
		w := newWorld(t, Config{Before: both(l), After: both(l)}, usual())
		w.sendAll(5, 10)
		w.send(60, 5, Packet{Build: build(5, 65000), Orders: Orders{Copies: -1, Delay: math.MinInt64}})
		for w.queue.Step() {
		}
		if err := w.tap.Close(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
		if len(w.times) > 0 && (w.times[0] < 0 || !slices.IsSorted(w.times)) {
			t.Errorf("%+v: time runs backwards: %v", l, w.times)
		}
	}
}

// chancy is a link on which everything happens, and a capture that leaves out.
func chancy(t *testing.T, seed uint64, change func(*Config)) []byte {
	t.Helper()
	l := both(Line{Delay: 1000, Jitter: 500, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, ReorderBy: 2000})
	cfg := Config{Before: l, After: l, Seed: seed}
	change(&cfg)
	c := usual()
	c.Drop, c.Seed = 0.1, seed
	w := newWorld(t, cfg, c)
	for n := range 3000 { // several batches of the capture point
		w.send(int64(100*n), n, Packet{Side: n % 2, Build: build(n, n%300)})
	}
	w.run(t)
	return w.file.Bytes()
}

func TestLink_SameSeedSameOctets(t *testing.T) {
	same := func(*Config) {}
	first := chancy(t, 1, same)
	if !bytes.Equal(first, chancy(t, 1, same)) {
		t.Error("the same seed gives other octets")
	}
	if bytes.Equal(first, chancy(t, 2, same)) {
		t.Error("another seed gives the same octets")
	}
}

// What chance does on one line is the same whatever it does on another one.
func TestLink_LinesHaveChancesOfTheirOwn(t *testing.T) {
	stamps := func(loss float64) (client []int64) {
		l := Line{Jitter: 1000, Loss: 0.2}
		w := newWorld(t, Config{Before: [2]Line{l, {Jitter: 10, Loss: loss}}, After: both(Line{Loss: loss})}, usual())
		for n := range 200 {
			b := build(n, 10)
			b.SrcPort = uint16(n % 2)
			w.send(int64(n)*50, n, Packet{Side: n % 2, Build: b})
		}
		for _, f := range w.run(t) {
			if f.packet.SrcPort == Client {
				client = append(client, int64(f.packet.Seq), f.rec.Time)
			}
		}
		return client
	}
	if d := cmp.Diff(stamps(0), stamps(0.5)); d != "" {
		t.Error(d)
	}
}

func TestLink_ChecksumsAreGood(t *testing.T) {
	for _, link := range []uint16{
		packet.LinkEthernet, packet.LinkRaw, packet.LinkNull, packet.LinkLoop, packet.LinkLinuxSLL, packet.LinkLinuxSLL2,
	} {
		for _, fragment := range []int{0, 600} {
			c := Capture{Format: pcapng.PCAP, Link: link}
			l := both(Line{Delay: 10, Jitter: 100, Duplicate: 0.2, Reorder: 0.2, ReorderBy: 500})
			w := newWorld(t, Config{Before: l, After: l, Fragment: fragment}, c)
			for n := range 60 {
				b := build(n, 31*n)
				if n%2 == 1 {
					b = build6(n, 31*n)
				}
				b.Link = link
				b.Options = packet.AppendTimestamps(nil, uint32(n), 1)[:n%11]
				w.send(int64(n)*10, n, Packet{Build: b})
			}
			whole := map[uint32]bool{}
			for i, f := range w.run(t) {
				switch f.status {
				case packet.Fragment:
				case packet.OK:
					if whole[f.packet.Seq] = true; f.checksum != packet.ChecksumOK {
						t.Errorf("link %d, fragment %d, frame %d: checksum %v", link, fragment, i+1, f.checksum)
					}
				default:
					t.Errorf("link %d, fragment %d, frame %d: %v", link, fragment, i+1, f.status)
				}
			}
			if len(whole) != 60 {
				t.Errorf("link %d, fragment %d: %d of 60 packets", link, fragment, len(whole))
			}
		}
	}
}

// TestLink_Down: a line that is down loses all that enters it then, and nothing else.
func TestLink_Down(t *testing.T) {
	w := newWorld(t, Config{Before: both(Line{Delay: 10}), After: both(Line{Down: []Span{{At: 20, For: 20}}})}, usual())
	w.sendAll(5, 10)
	if frames := w.run(t); len(frames) != 5 {
		t.Errorf("%d frames were captured", len(frames))
	}
	if d := cmp.Diff([]int{0, 3, 4}, w.arrived); d != "" {
		t.Error("arrived:", d)
	}
}

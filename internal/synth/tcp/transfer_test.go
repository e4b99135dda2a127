package tcp_test

import (
	"bytes"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// channel connects two sockets and has its own time.
type channel struct {
	socks [2]*tcp.Socket
	rnd   *rand.Rand
	// loss, twice and late are shares of segments.
	loss, twice, late float64
	now               int64
	under             flights
	order             int
	got               [2][]byte
	// seen is told of every segment that is sent.
	seen func(side int, g tcp.Segment)
	sent int
}

type flight struct {
	at    int64
	order int
	to    int
	g     tcp.Segment
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].order < f[j].order
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

func connect(a, b tcp.Config) *channel {
	a.Active = true
	c := &channel{socks: [2]*tcp.Socket{tcp.New(a), tcp.New(b)}, rnd: rand.New(rand.NewPCG(1, 1))}
	return c
}

const delay = 100_000

func (c *channel) chance(p float64) bool { return p > 0 && c.rnd.Float64() < p }

// pump sends what the sockets want to send.
func (c *channel) pump() {
	for side, s := range c.socks {
		for b := s.Read(); b != nil; b = s.Read() {
			c.got[side] = append(c.got[side], b...)
		}
		for {
			g, ok := s.Next(c.now)
			if !ok {
				break
			}
			c.sent++
			if c.seen != nil {
				c.seen(side, g)
			}
			if c.chance(c.loss) {
				continue
			}
			copies := 1
			if c.chance(c.twice) {
				copies = 2
			}
			for range copies {
				at := c.now + delay
				if c.chance(c.late) {
					at += delay + c.rnd.Int64N(5*delay)
				}
				c.order++
				heap.Push(&c.under, flight{at, c.order, 1 - side, g})
			}
		}
	}
}

// step lets the next thing happen, and reports whether there was one.
func (c *channel) step() bool {
	c.pump()
	next, timer := int64(-1), -1
	for side, s := range c.socks {
		if at, ok := s.Timer(); ok && (next < 0 || at < next) {
			next, timer = at, side
		}
	}
	if len(c.under) > 0 && (next < 0 || c.under[0].at <= next) {
		f := heap.Pop(&c.under).(flight)
		c.now = max(c.now, f.at)
		c.socks[f.to].Receive(c.now, &f.g)
		c.pump()
		return true
	}
	if next < 0 {
		return false
	}
	c.now = max(c.now, next)
	c.socks[timer].Tick(c.now)
	c.pump()
	return true
}

// run goes on until nothing more happens.
func (c *channel) run(t *testing.T) {
	t.Helper()
	for range 200_000 {
		if !c.step() {
			return
		}
	}
	t.Fatal("it does not end")
}

func (c *channel) open(t *testing.T) {
	t.Helper()
	c.socks[1].Open(c.now)
	c.socks[0].Open(c.now)
	for range 1000 {
		if c.socks[0].Established() && c.socks[1].Established() {
			return
		}
		if !c.step() {
			break
		}
	}
	t.Fatal("it does not open")
}

func usual() tcp.Config {
	return tcp.Config{ISN: 1000, MSS: 1460, Window: 1 << 20, Scale: true, WindowScale: 7, SACK: true, RTO: 200_000_000, Retries: 15}
}

// TestSocket_Transfer sends both ways through a line that loses, repeats and
// reorders: the streams arrive octet for octet and both ends are closed.
func TestSocket_Transfer(t *testing.T) {
	for seed := range uint64(1500) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var cfg [2]tcp.Config
		for side := range cfg {
			cfg[side] = tcp.Config{
				ISN: []uint32{0, 0xffffff00, rnd.Uint32()}[rnd.IntN(3)], MSS: []int{88, 536, 1460, 8960}[rnd.IntN(4)],
				Window: 1 << (16 + rnd.IntN(5)), Scale: rnd.IntN(3) > 0, WindowScale: 7,
				Timestamps: rnd.IntN(2) == 0, SACK: rnd.IntN(2) == 0, Packing: tcp.Packing(rnd.IntN(3)),
				DelayedAck: []int64{0, 40_000_000}[rnd.IntN(2)], RTO: 200_000_000, Retries: 15, Inflight: []int{0, 3000}[rnd.IntN(2)],
			}
			if rnd.IntN(5) == 0 {
				cfg[side].MaxSegment = 65000
			}
			if seed%2 == 0 {
				cfg[side].Done = func(b []byte) { clear(b) } // nobody looks at it any more
			}
		}
		c := connect(cfg[0], cfg[1])
		c.rnd = rnd
		if rnd.IntN(3) > 0 {
			c.loss, c.twice, c.late = rnd.Float64()*0.15, rnd.Float64()*0.1, rnd.Float64()*0.2
		}
		c.open(t)
		var want [2][]byte
		for side := range want {
			for range rnd.IntN(30) {
				b := make([]byte, 1+rnd.IntN(4000))
				for i := range b {
					b[i] = byte(rnd.Uint32())
				}
				want[1-side] = append(want[1-side], b...)
				c.socks[side].Write(c.now, tcp.Write{Data: b, Fresh: rnd.IntN(10) == 0})
				if rnd.IntN(3) == 0 {
					c.step()
				}
			}
		}
		c.socks[rnd.IntN(2)].Close(c.now)
		c.step()
		c.socks[0].Close(c.now)
		c.socks[1].Close(c.now)
		c.run(t)
		for side, s := range c.socks {
			if !bytes.Equal(c.got[side], want[side]) {
				t.Fatalf("seed %d: side %d got %d octets of %d, or others", seed, side, len(c.got[side]), len(want[side]))
			}
			if !s.Closed() || !s.PeerFIN() || s.PeerReset() || s.Queued() != 0 {
				t.Fatalf("seed %d: side %d is left closed %v, FIN %v, RST %v, %d queued", seed, side, s.Closed(), s.PeerFIN(), s.PeerReset(), s.Queued())
			}
		}
	}
}

func TestSocket_Handshake(t *testing.T) {
	for _, tt := range []struct {
		name     string
		a, b     func(*tcp.Config)
		emss     int
		ts, sack bool
		scale    bool
	}{
		{"all", func(c *tcp.Config) { c.Timestamps = true }, func(c *tcp.Config) { c.Timestamps = true }, 1448, true, true, true},
		{"one without", func(c *tcp.Config) { c.Timestamps = true }, func(c *tcp.Config) { c.SACK, c.Scale = false, false }, 1460, false, false, false},
		{"smaller MSS", func(*tcp.Config) {}, func(c *tcp.Config) { c.MSS = 536 }, 536, false, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := usual(), usual()
			tt.a(&a)
			tt.b(&b)
			c := connect(a, b)
			var syns []tcp.Segment
			c.seen = func(_ int, g tcp.Segment) {
				if g.Flags&packet.FlagSYN != 0 {
					syns = append(syns, g)
				}
			}
			c.open(t)
			if len(syns) != 2 || syns[0].Flags != packet.FlagSYN || syns[1].Flags != packet.FlagSYN|packet.FlagACK {
				t.Fatalf("%+v", syns)
			}
			o := syns[1].Options
			_, _, ts := packet.Timestamps(o)
			_, scale := packet.WindowScale(o)
			if ts != tt.ts || scale != tt.scale || packet.SACKPermitted(o) != tt.sack || len(o)%4 != 0 {
				t.Errorf("the answer has options %x", o)
			}
			for side, s := range c.socks {
				if s.EMSS() != tt.emss {
					t.Errorf("side %d has an EMSS of %d, want %d", side, s.EMSS(), tt.emss)
				}
			}
			if syns[1].Ack != 1001 {
				t.Errorf("it acknowledges %d", syns[1].Ack)
			}
		})
	}
}

// segments runs writes of the client through a line without loss and returns
// the data segments.
func segments(t *testing.T, cfg tcp.Config, writes ...tcp.Write) (out []tcp.Segment) {
	t.Helper()
	c := connect(cfg, usual())
	c.open(t)
	c.seen = func(side int, g tcp.Segment) {
		if side == 0 && len(g.Payload) > 0 {
			out = append(out, g)
		}
	}
	for _, w := range writes {
		c.socks[0].Write(c.now, w)
	}
	c.run(t)
	return out
}

func sizes(gs []tcp.Segment) (s string) {
	for _, g := range gs {
		s += fmt.Sprintf("%d ", len(g.Payload))
	}
	return s
}

func TestSocket_Packing(t *testing.T) {
	writes := []tcp.Write{
		{Data: make([]byte, 20), Fresh: true},
		{Data: make([]byte, 600)},
		{Data: make([]byte, 600)},
		{Data: make([]byte, 600)},
		{Data: make([]byte, 2000)},
		{Data: make([]byte, 100)},
	}
	for _, tt := range []struct {
		packing  tcp.Packing
		tso      int
		inflight int
		want     string
	}{
		{tcp.Stream, 0, 0, "20 1460 1460 980 "},
		{tcp.Stream, 0, 2 * 1460, "20 1460 1460 980 "}, // no part of a segment while others are under way
		{tcp.Stream, 0, 1000, "20 1000 1000 1000 900 "},
		{tcp.Aligned, 0, 0, "20 600 600 600 1460 540 100 "},
		{tcp.Packed, 0, 0, "20 1200 600 1460 540 100 "},
		{tcp.Packed, 65000, 0, "20 3900 "},
		{tcp.Stream, 65000, 0, "20 3900 "},
	} {
		cfg := usual()
		cfg.Packing, cfg.MaxSegment, cfg.Inflight = tt.packing, tt.tso, tt.inflight
		gs := segments(t, cfg, writes...)
		if got := sizes(gs); got != tt.want {
			t.Errorf("packing %d, %d: %s, want %s", tt.packing, tt.tso, got, tt.want)
		}
		for i, g := range gs {
			if push := g.Flags&packet.FlagPSH != 0; push != (i == 0 || i == len(gs)-1) {
				t.Errorf("packing %d: segment %d has PSH %v", tt.packing, i, push)
			}
		}
	}
}

// drop loses the nth data segment of the client, the first time.
func lossy(t *testing.T, cfg tcp.Config, lost map[int64]int) (out []tcp.Segment, c *channel) {
	t.Helper()
	c = connect(cfg, usual())
	c.open(t)
	c.seen = func(side int, g tcp.Segment) {
		if side == 0 && len(g.Payload) > 0 {
			out = append(out, g)
			c.loss = 0
			if lost[g.From] > g.Retransmitted {
				c.loss = 1
			}
			return
		}
		c.loss = 0
	}
	for range 10 {
		c.socks[0].Write(c.now, tcp.Write{Data: make([]byte, 1000)})
	}
	c.run(t)
	return out, c
}

// With SACK only what is missing is sent again, soon, and as it was.
func TestSocket_FastRetransmit(t *testing.T) {
	for _, sack := range []bool{true, false} {
		cfg := usual()
		cfg.SACK, cfg.Packing = sack, tcp.Aligned
		gs, c := lossy(t, cfg, map[int64]int{1000: 1, 3000: 1})
		again := ""
		for _, g := range gs {
			if g.Retransmitted > 0 {
				again += fmt.Sprintf("%d+%d ", g.From, len(g.Payload))
			}
		}
		if again != "1000+1000 3000+1000 " {
			t.Errorf("SACK %v: sent again %s", sack, again)
		}
		if c.now > 100_000_000 {
			t.Errorf("SACK %v: it took until %d", sack, c.now)
		}
	}
}

func TestSocket_Timeout(t *testing.T) {
	cfg := usual()
	cfg.Packing, cfg.Retries = tcp.Aligned, 3
	c := connect(cfg, usual())
	c.open(t)
	var at []int64
	c.seen = func(side int, g tcp.Segment) {
		if side == 0 && len(g.Payload) > 0 {
			at = append(at, c.now/1_000_000)
			c.loss = 1
		}
	}
	c.socks[0].Write(c.now, tcp.Write{Data: make([]byte, 100)})
	c.run(t)
	if fmt.Sprint(relative(at)) != "[0 200 600 1400]" {
		t.Errorf("sent after %v ms", relative(at))
	}
	if !c.socks[0].Closed() {
		t.Error("it does not give up")
	}
}

func relative(at []int64) []int64 {
	out := make([]int64, len(at))
	for i := range at {
		out[i] = at[i] - at[0]
	}
	return out
}

func TestSocket_Acknowledgements(t *testing.T) {
	for _, tt := range []struct {
		delayed int64
		writes  int
		want    int // pure acknowledgements of the server
	}{{0, 4, 4}, {40_000_000, 4, 2}, {40_000_000, 5, 3}} {
		b := usual()
		b.DelayedAck = tt.delayed
		a := usual()
		a.Packing = tcp.Aligned
		c := connect(a, b)
		c.open(t)
		acks := 0
		c.seen = func(side int, g tcp.Segment) {
			if side == 1 && len(g.Payload) == 0 {
				acks++
			}
		}
		for range tt.writes {
			c.socks[0].Write(c.now, tcp.Write{Data: make([]byte, 100)})
			c.pump()
		}
		c.run(t)
		if acks != tt.want {
			t.Errorf("delay %d, %d segments: %d acknowledgements, want %d", tt.delayed, tt.writes, acks, tt.want)
		}
	}
}

// What goes back carries the acknowledgement; none is sent beside it.
func TestSocket_Piggyback(t *testing.T) {
	c := connect(usual(), usual())
	c.open(t)
	c.run(t)
	pure := 0
	c.seen = func(side int, g tcp.Segment) {
		if side == 1 && len(g.Payload) == 0 {
			pure++
		}
	}
	c.socks[0].Write(c.now, tcp.Write{Data: []byte("ping")})
	g, ok := c.socks[0].Next(c.now)
	if !ok {
		t.Fatal("nothing is sent")
	}
	c.socks[1].Receive(c.now, &g)
	c.socks[1].Write(c.now, tcp.Write{Data: []byte("pong")})
	c.run(t)
	if pure != 0 || string(c.got[0]) != "pong" {
		t.Errorf("%d pure acknowledgements, %q", pure, c.got[0])
	}
}

func TestSocket_HalfClose(t *testing.T) {
	c := connect(usual(), usual())
	c.open(t)
	c.socks[0].Close(c.now)
	c.run(t)
	if !c.socks[1].PeerFIN() || c.socks[1].Closed() {
		t.Fatal("the server does not see the FIN, or is closed by it")
	}
	c.socks[1].Write(c.now, tcp.Write{Data: []byte("late answer")})
	c.socks[1].Close(c.now)
	c.run(t)
	if string(c.got[0]) != "late answer" || !c.socks[0].Closed() || !c.socks[1].Closed() {
		t.Errorf("%q, closed %v %v", c.got[0], c.socks[0].Closed(), c.socks[1].Closed())
	}
}

func TestSocket_Reset(t *testing.T) {
	c := connect(usual(), usual())
	c.open(t)
	c.run(t)
	c.socks[0].Reset(c.now)
	c.run(t)
	if !c.socks[1].PeerReset() || !c.socks[0].Closed() || !c.socks[1].Closed() {
		t.Error("the RST does not end it")
	}
}

// A SYN that nobody answers is sent again and given up.
func TestSocket_NobodyThere(t *testing.T) {
	cfg := usual()
	cfg.Retries = 2
	c := connect(cfg, usual())
	c.loss = 1
	c.socks[0].Open(0)
	c.run(t)
	if c.sent < 3 || !c.socks[0].Closed() {
		t.Errorf("%d segments, closed %v", c.sent, c.socks[0].Closed())
	}
}

// FuzzSocket hands hostile segments to an open socket.
func FuzzSocket(f *testing.F) {
	f.Add(uint32(0), uint32(0), uint16(0x10), []byte("abc"), []byte{})
	f.Add(uint32(100), uint32(1), uint16(0x11), []byte{}, []byte{5, 10, 0, 0, 0, 1, 0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, seq, ack uint32, flags uint16, payload, options []byte) {
		c := connect(usual(), usual())
		c.open(t)
		c.run(t)
		c.socks[1].Write(c.now, tcp.Write{Data: make([]byte, 5000)})
		c.pump()
		base := c.socks[0].Craft(c.now)
		for i := range uint32(20) {
			g := tcp.Segment{Seq: base.Seq + seq*i, Ack: base.Ack + ack*i, Flags: flags, Window: uint16(i), Payload: payload, Options: options}
			c.socks[1].Receive(c.now, &g)
		}
		c.socks[1].Close(c.now)
		c.run(t)
	})
}

func BenchmarkTransfer(b *testing.B) {
	c := connect(usual(), usual())
	c.socks[1].Open(0)
	c.socks[0].Open(0)
	for range 10 {
		c.step()
	}
	chunk := make([]byte, 1448)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		c.socks[0].Write(c.now, tcp.Write{Data: chunk})
		for c.socks[0].Queued() > 1<<17 {
			c.step()
		}
		c.got[1] = c.got[1][:0]
	}
}

package rnic_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

func (p *pair) names(side int) (names []string) {
	for _, u := range p.ends[side].units {
		names = append(names, u.Place.Message)
	}
	return names
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestEndpoint_Gates(t *testing.T) {
	tests := []struct {
		name string
		set  func(int, *rnic.Config)
		i, r []string
	}{
		{"5044: the responder waits for an FPDU", func(int, *rnic.Config) {}, []string{"request"}, []string{"reply"}},
		{"Send is the indication", enhanced(mpa.RTRSend), []string{"request", "rtr"}, []string{"reply", "send"}},
		{"Write is the indication", enhanced(mpa.RTRWrite), []string{"request", "rtr"}, []string{"reply", "send"}},
		{"Read is the indication", enhanced(mpa.RTRRead), []string{"request", "rtr"}, []string{"reply", "rtr.response", "send"}},
		{"Read is the indication, ORD 0", func(side int, c *rnic.Config) {
			enhanced(mpa.RTRRead)(side, c)
			if side == initiator {
				c.Startup.ORD = 0
			}
		}, []string{"request", "rtr"}, []string{"reply", "rtr.response", "send"}},
		{"the frame of 2007", dialects[9].set, []string{"request", "rtr"}, []string{"reply", "send"}},
		{"reject", func(side int, c *rnic.Config) { c.Startup.Reject = side == responder }, []string{"request"}, []string{"reply"}},
		{"no wait for the indication", func(side int, c *rnic.Config) {
			enhanced(mpa.RTRSend)(side, c)
			c.Ignore = rnic.IgnoreRTR
		}, []string{"request"}, []string{"reply", "send"}},
		{"no startup", func(_ int, c *rnic.Config) { c.Ignore = rnic.IgnoreStartup }, nil, []string{"send"}},
		{"the responder does not wait", func(side int, c *rnic.Config) {
			if side == responder {
				c.Ignore = rnic.IgnorePhase
			}
		}, []string{"request"}, []string{"reply", "send"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, plain(tt.set))
			p.ends[responder].Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 5})
			p.connect(t)
			if got := p.names(initiator); !equal(got, tt.i) {
				t.Errorf("initiator %v, want %v", got, tt.i)
			}
			got := p.names(responder)
			if tt.name == "the responder does not wait" && equal(got, []string{"send", "reply"}) {
				return // it may even be that early
			}
			if !equal(got, tt.r) {
				t.Errorf("responder %v, want %v", got, tt.r)
			}
		})
	}
}

// Who sends before the Reply still takes the Reply for what it is.
func TestEndpoint_IgnorePhaseInitiator(t *testing.T) {
	p := newPair(t, plain(func(side int, c *rnic.Config) {
		if side == initiator {
			c.Ignore = rnic.IgnorePhase
		}
	}))
	i, r := p.ends[initiator], p.ends[responder]
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "early", Number: 1, Size: 5})
	i.Start()
	p.pull(initiator, 9)
	if got := p.names(initiator); !equal(got, []string{"request", "early"}) {
		t.Fatalf("before the Reply: %v", got)
	}
	p.connect(t)
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 5, Remote: at(r.region, 0), Local: at(i.region, 0)})
	p.run(t)
	if got := p.names(initiator); !equal(got, []string{"request", "early", "read"}) || i.Unfinished("read") != 0 || i.Phase() != rnic.Ready {
		t.Errorf("%v, %d unfinished, phase %d", got, i.Unfinished("read"), i.Phase())
	}
}

// A Request that comes before Start begins the startup, streaming mode before
// it notwithstanding.
func TestEndpoint_StartOrder(t *testing.T) {
	p := newPair(t, plain())
	i := p.ends[initiator]
	i.Post(rnic.Work{Op: rnic.OpRaw, Name: "hello", Number: 1, Data: []byte("hello MPA ID ")})
	p.run(t)
	i.Start()
	p.run(t)
	if i.Phase() != rnic.Ready || p.ends[responder].Phase() != rnic.Full {
		t.Errorf("phases %d %d", i.Phase(), p.ends[responder].Phase())
	}
}

func TestEndpoint_IgnoreFlags(t *testing.T) {
	bad := untagged(rdmap.OpSend, 9, 1, 0, nil)
	t.Run("errors", func(t *testing.T) {
		p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Ignore = rnic.IgnoreErrors }))
		p.connect(t)
		p.ends[initiator].Post(rnic.Work{Op: rnic.OpSegment, Name: "bad", Number: 1, Data: bad})
		p.run(t)
		if _, ok := p.terminate(t, responder); ok || p.ends[responder].Phase() != rnic.Ready {
			t.Error("it minds")
		}
	})
	t.Run("requests", func(t *testing.T) {
		p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Ignore = rnic.IgnoreRequests }))
		p.connect(t)
		i, r := p.ends[initiator], p.ends[responder]
		i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 5, Remote: at(r.region, 0), Local: at(i.region, 0)})
		p.run(t)
		if i.Unfinished("read") != 1 || !equal(p.names(responder), []string{"reply"}) {
			t.Errorf("%v", p.names(responder))
		}
	})
	t.Run("close", func(t *testing.T) {
		p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Ignore = rnic.IgnoreClose }))
		p.connect(t)
		p.ends[initiator].Close()
		p.run(t)
		if !p.ends[initiator].closed || p.ends[responder].closed {
			t.Error("wrong ends closed")
		}
	})
	t.Run("depth", func(t *testing.T) {
		p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Ignore, c.Startup.ORD = rnic.IgnoreDepth, 1 }))
		p.connect(t)
		i, r := p.ends[initiator], p.ends[responder]
		for n := range 5 {
			i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: n + 1, Size: 5, Remote: at(r.region, 0), Local: at(i.region, 0)})
		}
		p.pull(initiator, 9)
		if got := p.names(initiator); len(got) != 6 {
			t.Errorf("%v", got)
		}
		p.run(t)
		if i.Unfinished("read") != 0 {
			t.Errorf("%d unfinished", i.Unfinished("read"))
		}
	})
	t.Run("order", func(t *testing.T) {
		p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Ignore = rnic.IgnoreOrder }))
		p.connect(t)
		i, r := p.ends[initiator], p.ends[responder]
		i.Post(rnic.Work{Op: rnic.OpFetchAdd, Name: "add", Number: 1, Remote: at(r.region, 0)})
		i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 5, Remote: at(r.region, 0), Local: at(i.region, 0)})
		p.pull(initiator, 9)
		r.Receive(p.pipe[initiator])
		p.pipe[initiator] = nil
		p.pull(responder, 9)
		if got := p.names(responder); !equal(got, []string{"reply", "read.response", "add.response"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestEndpoint_TerminatePosted(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	r.Post(rnic.Work{Op: rnic.OpSend, Name: "late", Number: 1, Size: 5})
	i.Post(rnic.Work{Op: rnic.OpTerminate, Name: "term", Number: 1, Layer: 0, EType: 0, Code: 0})
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "after", Number: 1, Size: 5})
	p.run(t)
	if got := p.names(initiator); !equal(got, []string{"request", "term"}) || !i.closed || !r.closed {
		t.Errorf("%v, closed %v %v", got, i.closed, r.closed)
	}
	if got := p.names(responder); !equal(got, []string{"reply"}) {
		t.Errorf("the responder goes on: %v", got)
	}
}

func FuzzEndpoint(f *testing.F) {
	f.Add(untagged(rdmap.OpSend, 0, 1, 0, []byte("hi")), uint16(0), true)
	f.Add(tagged(rdmap.OpWrite, rnic.Address{STag: 1}, 9), uint16(rnic.IgnoreErrors), false)
	f.Add(untagged(rdmap.OpReadRequest, 1, 1, 0, make([]byte, 28)), uint16(rnic.IgnoreErrors|rnic.IgnoreDepth), true)
	f.Add(untagged(rdmap.OpAtomicRequest, 1, 1, 0, make([]byte, 52)), uint16(rnic.IgnoreTerminate), true)
	f.Fuzz(func(t *testing.T, b []byte, ignore uint16, framed bool) {
		p := newPair(t, plain(func(side int, c *rnic.Config) {
			if side == responder {
				c.Ignore = rnic.Ignore(ignore) &^ rnic.IgnoreStartup
			}
		}))
		p.connect(t)
		r := p.ends[responder]
		if framed {
			e := mpa.Encoder{CRC: true}
			var w []byte
			for len(b) > 0 {
				n := min(len(b), 70)
				w = tracetest.Framed(e.Append(w, b[:n]))
				b = b[n:]
			}
			b = w
		}
		r.Receive(b)
		out := 0
		for range 1 << 12 {
			u, ok := r.Next()
			if !ok {
				break
			}
			if out += len(u.Data); len(u.Data) > 1500 && u.Kind == pdu.Segment {
				t.Fatalf("a unit of %d octets", len(u.Data))
			}
		}
		r.PeerClosed(false)
		_ = r.Want()
		r.Receive(b)
	})
}

func BenchmarkWrite(b *testing.B) {
	p := newPair(b, plain(func(_ int, c *rnic.Config) { c.EMSS, c.Sent = 8960, func(rnic.Message) {} }))
	p.connect(b)
	i, r := p.ends[initiator], p.ends[responder]
	const size = 1 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		i.Post(rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Size: size, Remote: at(r.region, 0)})
		for {
			u, ok := i.Next()
			if !ok {
				break
			}
			r.Receive(u.Data)
		}
	}
}

package rnic_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

var dialects = []struct {
	name string
	set  func(int, *rnic.Config)
}{
	{"rev0", func(_ int, c *rnic.Config) { c.Startup.Rev = 0 }},
	{"rev1", func(int, *rnic.Config) {}},
	{"rev1 markers", func(_ int, c *rnic.Config) { c.Startup.Markers = true }},
	{"rev1 no crc", func(_ int, c *rnic.Config) { c.Startup.CRC = false }},
	{"enhanced", enhanced(0)},
	{"enhanced send", enhanced(mpa.RTRSend)},
	{"enhanced write", enhanced(mpa.RTRWrite)},
	{"enhanced read", enhanced(mpa.RTRRead)},
	{"draft01", func(_ int, c *rnic.Config) {
		c.Startup.Rev, c.Startup.Dialect, c.Startup.RTR = 2, startup.Draft01, mpa.RTRSend
	}},
	{"rtr2007", func(_ int, c *rnic.Config) {
		c.Startup.Dialect, c.Startup.PeerToPeer = startup.RTR2007, true
	}},
}

func TestEndpoint_Dialects(t *testing.T) {
	for _, a := range dialects {
		for _, b := range dialects {
			if (a.name == "draft01") != (b.name == "draft01") && (a.name[:4] == "enha" || b.name[:4] == "enha") {
				continue // they misread each other's word
			}
			if a.name != b.name && a.name[:4] == "enha" && b.name[:4] == "enha" {
				continue // no indication in common
			}
			t.Run(a.name+" to "+b.name, func(t *testing.T) {
				p := newPair(t, plain(func(side int, c *rnic.Config) {
					if side == initiator {
						a.set(side, c)
					} else {
						b.set(side, c)
					}
				}))
				p.connect(t)
				for side, e := range p.ends {
					e.Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 3000})
					e.Post(rnic.Work{
						Op: rnic.OpRead, Name: "read", Number: 1, Size: 5000,
						Remote: at(p.ends[1-side].region, 8), Local: at(e.region, 0),
					})
				}
				p.run(t)
				for side, e := range p.ends {
					if e.Phase() != rnic.Ready || e.Unfinished("send")+e.Unfinished("read")+e.Unfinished("rtr") != 0 {
						t.Errorf("end %d: phase %d, unfinished %d %d %d", side, e.Phase(), e.Unfinished("send"), e.Unfinished("read"), e.Unfinished("rtr"))
					}
				}
			})
		}
	}
}

func TestEndpoint_Segmentation(t *testing.T) {
	p := newPair(t, plain(func(_ int, c *rnic.Config) { c.MULPDU = 1500 }))
	p.connect(t)
	e := p.ends[initiator]
	e.Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 2048})
	e.Post(rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Size: 2048, Remote: at(p.ends[responder].region, 0)})
	p.run(t)
	segs, payload := p.segments(t, initiator)
	var got string
	for i, s := range segs {
		got += fmt.Sprintf("%v %v %d %d %d;", s.Tagged, s.Last, len(payload[i]), s.MO, s.TO)
	}
	// RFC 5041 section 5.2.
	const want = "false false 1482 0 0;false true 566 1482 0;true false 1486 0 65536;true true 562 0 67022;"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEndpoint_Operations(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	gone := r.Register(rnic.Region{Address: rnic.Address{TO: 1}, Size: 10, Read: true, Write: true})
	data := bytes.Repeat([]byte("iwarp"), 2000)
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 10})
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "sendse", Number: 1, Solicited: true})
	i.Post(rnic.Work{Op: rnic.OpImmediate, Name: "imm", Number: 1, Immediate: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}})
	i.Post(rnic.Work{Op: rnic.OpImmediate, Name: "immse", Number: 1, Solicited: true})
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "inv", Number: 1, HasInvalidate: true, Invalidate: gone.STag})
	i.Post(rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Data: data, Remote: at(r.region, 100)})
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: uint64(len(data)), Remote: at(r.region, 100), Local: at(i.region, 0)})
	i.Post(rnic.Work{Op: rnic.OpWrite, Name: "none", Number: 1, Remote: rnic.Address{STag: 1}})
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "noread", Number: 1, Remote: rnic.Address{STag: 1}, Local: rnic.Address{STag: 2}})
	p.run(t)
	r.Post(rnic.Work{Op: rnic.OpRead, Name: "back", Number: 1, Size: uint64(len(data)), Remote: at(i.region, 0), Local: at(r.region, 1<<19)})
	p.run(t)

	var got string
	for _, m := range i.told {
		got += fmt.Sprintf("%s %#x %d;", m.Name, uint8(m.Opcode), m.MSN)
	}
	const want = "send 0x3 1;sendse 0x5 2;imm 0x8 3;immse 0x9 4;inv 0x4 5;write 0x0 0;read 0x1 1;none 0x0 0;noread 0x1 2;back.response 0x2 0;"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if m := i.message(t, "inv", 1); m.STag != gone.STag {
		t.Errorf("invalidates %#x", m.STag)
	}
	for _, m := range []rnic.Message{r.message(t, "read.response", 1), i.message(t, "back.response", 1)} {
		if !bytes.Equal(m.Data, data) {
			t.Errorf("%s does not hold what was written", m.Name)
		}
	}
	if m := r.message(t, "noread.response", 1); m.STag != 2 || len(m.Data) != 0 {
		t.Errorf("response to nothing: %+v", m)
	}
	for _, name := range []string{"send", "write", "read", "noread"} {
		if n := i.Unfinished(name); n != 0 {
			t.Errorf("%s: %d unfinished", name, n)
		}
	}
}

// What a message is told to hold is what the stream carries, even if the memory
// changes while a Read Response is under way.
func TestEndpoint_ResponseAsTold(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	const size = 20000
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: size, Remote: at(r.region, 0), Local: at(i.region, 0)})
	p.pull(initiator, 1)
	r.Receive(p.pipe[initiator])
	p.pipe[initiator] = nil
	p.pull(responder, 2)
	i.Post(rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Data: bytes.Repeat([]byte{0xaa}, size), Remote: at(r.region, 0)})
	for p.pull(initiator, 1) {
		r.Receive(p.pipe[initiator])
		p.pipe[initiator] = nil
	}
	p.run(t)
	var wire []byte
	segs, payload := p.segments(t, responder)
	for k, s := range segs {
		if s.Tagged {
			wire = append(wire, payload[k]...)
		}
	}
	if told := r.message(t, "read.response", 1).Data; !bytes.Equal(wire, told) {
		t.Error("the response that was told of is not the one that was sent")
	}
}

func TestEndpoint_Atomics(t *testing.T) {
	ops := []struct {
		name string
		w    rnic.Work
		want func(old uint64) uint64
	}{
		{"set", rnic.Work{Op: rnic.OpCmpSwap, Operand: 0x10ff, Mask: ^uint64(0)}, func(uint64) uint64 { return 0x10ff }},
		{"add", rnic.Work{Op: rnic.OpFetchAdd, Operand: 1}, func(o uint64) uint64 { return o + 1 }},
		{"add fields", rnic.Work{Op: rnic.OpFetchAdd, Operand: 0xff01, Mask: 0x8080}, func(o uint64) uint64 { return rdmap.FetchAdd(o, 0xff01, 0x8080) }},
		{"swap not", rnic.Work{Op: rnic.OpCmpSwap, Operand: 5, Mask: ^uint64(0), Compare: 1, CompareMask: ^uint64(0)}, func(o uint64) uint64 { return o }},
		{"swap some", rnic.Work{Op: rnic.OpCmpSwap, Operand: 0xab, Mask: 0xff}, func(o uint64) uint64 { return o&^0xff | 0xab }},
	}
	p := newPair(t, plain())
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	for k, o := range ops {
		o.w.Name, o.w.Number, o.w.RequestID, o.w.Remote = o.name, 1, uint32(k)+9, at(r.region, 16)
		i.Post(o.w)
	}
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 8, Remote: at(r.region, 16), Local: at(i.region, 0)})
	p.run(t)
	var value uint64
	for k, o := range ops {
		a, err := rdmap.DecodeAtomicResponse(r.message(t, o.name+".response", 1).Data)
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			value = a.Original
		}
		if a.RequestID != uint32(k)+9 || a.Original != value {
			t.Errorf("%s: request %d, original %#x, want %#x", o.name, a.RequestID, a.Original, value)
		}
		value = o.want(value)
	}
	var b []byte
	for s := 56; s >= 0; s -= 8 {
		b = append(b, byte(value>>s))
	}
	if got := r.message(t, "read.response", 1).Data; !bytes.Equal(got, b) {
		t.Errorf("memory holds %x, want %x", got, b)
	}
}

func TestEndpoint_DepthAndOrder(t *testing.T) {
	p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Startup.ORD, c.Startup.IRD = 3, 3 }))
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	open, most := 0, 0
	var order []string
	p.watch = func(from int, u pdu.Unit) {
		switch {
		case from == initiator && u.Place.Message != "send":
			open++
			most = max(most, open)
		case from == responder && u.Place.Last:
			open--
			order = append(order, fmt.Sprint(u.Place.Message, u.Place.Number))
		}
	}
	var want []string
	for n := 1; n <= 10; n++ {
		i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: n, Size: 4000, Remote: at(r.region, 0), Local: at(i.region, 0)})
		i.Post(rnic.Work{Op: rnic.OpFetchAdd, Name: "add", Number: n, Remote: at(r.region, 0)})
		want = append(want, fmt.Sprint("read.response", n), fmt.Sprint("add.response", n))
	}
	p.run(t)
	if most != 3 {
		t.Errorf("%d outstanding, want 3 at the most and at some time", most)
	}
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("order %v", order)
	}
}

// A 1 GiB Write is not expanded in memory: it is cut as it is asked for.
func TestEndpoint_LazySegments(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	p.ends[initiator].Post(rnic.Work{Op: rnic.OpWrite, Name: "write", Number: 1, Size: 1 << 30, Remote: at(p.ends[responder].region, 0)})
	allocs := testing.AllocsPerRun(100, func() {
		if u, ok := p.ends[initiator].Next(); !ok || u.Place.Last || len(u.Data) > 1500 {
			t.Fatal("no small segment")
		}
	})
	if allocs > 8 {
		t.Errorf("%.0f allocations for a segment", allocs)
	}
}

func TestEndpoint_Close(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 9000, Remote: at(r.region, 0), Local: at(i.region, 0)})
	i.Close()
	p.run(t)
	if !i.closed || !r.closed || i.Unfinished("read") != 0 {
		t.Errorf("closed %v %v, %d unfinished", i.closed, r.closed, i.Unfinished("read"))
	}
}

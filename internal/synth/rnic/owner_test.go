package rnic_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// told collects what both ends tell.
type told [2][]rnic.Event

func (l *told) set(side int, c *rnic.Config) {
	c.Told = func(v *rnic.Event) {
		w := *v
		w.Data = bytes.Clone(v.Data)
		l[side] = append(l[side], w)
	}
}

// words are the events of a side in short.
func (l *told) words(side int) (out []string) {
	for _, v := range l[side] {
		out = append(out, fmt.Sprintf("%s %v %d", [...]string{"received", "written", "answered", "completed", "terminate", "streamed"}[v.Kind], v.Opcode, v.Size))
	}
	return out
}

func TestEndpoint_TellsOwner(t *testing.T) {
	var l told
	p := newPair(t, plain(l.set, enhanced(mpa.RTRSend)))
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	counter := r.Register(rnic.Region{Memory: []byte{0, 0, 0, 0, 0, 0, 0, 40}, Read: true, Write: true})
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "s", Number: 1, Size: 4000})
	i.Post(rnic.Work{Op: rnic.OpWrite, Name: "w", Number: 1, Data: []byte("over there"), Remote: at(r.region, 16)})
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "r", Number: 1, Size: 3000, Remote: at(r.region, 16), Local: at(i.region, 0)})
	i.Post(rnic.Work{Op: rnic.OpFetchAdd, Name: "f", Number: 1, Operand: 2, CompareMask: 0, RequestID: 9, Remote: at(counter, 0)})
	p.run(t)
	i.Post(rnic.Work{Op: rnic.OpImmediate, Name: "i", Number: 1, Immediate: [8]byte{7: 5}})
	i.Post(rnic.Work{Op: rnic.OpTerminate, Name: "t", Number: 1, Layer: 1, EType: 2, Code: 3})
	p.run(t)

	want := []string{
		"received Send 4000", "written RDMA Write 10", "answered RDMA Read Response 3000", "answered Atomic Response 12",
		"received Immediate Data 8", "terminate Terminate 4",
	}
	if got := l.words(responder); !slices.Equal(got, want) {
		t.Errorf("the responder was told\n%q, want\n%q", got, want)
	}
	want = []string{
		"completed Send 0", "completed Send 4000", "completed RDMA Write 10",
		"completed RDMA Read Request 3000", "completed Atomic Request 0", "completed Immediate Data 8",
	}
	if got := l.words(initiator); !slices.Equal(got, want) {
		t.Errorf("the initiator was told\n%q, want\n%q", got, want)
	}
	sent := make([]byte, 4000)
	i.Payload(rnic.Work{Name: "s", Number: 1}, sent)
	if !bytes.Equal(l[responder][0].Data, sent) {
		t.Error("the Send has other octets")
	}
	read := make([]byte, 10)
	if !i.Fetch(at(i.region, 0), read) || string(read) != "over there" {
		t.Errorf("the Read brought %q", read)
	}
	if old := l[initiator][4].Data; !bytes.Equal(old, []byte{0, 0, 0, 0, 0, 0, 0, 40}) {
		t.Errorf("the atomic saw %x", old)
	}
	now := make([]byte, 8)
	if r.Fetch(at(counter, 0), now); now[7] != 42 {
		t.Errorf("the counter is %x", now)
	}
	if got := r.End(); got.Cause != rnic.TerminatedByPeer || got.Code.Code != 3 || i.End().Cause != rnic.TerminatedHere {
		t.Errorf("ends: %v, %v", got, i.End())
	}
}

// TestEndpoint_Buffers: a Send without a buffer, and one that is longer than its buffer, are
// answered with the Terminate that RFC 5041 section 7.2 has for it.
func TestEndpoint_Buffers(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []uint64
		want  uint8 // the code of 1/2, 0 for none
	}{
		{"enough", []uint64{100, 64, 0}, 0},
		{"one too many", []uint64{100, 64, 0, 1}, 2},
		{"too long", []uint64{100, 101}, 5},
	} {
		var l told
		p := newPair(t, plain(l.set, func(_ int, c *rnic.Config) { c.Buffers = true }))
		p.ends[responder].PostReceive(100, 3)
		p.connect(t)
		for n, size := range c.sizes {
			p.ends[initiator].Post(rnic.Work{Op: rnic.OpSend, Name: "s", Number: n + 1, Size: size})
		}
		p.run(t)
		term, sent := p.terminate(t, responder)
		if sent != (c.want != 0) || term.Code != c.want || sent && (term.Layer != 1 || term.EType != 2) {
			t.Errorf("%s: Terminate %v %+v", c.name, sent, term.TermCode)
		}
		if c.want == 0 && p.ends[responder].Buffers() != 0 {
			t.Errorf("%s: %d buffers are left", c.name, p.ends[responder].Buffers())
		}
	}
}

// TestEndpoint_PrivateLate: the private data of a Reply may name memory that is registered
// when the Request has come, and may follow from the Request.
func TestEndpoint_PrivateLate(t *testing.T) {
	var r *end
	c := plain(enhanced(0))
	c[responder].Asked = func(q mpa.Startup) ([]byte, bool) {
		_, ulp, _ := q.Word()
		region := r.Register(rnic.Region{Size: 100, Read: true})
		return fmt.Appendf(nil, "%s %08x", ulp, region.STag), string(ulp) == "go away"
	}
	p := newPair(t, c)
	r = p.ends[responder]
	p.ends[initiator].SetPrivate([]byte("hello"))
	if _, ok := p.ends[initiator].PeerPrivate(); ok {
		t.Error("there is private data before the startup")
	}
	p.connect(t)
	got, ok := p.ends[initiator].PeerPrivate()
	var stag uint32
	if _, err := fmt.Sscanf(string(got), "hello %x", &stag); err != nil || !ok || !r.Valid(stag) {
		t.Errorf("the Reply has %q, %v", got, err)
	}
	if a := p.ends[initiator].Agreed(); a.IRD != 4 || !a.CRC {
		t.Errorf("agreed %+v", a)
	}

	p = newPair(t, c)
	r = p.ends[responder]
	p.ends[initiator].SetPrivate([]byte("go away"))
	p.connect(t)
	if i := p.ends[initiator]; i.End().Cause != rnic.RejectedByPeer || r.End().Cause != rnic.RejectedHere {
		t.Errorf("ends %v, %v", i.End(), r.End())
	}
}

// TestEndpoint_Abort: nothing is sent any more, and the transport is to reset.
func TestEndpoint_Abort(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	i := p.ends[initiator]
	i.Post(rnic.Work{Op: rnic.OpWrite, Name: "w", Number: 1, Size: 1 << 20, Remote: at(p.ends[responder].region, 0)})
	i.Next()
	i.Abort()
	if _, ok := i.Next(); ok || i.Want() != rnic.WantReset {
		t.Errorf("Want %d, something to send: %v", i.Want(), ok)
	}
	p.run(t)
	if got := p.ends[responder].End().Cause; got != rnic.ResetByPeer {
		t.Errorf("the responder ended with %v", got)
	}
}

// TestEndpoint_AtomicResponse: the owner is told of an answer to another request.
func TestEndpoint_AtomicResponse(t *testing.T) {
	var l told
	c := plain(l.set)
	c[responder].Faults = []pdu.Fault{{
		At: pdu.Selector{Message: "f.response"}, Set: []pdu.Value{{Name: "iwarp_rdma.atomic.original_request_identifier", Number: 8}},
	}}
	p := newPair(t, c)
	p.connect(t)
	p.ends[initiator].Post(rnic.Work{Op: rnic.OpFetchAdd, Name: "f", Number: 1, RequestID: 7, Remote: at(p.ends[responder].region, 0)})
	p.run(t)
	if n := len(l[initiator]); n != 1 || l[initiator][0].Err == nil {
		t.Errorf("%d events, %+v", n, l[initiator])
	}
}

// TestEndpoint_MemoryTaken: an answer is owed from memory whose STag another, smaller region
// has taken meanwhile.
func TestEndpoint_MemoryTaken(t *testing.T) {
	p := newPair(t, plain())
	p.connect(t)
	r := p.ends[responder]
	r.Register(rnic.Region{Address: rnic.Address{STag: 5}, Memory: make([]byte, 2000), Read: true})
	i := p.ends[initiator]
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "r", Number: 1, Size: 2000, Remote: rnic.Address{STag: 5}, Local: at(i.region, 0)})
	u, _ := i.Next()
	inv := ddp.Segment{Last: true, DV: 1, RsvdULP: control(rdmap.OpSendInv), RsvdULP32: 5, MSN: 1}
	i.Post(rnic.Work{Op: rnic.OpSegment, Name: "x", Number: 1, Data: inv.Append(nil)})
	v, _ := i.Next()
	r.Receive(append(u.Data, v.Data...))
	r.Register(rnic.Region{Address: rnic.Address{STag: 5}, Memory: []byte("small"), Read: true})
	if u, ok := r.Next(); !ok || bytes.Contains(u.Data, []byte("small")) {
		t.Errorf("answered: %v", ok)
	}
}

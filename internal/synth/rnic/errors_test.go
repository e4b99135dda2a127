package rnic_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

func control(op rdmap.Opcode) uint8 { return rdmap.Control{RV: 1, Opcode: op}.Octet() }

func untagged(op rdmap.Opcode, qn, msn, mo uint32, body []byte) []byte {
	return append(ddp.Segment{Last: true, DV: 1, RsvdULP: control(op), QN: qn, MSN: msn, MO: mo}.Append(nil), body...)
}

func tagged(op rdmap.Opcode, a rnic.Address, n int) []byte {
	return append(ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: control(op), STag: a.STag, TO: a.TO}.Append(nil), make([]byte, n)...)
}

func TestEndpoint_Errors(t *testing.T) {
	read := func(a rnic.Address, size uint32) []byte {
		return untagged(rdmap.OpReadRequest, 1, 1, 0, rdmap.ReadRequest{SinkSTag: 3, SrcSTag: a.STag, SrcTO: a.TO, Size: size}.Append(nil))
	}
	atomic := func(a rnic.Address, op rdmap.AOpCode) []byte {
		return untagged(rdmap.OpAtomicRequest, 1, 1, 0, rdmap.AtomicRequest{RemoteSTag: a.STag, RemoteTO: a.TO, AOpCode: op}.Append(nil))
	}
	edit := func(b []byte, at int, v byte) []byte {
		b[at] = v
		return b
	}
	inv := ddp.Segment{Last: true, DV: 1, RsvdULP: control(rdmap.OpSendInv), RsvdULP32: 0x666, QN: 0, MSN: 1}.Append(nil)
	tests := []struct {
		name string
		make func(r, ro, wo rnic.Region) []byte
		want [3]uint8
		r    bool
	}{
		{"tagged version", func(r, _, _ rnic.Region) []byte { return edit(tagged(rdmap.OpWrite, at(r, 0), 4), 0, 0xc0) }, [3]uint8{1, 1, 4}, false},
		{"untagged version", func(rnic.Region, rnic.Region, rnic.Region) []byte {
			return edit(untagged(rdmap.OpSend, 0, 1, 0, nil), 0, 0x40)
		}, [3]uint8{1, 2, 6}, false},
		{"queue", func(rnic.Region, rnic.Region, rnic.Region) []byte { return untagged(rdmap.OpSend, 4, 1, 0, nil) }, [3]uint8{1, 2, 1}, false},
		{"msn", func(rnic.Region, rnic.Region, rnic.Region) []byte { return untagged(rdmap.OpSend, 0, 2, 0, nil) }, [3]uint8{1, 2, 3}, false},
		{"mo", func(rnic.Region, rnic.Region, rnic.Region) []byte {
			return untagged(rdmap.OpSend, 0, 1, 8, []byte{1})
		}, [3]uint8{1, 2, 4}, false},
		{"rdmap version", func(rnic.Region, rnic.Region, rnic.Region) []byte {
			return edit(untagged(rdmap.OpSend, 0, 1, 0, nil), 1, 0x83)
		}, [3]uint8{0, 2, 5}, false},
		{"opcode", func(rnic.Region, rnic.Region, rnic.Region) []byte { return untagged(0xc, 0, 1, 0, nil) }, [3]uint8{0, 2, 6}, false},
		{"send tagged", func(r, _, _ rnic.Region) []byte { return tagged(rdmap.OpSend, at(r, 0), 4) }, [3]uint8{0, 2, 6}, false},
		{"write untagged", func(rnic.Region, rnic.Region, rnic.Region) []byte { return untagged(rdmap.OpWrite, 0, 1, 0, nil) }, [3]uint8{0, 2, 6}, false},
		{"write stag", func(rnic.Region, rnic.Region, rnic.Region) []byte {
			return tagged(rdmap.OpWrite, rnic.Address{STag: 0x666}, 4)
		}, [3]uint8{1, 1, 0}, false},
		{"write bounds", func(r, _, _ rnic.Region) []byte { return tagged(rdmap.OpWrite, at(r, 1<<20), 1) }, [3]uint8{1, 1, 1}, false},
		{"write wrap", func(r, _, _ rnic.Region) []byte {
			return tagged(rdmap.OpWrite, rnic.Address{STag: r.STag, TO: ^uint64(0)}, 4)
		}, [3]uint8{1, 1, 3}, false},
		// RFC 5041 has no code for access rights; the STag is not valid for it.
		{"write to read-only", func(_, ro, _ rnic.Region) []byte { return tagged(rdmap.OpWrite, at(ro, 0), 4) }, [3]uint8{1, 1, 0}, false},
		{"response unasked", func(r, _, _ rnic.Region) []byte { return tagged(rdmap.OpReadResponse, at(r, 0), 4) }, [3]uint8{0, 2, 6}, false},
		{"atomic response unasked", func(rnic.Region, rnic.Region, rnic.Region) []byte {
			return untagged(rdmap.OpAtomicResponse, 3, 1, 0, rdmap.AtomicResponse{}.Append(nil))
		}, [3]uint8{0, 2, 6}, false},
		{"read stag", func(rnic.Region, rnic.Region, rnic.Region) []byte { return read(rnic.Address{STag: 0x666}, 1) }, [3]uint8{0, 1, 0}, true},
		{"read bounds", func(r, _, _ rnic.Region) []byte { return read(at(r, 1), 1<<20) }, [3]uint8{0, 1, 1}, true},
		{"read access", func(_, _, wo rnic.Region) []byte { return read(at(wo, 0), 1) }, [3]uint8{0, 1, 2}, true},
		{"read wrap", func(r, _, _ rnic.Region) []byte {
			return read(rnic.Address{STag: r.STag, TO: ^uint64(0)}, 9)
		}, [3]uint8{0, 1, 4}, true},
		{"invalidate", func(rnic.Region, rnic.Region, rnic.Region) []byte { return bytes.Clone(inv) }, [3]uint8{0, 1, 0}, false},
		{"atomic misaligned", func(r, _, _ rnic.Region) []byte { return atomic(at(r, 4), rdmap.FetchAddOp) }, [3]uint8{0, 2, 7}, false},
		{"atomic stag", func(rnic.Region, rnic.Region, rnic.Region) []byte {
			return atomic(rnic.Address{STag: 0x666}, rdmap.CmpSwapOp)
		}, [3]uint8{0, 1, 0}, false},
		{"atomic access", func(_, ro, _ rnic.Region) []byte { return atomic(at(ro, 0), rdmap.CmpSwapOp) }, [3]uint8{0, 1, 2}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, plain())
			p.connect(t)
			i, r := p.ends[initiator], p.ends[responder]
			ro := r.Register(rnic.Region{Address: rnic.Address{TO: 64}, Size: 64, Read: true})
			wo := r.Register(rnic.Region{Address: rnic.Address{TO: 64}, Size: 64, Write: true})
			bad := tt.make(r.region, ro, wo)
			i.Post(rnic.Work{Op: rnic.OpSegment, Name: "bad", Number: 1, Data: bad})
			p.run(t)
			m, ok := p.terminate(t, responder)
			if !ok {
				t.Fatal("no Terminate")
			}
			if got := [3]uint8{m.Layer, m.EType, m.Code}; got != tt.want {
				t.Errorf("code %v, want %v", got, tt.want)
			}
			if !m.M || !m.D || m.R != tt.r || int(m.SegLength) != len(bad) || !bytes.HasPrefix(bad, m.DDPHeader) || len(m.DDPHeader) == 0 {
				t.Errorf("quotes %+v of % x", m, bad)
			}
			if tt.r && !bytes.Equal(m.RDMAHeader, bad[ddp.UntaggedLen:]) {
				t.Errorf("quotes the request as % x", m.RDMAHeader)
			}
			if !i.closed || !r.closed {
				t.Errorf("closed: %v %v", i.closed, r.closed)
			}
		})
	}
}

// A segment that is shorter than its header ends the stream. Of such a one nothing is quoted. One that is nothing but its header is taken.
func TestEndpoint_ShortHeader(t *testing.T) {
	send, write := untagged(rdmap.OpSend, 0, 1, 0, nil), tagged(rdmap.OpWrite, rnic.Address{}, 0)
	for _, tt := range []struct {
		name string
		data []byte
		bad  bool
	}{
		{"nothing", nil, true},
		{"one octet", send[:1], true},
		{"an octet less than an untagged header", send[:ddp.UntaggedLen-1], true},
		{"an untagged header", send, false},
		{"an octet less than a tagged header", write[:ddp.TaggedLen-1], true},
		{"a tagged header", write, false},
	} {
		p := newPair(t, plain())
		p.connect(t)
		p.ends[initiator].Post(rnic.Work{Op: rnic.OpSegment, Name: "bad", Number: 1, Data: tt.data})
		p.run(t)
		if !tt.bad {
			if got := p.ends[responder].End().Cause; got != rnic.NotEnded {
				t.Errorf("%s: %v", tt.name, got)
			}
			continue
		}
		m, ok := p.terminate(t, responder)
		if got := [3]uint8{m.Layer, m.EType, m.Code}; !ok || got != [3]uint8{1, 0, 0} || m.M || m.D || m.R {
			t.Errorf("%s: %v %+v", tt.name, ok, m)
		}
		if !p.ends[initiator].closed || !p.ends[responder].closed {
			t.Errorf("%s: not closed", tt.name)
		}
	}
}

func TestEndpoint_CRCError(t *testing.T) {
	p := newPair(t, plain(func(side int, c *rnic.Config) {
		if side == initiator {
			c.Faults = []pdu.Fault{{At: pdu.Selector{Message: "send"}, CRC: pdu.CRC{Mode: pdu.CRCBad}}}
		}
	}))
	p.connect(t)
	p.ends[initiator].Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 8})
	p.run(t)
	m, ok := p.terminate(t, responder)
	if !ok || m.Layer != 2 || m.EType != 0 || m.Code != 2 || m.M || m.D || m.R {
		t.Errorf("%v %+v", ok, m)
	}
}

// One request more than the IRD has no buffer, the one that is being answered
// counted.
func TestEndpoint_NoBuffer(t *testing.T) {
	for _, under := range []bool{false, true} {
		p := newPair(t, plain(func(side int, c *rnic.Config) {
			c.Startup.IRD = 2
			if side == initiator {
				c.Ignore = rnic.IgnoreDepth
			}
		}))
		p.connect(t)
		i, r := p.ends[initiator], p.ends[responder]
		for n := range 3 {
			i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: n + 1, Size: 9000, Remote: at(r.region, 0), Local: at(i.region, 0)})
			p.pull(initiator, 1)
			r.Receive(p.pipe[initiator])
			p.pipe[initiator] = nil
			if under && n == 0 {
				p.pull(responder, 1) // the first segment of the first answer
			}
		}
		p.run(t)
		if m, ok := p.terminate(t, responder); !ok || m.Layer != 1 || m.EType != 2 || m.Code != 2 {
			t.Errorf("answer under way %v: %v %+v", under, ok, m)
		}
	}
}

// What comes behind an error is not placed, nor is what was in error.
func TestEndpoint_ErrorPlacesNothing(t *testing.T) {
	p := newPair(t, plain(func(side int, c *rnic.Config) {
		if side == responder {
			c.Ignore = rnic.IgnoreTerminate
		}
	}))
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	before := func(name string) []byte {
		i.Post(rnic.Work{Op: rnic.OpRead, Name: name, Number: 1, Size: 16, Remote: at(r.region, 0), Local: at(i.region, 0)})
		p.run(t)
		return r.message(t, name+".response", 1).Data
	}
	old := before("before")
	i.Post(rnic.Work{Op: rnic.OpResponse, Name: "stray", Number: 1, Data: make([]byte, 16), Remote: at(r.region, 0)})
	p.pull(initiator, 1)
	r.Receive(p.pipe[initiator])
	p.pipe[initiator] = nil
	i.Post(rnic.Work{Op: rnic.OpRead, Name: "after", Number: 1, Size: 16, Remote: at(r.region, 0), Local: at(i.region, 0)})
	p.pull(initiator, 1)
	r.Receive(p.pipe[initiator])
	p.pipe[initiator] = nil
	p.pull(responder, 4)
	if got := r.message(t, "after.response", 1).Data; !bytes.Equal(got, old) {
		t.Errorf("a response that nobody asked for was placed: % x", got)
	}
}

func TestEndpoint_Swapped(t *testing.T) {
	p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Swapped = true }))
	p.connect(t)
	p.ends[initiator].Post(rnic.Work{Op: rnic.OpSegment, Name: "bad", Number: 1, Data: untagged(rdmap.OpSend, 9, 1, 0, nil)})
	p.run(t)
	segs, payload := p.segments(t, responder)
	if len(segs) != 1 {
		t.Fatalf("%d segments", len(segs))
	}
	m, err := rdmap.DecodeTerminateSwapped(payload[0])
	if err != nil || m.Layer != 1 || m.EType != 2 || m.Code != 1 {
		t.Errorf("%v %+v", err, m)
	}
}

func TestEndpoint_MarkerError(t *testing.T) {
	p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Startup.Markers, c.Startup.CRC = true, false }))
	p.connect(t)
	i := p.ends[initiator]
	i.Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 8})
	p.pull(initiator, 1)
	p.pipe[initiator][3] ^= 4 // the pointer of the marker in front
	p.ends[responder].Receive(p.pipe[initiator])
	u, ok := p.ends[responder].Next()
	if !ok {
		t.Fatal("no Terminate")
	}
	// Length and a marker stand in front of the segment.
	s := u.Data[4+2:]
	m, err := rdmap.DecodeTerminate(s[ddp.UntaggedLen : ddp.UntaggedLen+4])
	if err != nil || m.Layer != 2 || m.Code != 3 {
		t.Errorf("%v %+v", err, m)
	}
}

// The reserved field of a marker is ignored on receive (RFC 5044 section 4.2).
func TestEndpoint_MarkerReserved(t *testing.T) {
	p := newPair(t, plain(func(side int, c *rnic.Config) {
		c.Startup.Markers = true
		if side == initiator {
			c.Faults = []pdu.Fault{{At: pdu.Selector{Message: "send"}, Markers: []pdu.Marker{{SetReserved: true, Reserved: 0xbeef}}}}
		}
	}))
	p.connect(t)
	p.ends[initiator].Post(rnic.Work{Op: rnic.OpSend, Name: "send", Number: 1, Size: 2000})
	p.run(t)
	if got := p.ends[responder].Phase(); got != rnic.Ready {
		t.Errorf("phase %d", got)
	}
}

// Whoever ignores errors does not owe more answers than any depth allows.
func TestEndpoint_OwesBounded(t *testing.T) {
	p := newPair(t, plain(func(_ int, c *rnic.Config) { c.Ignore = rnic.IgnoreErrors | rnic.IgnoreDepth }))
	p.connect(t)
	i, r := p.ends[initiator], p.ends[responder]
	const most = 1 << 14 // the depth has 14 bits
	for n := range most + 100 {
		i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: n + 1, Remote: at(r.region, 0), Local: at(i.region, 0)})
		u, _ := i.Next()
		r.Receive(u.Data)
	}
	answers := 0
	for {
		if _, ok := r.Next(); !ok {
			break
		}
		answers++
	}
	if answers != most {
		t.Errorf("%d answers", answers)
	}
}

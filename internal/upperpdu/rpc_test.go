package upperpdu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// tagged gathers what RDMA Writes and Read Responses carry, by the frame that completed them.
type tagged map[uint64][]byte

func (m tagged) PDU(p *trace.PDU) {
	if p.Segment != nil && p.Segment.Tagged && p.Control.Opcode != rdmap.OpTerminate {
		dialogue.Pieces(p, func(_ int64, b []byte) { m[p.Frame] = append(m[p.Frame], b...) })
	}
}
func (tagged) Gap(*trace.GapEvent)            {}
func (tagged) Transaction(*trace.Transaction) {}
func (tagged) Frame(*pipeline.Frame)          {}

// between is what the frames from one to another one carried.
func (m tagged) between(from, to uint64) (b []byte) {
	for n := from; n <= to; n++ {
		b = append(b, m[n]...)
	}
	return b
}

const nfs = "generated/ulp-nfs-rdma.pcapng"

// frames are those of a capture, without some.
func frames(t *testing.T, name string, without ...uint64) (all []capture.Frame) {
	t.Helper()
	src := open(t, name)
	for {
		var f capture.Frame
		if err := src.Next(&f); errors.Is(err, io.EOF) {
			return tracetest.Number(all)
		} else if err != nil {
			t.Fatal(err)
		}
		f.Data = bytes.Clone(f.Data)
		lost := false
		for _, n := range without {
			lost = lost || f.Number == n
		}
		if !lost {
			all = append(all, f)
		}
	}
}

// TestWriter_Chunks: what moved by RDMA is in the messages where it belongs.
func TestWriter_Chunks(t *testing.T) {
	moved := tagged{}
	run := pipeline.New(pipeline.Options{}, moved)
	if err := run.Read(open(t, nfs)); err != nil {
		t.Fatal(err)
	}
	got, r := export(t, open(t, nfs))
	at := map[uint32]exported{}
	for _, e := range got {
		at[e.Frame] = e
	}
	for _, tt := range []struct {
		name           string
		frame          uint32 // that completed the message
		from, to       uint64 // frames that moved what belongs into it
		before, behind int    // octets of the Send
		octets         int
	}{
		{"read reply", 16, 9, 14, -1, 0, 6144},
		{"write call", 25, 20, 25, -1, 0, 8192},
		{"reply chunk", 32, 31, 31, 0, 0, 48},
		{"long call", 38, 36, 38, 0, 0, 4096},
		{"read of a compound", 52, 48, 50, -1, 32, 4000},
	} {
		e, data := at[tt.frame], moved.between(tt.from, tt.to)
		place := bytes.Index(e.octets, data)
		if len(data) != tt.octets || place < 0 || tt.before >= 0 && place != tt.before || len(e.octets) != place+len(data)+tt.behind || e.length != len(e.octets) || e.Dissector != "rpc" {
			t.Errorf("%s: %d octets of %s, %d of them moved, at %d of %d", tt.name, e.length, e.Dissector, len(data), place, len(e.octets))
		}
	}
	// The call that was refused with an error stands before the error.
	if e := at[42]; e.Dissector != "data" && e.Dissector != "rpc" || r.Cut != 1 {
		t.Errorf("%+v", r)
	}
}

// TestWriter_ChunksLost: a message of which a part was not captured ends there.
func TestWriter_ChunksLost(t *testing.T) {
	for _, lost := range []uint64{13, 22} { // a Write of a reply, a Read Response of a call
		got, r := export(t, tracetest.Source(frames(t, nfs, lost)))
		short := 0
		for _, e := range got {
			if e.Dissector == "rpc" && len(e.octets) < e.length {
				short++
			}
		}
		if short < 2 || r.Cut < 2 { // one is cut in the whole capture too
			t.Errorf("without frame %d: %d messages are cut, %+v", lost, short, r)
		}
	}
}

// TestPlaceOf: octets belong behind their number.
func TestPlaceOf(t *testing.T) {
	words := func(vs ...uint32) (b []byte) {
		for _, v := range vs {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	for _, tt := range []struct {
		words []uint32
		at    int
		ok    bool
	}{
		{[]uint32{1, 2, 100}, 12, true},
		{[]uint32{1, 100, 2, 100}, 16, true}, // a count, and the length of the octets
		{[]uint32{1, 100, 2}, 8, true},
		{[]uint32{1, 100, 100, 2}, 0, false},
		{[]uint32{1, 2}, 0, false},
		{nil, 0, false},
	} {
		if at, ok := placeOf(words(tt.words...), 100); ok != tt.ok || ok && at != tt.at {
			t.Errorf("%v: %d %v", tt.words, at, ok)
		}
	}
}

// TestCall_Assembled: read chunks stand at their positions, padded; behind a hole there is
// nothing.
func TestCall_Assembled(t *testing.T) {
	read := func(position int, data string, length int) *region {
		return &region{position: position, data: []byte(data), length: length}
	}
	for _, tt := range []struct {
		name   string
		reads  []*region
		inline string
		want   string
		length int
	}{
		{"at the end", []*region{read(8, "abcd", 4)}, "12345678", "12345678abcd", 12},
		{"inside", []*region{read(4, "abcde", 5)}, "12345678", "1234abcde\x00\x00\x005678", 16},
		{"of two segments", []*region{read(4, "abc", 3), read(4, "de", 2)}, "12345678", "1234abcde\x00\x00\x005678", 16},
		{"two", []*region{read(4, "abcd", 4), read(12, "efgh", 4)}, "12345678", "1234abcd5678efgh", 16},
		{"all", []*region{read(0, "abcdefgh", 8)}, "", "abcdefgh", 8},
		{"a hole", []*region{read(4, "ab", 4)}, "12345678", "1234ab", 12},
		{"behind the message", []*region{read(400, "abcd", 4)}, "1234", "1234abcd", 8},
	} {
		c := call{reads: tt.reads}
		b, length := c.assembled([]byte(tt.inline))
		if d := cmp.Diff(tt.want, string(b)); d != "" || length != tt.length {
			t.Errorf("%s: %d octets: %s", tt.name, length, d)
		}
	}
}

// TestWriter_ManyCalls: calls without replies make room for others, and are written.
func TestWriter_ManyCalls(t *testing.T) {
	w, err := New(io.Discard, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const many = maxCalls + 100
	for i := range uint32(many) {
		h := rpcrdma.Header{XID: i, Version: 1, Credits: 1, Proc: rpcrdma.ProcNoMsg}
		h.Lists = rpcrdma.NewLists([]rpcrdma.ReadSegment{{Segment: rpcrdma.Segment{Handle: i % 7, Length: 100, Offset: uint64(i)}}}, nil, nil)
		b := h.Append(nil)
		s := sent{conn: 1, octets: b, length: len(b), proto: rpcRDMA, frame: uint64(i)}
		if in := w.unwrap(&s); !in.waits {
			t.Fatalf("call %d: %+v", i, in)
		}
	}
	if len(w.chunks.calls) != maxCalls || w.Messages != 100 {
		t.Errorf("%d calls, %d written", len(w.chunks.calls), w.Messages)
	}
	if err := w.Close(); err != nil || w.held != 0 || w.Messages != many || len(w.chunks.regions)+len(w.chunks.reads) != 0 {
		t.Errorf("%v: %d octets, %d messages, %d regions, reads of %d", err, w.held, w.Messages, len(w.chunks.regions), len(w.chunks.reads))
	}
}

// TestWriter_Memory: calls with many segments stay within the memory that there is, and a number that
// comes again and again leaves nothing behind.
func TestWriter_Memory(t *testing.T) {
	const memory = 1 << 20
	w, err := New(io.Discard, Options{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	reads := make([]rpcrdma.ReadSegment, maxRegions)
	for i := range uint32(3 * maxCalls) {
		for j := range reads {
			reads[j].Handle, reads[j].Length = i<<8|uint32(j), 100
		}
		h := rpcrdma.Header{XID: i, Version: 1, Credits: 1, Proc: rpcrdma.ProcNoMsg}
		if h.Lists = rpcrdma.NewLists(reads, nil, nil); i > 1000 { // one call over and over
			h.XID, h.Lists = 7, rpcrdma.NewLists(reads[:1], nil, nil)
		}
		b := h.Append(nil)
		s := sent{conn: 1, octets: b, length: len(b), proto: rpcRDMA, frame: uint64(i)}
		w.unwrap(&s)
		if w.held > memory+len(b) || len(w.chunks.order) > 2*maxCalls+1 {
			t.Fatalf("call %d: %d octets, %d calls are remembered", i, w.held, len(w.chunks.order))
		}
	}
	if err := w.Close(); err != nil || w.held != 0 {
		t.Errorf("%v: %d octets", err, w.held)
	}
}

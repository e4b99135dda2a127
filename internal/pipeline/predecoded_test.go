package pipeline_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"hash/fnv"
	"io"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// TestRun_Predecoded: packets that are decoded before their turn make no difference.
func TestRun_Predecoded(t *testing.T) {
	bulk := scenario.Shape{Size: uint64(tracetest.Count(3<<19, 2<<20, 2<<20)), Flows: 12, Seed: 1, Mix: scenario.Bulk}
	with := func(change func(*scenario.Shape)) scenario.Shape {
		l := bulk
		change(&l)
		return l
	}
	for i, tt := range []struct {
		name        string
		shape       scenario.Shape
		connections int // at most
		numbers     int
		shard       packet.Shard
		again       bool // all of it comes twice, so that the ports are used again
	}{
		{name: "bulk", shape: bulk},
		{name: "mixed", shape: with(func(l *scenario.Shape) { l.Mix = 0 })},
		{name: "IPv6 and VLAN", shape: with(func(l *scenario.Shape) { l.IPv6, l.VLAN = true, 7 })},
		{name: "lossy", shape: with(func(l *scenario.Shape) { l.Loss, l.Reorder = 0.02, 0.02 })},
		{name: "SCTP", shape: with(func(l *scenario.Shape) { l.SCTP = true })},
		{name: "a part of them", shape: bulk, shard: packet.Shard{K: 1, N: 3}, again: true},
		{name: "a part of them, many", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), numbers: 64, shard: packet.Shard{K: 2, N: 3}},
		{name: "a part of them, SCTP", shape: with(func(l *scenario.Shape) { l.SCTP = true }), shard: packet.Shard{K: 0, N: 3}},
		{name: "ports again", shape: bulk, again: true},
		{name: "evicted", shape: bulk, connections: 5, again: true},
		{name: "many connections", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), numbers: 64},
		{name: "many connections, evicted", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), numbers: 64, connections: 200, again: true},
	} {
		var octets bytes.Buffer
		if _, err := synth.Run(&octets, scenario.Load(tt.shape)); err != nil {
			t.Fatal(err)
		}
		formats := []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG}
		for _, format := range tracetest.Raced(formats, formats[i%2:i%2+1]) {
			for _, sums := range []bool{false, true} {
				if !tracetest.Campaign() && sums != (format == pcapng.PCAPNG) {
					continue
				}
				t.Run(fmt.Sprintf("%s, %v, checksums %v", tt.name, format, sums), func(t *testing.T) {
					t.Parallel()
					file := filepath.Join(t.TempDir(), "load")
					onDisk(t, file, rewrite(t, octets.Bytes(), format, tt.again)).Close()
					opt := pipeline.Options{MaxConnections: tt.connections, Sums: sums, Shard: tt.shard}
					want, _ := predecoded(t, file, opt, 1)
					opt.ReadAhead = true
					got, known := predecoded(t, file, opt, cmp.Or(tt.numbers, 1<<12))
					if got != want {
						t.Errorf("the records are\n%.600s\nwant\n%.600s", got, want)
					}
					opt.ReadAhead = false
					if want, got := shownFrames(t, file, opt), shownFrames(t, file, readAhead(opt)); got != want {
						t.Errorf("the frames are\n%.600s\nwant\n%.600s", got, want)
					}
					if (known > 0) == tt.shape.SCTP || tt.numbers > 0 && known > tt.numbers {
						t.Errorf("%d connections were known by number", known)
					}
				})
			}
		}
	}
}

func readAhead(opt pipeline.Options) pipeline.Options {
	opt.ReadAhead = true
	return opt
}

// shownFrames are the frames that are told before and after they were taken in.
func shownFrames(t *testing.T, file string, opt pipeline.Options) string {
	t.Helper()
	f, err := capture.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &frameHashes{hash: fnv.New64a()}
	looked, wrong := 0, 0
	opt.Look = lookAt
	opt.Opened = func(f *pipeline.Frame) {
		s.add(f)
		if f.HasLooked {
			looked++
			if f.Looked != lookAt(f) {
				wrong++
			}
		}
	}
	r := pipeline.New(opt, s)
	r.NoteAlways()
	if err := r.Read(f); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	if wrong > 0 || (looked > 0) != (opt.ReadAhead && r.Totals().SCTP == 0) {
		t.Errorf("%d frames were looked at before, %d of them with another result", looked, wrong)
	}
	return fmt.Sprintf("%d frames, %x", s.n, s.hash.Sum64())
}

// lookAt says something of a frame by its octets and headers alone.
func lookAt(f *pipeline.Frame) uint64 {
	return crc64.Checksum(f.Data, crc64.MakeTable(crc64.ECMA)) ^ uint64(f.Packet.Seq)<<32 ^ uint64(f.Packet.SegmentOffset)
}

// frameHashes hashes what it is told of frames.
type frameHashes struct {
	hash hash.Hash64
	n    int
}

// PDU implements [trace.Sink].
func (*frameHashes) PDU(*trace.PDU) {}

// Transaction implements [trace.Sink].
func (*frameHashes) Transaction(*trace.Transaction) {}

// Gap implements [trace.Sink].
func (*frameHashes) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (s *frameHashes) Frame(f *pipeline.Frame) { s.add(f) }

func (s *frameHashes) add(f *pipeline.Frame) {
	s.n++
	own := *f
	conn := uint64(0)
	if f.Conn != nil {
		conn = f.Conn.Number
	}
	own.Packet, own.Conn, own.Data, own.Looked, own.HasLooked = nil, nil, nil, 0, false
	p := *f.Packet
	p.Options, p.Payload, p.Segment = nil, nil, nil
	fmt.Fprintf(s.hash, "%+v %+v %d\n", own, p, conn)
	for _, b := range [][]byte{f.Data, f.Packet.Options, f.Packet.Payload, f.Packet.Segment} {
		s.hash.Write(b)
	}
}

// predecoded reads a file, with at most so many endpoints distinguished if it is read ahead.
func predecoded(t *testing.T, file string, opt pipeline.Options, numbers int) (out string, known int) {
	t.Helper()
	f, err := capture.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := pipeline.New(opt, nil)
	r.NoteAlways()
	r.SetMaxNumbers(numbers)
	r.SetManyFlows(1)
	if err := r.Read(f); err != nil {
		t.Fatal(err)
	}
	known = r.Known()
	out = records(r)
	return fmt.Sprintf("%s%+v\n", out, r.Totals()), known
}

// rewrite writes the frames of a capture in a format, once or twice.
func rewrite(t *testing.T, octets []byte, format pcapng.Format, again bool) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Format: format, Link: pcapng.Ethernet, Nano: true})
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for range 1 + map[bool]int{true: 1}[again] {
		r, err := pcapng.NewReader(bytes.NewReader(octets))
		if err != nil {
			t.Fatal(err)
		}
		shift := last
		for {
			var rec pcapng.Record
			if err := r.Next(&rec); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if shift > 0 {
				rec.Time += shift - 1_600_000_000e9
			}
			last = rec.Time + 1e9
			if err := w.WritePacket(&rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/crc32c"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// These tests keep the speed from decaying. What they compare does not depend on
// the machine: a ratio of two pieces of work that run in turn, allocations, counts.

// framing frames FPDUs that fill segments, verifies their CRCs and reads their
// headers.
func framing(segments [][]byte) func() int {
	var d mpa.Decoder
	var f mpa.FPDU
	var g ddp.Segment
	cfg := mpa.Config{Markers: mpa.No, CRC: mpa.Yes, Start: true, Trusted: true, Grammar: &mpa.Grammar{
		Quick:   func(byte, byte) bool { return true },
		Light:   func([]byte, int) bool { return true },
		Strict:  func([]byte, int) bool { return true },
		Follows: func([]byte, int, []byte) bool { return true },
	}}
	return func() (n int) {
		d.Reset(cfg, 0)
		for _, b := range segments {
			p := &f
			if !d.Whole(b, 0, nil, &f) {
				if d.Write(b); d.Next() != mpa.Got {
					continue
				}
				p = d.FPDU
			}
			if ddp.DecodeTo(&g, p.Head) == nil && rdmap.ControlOf(g.RsvdULP).Opcode == rdmap.OpWrite && p.CRCStatus == mpa.CRCGood {
				n++
			}
			if p != &f {
				d.Next() // which says that there is no more
			}
		}
		return n
	}
}

// crcOnly is the part of that which cannot be left out.
func crcOnly(segments [][]byte) func() int {
	return func() (n int) {
		for _, b := range segments {
			at := len(b) - 4
			if crc32c.Checksum(b[:at]) == binary.LittleEndian.Uint32(b[at:]) {
				n++
			}
		}
		return n
	}
}

// cached is as many segments as stay in the second-level cache.
func cached(size int) [][]byte { return steady(false, (512<<10)/size, size-6, 0).payload }

// slowCRC has CRCs computed by hash/crc32, see internal/crc32c.
const slowCRC = "cpu.avx512f=off,cpu.avx2=off"

// TestGuard_Framing: framing, CRC and headers cost little more than the CRC alone.
// The least of many short turns counts, so that other work on the machine does not. It
// measures in a process of its own, with hash/crc32: how much faster the CRC is where
// the processor can more is not the same on all machines.
func TestGuard_Framing(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	if os.Getenv("GODEBUG") != slowCRC {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGuard_Framing$", "-test.v")
		cmd.Env = append(os.Environ(), "GODEBUG="+slowCRC)
		out, err := cmd.CombinedOutput()
		if t.Logf("%s", out); err != nil || !bytes.Contains(out, []byte("--- PASS: TestGuard_Framing")) {
			t.Errorf("it did not pass: %v", err)
		}
		return
	}
	for _, c := range []struct {
		size  int
		bound float64
	}{{1448, 1.8}, {8948, 1.25}} {
		segments := cached(c.size)
		all, crc := framing(segments), crcOnly(segments)
		ratio := 0.0
		for range 20 { // a machine may be busy for as long as one of them takes
			least := [2]time.Duration{time.Hour, time.Hour}
			for range 300 {
				for i, f := range [...]func() int{all, crc} {
					begin := time.Now()
					if n := f(); n != len(segments) {
						t.Fatalf("%d FPDUs of %d octets are right, of %d", n, c.size, len(segments))
					}
					least[i] = min(least[i], time.Since(begin))
				}
			}
			ratio = float64(least[0]) / float64(least[1])
			if ratio <= c.bound {
				break
			}
		}
		t.Logf("%d octets: %.2f", c.size, ratio)
		if ratio > c.bound {
			t.Errorf("FPDUs of %d octets take %.2f times what their CRC takes, more than %.2f", c.size, ratio, c.bound)
		}
	}
}

func BenchmarkFraming(b *testing.B) { benchmark(b, framing) }

// BenchmarkFramingCRCOnly is to be compared with BenchmarkFraming.
func BenchmarkFramingCRCOnly(b *testing.B) { benchmark(b, crcOnly) }

func benchmark(b *testing.B, work func([][]byte) func() int) {
	for _, size := range []int{1448, 8948} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			segments := cached(size)
			f := work(segments)
			b.SetBytes(int64(len(segments) * size))
			b.ReportAllocs()
			for b.Loop() {
				if f() != len(segments) {
					b.Fatal("not all are right")
				}
			}
		})
	}
}

// nobody hears the findings.
type nobody struct{ *conformance.Engine }

func (nobody) Frame(*pipeline.Frame) {}

// TestGuard_Allocations: with the rules, too, nothing is allocated for a packet or
// an FPDU in order; what a run keeps of them grows in rare steps.
func TestGuard_Allocations(t *testing.T) {
	tracetest.UnlessRaced(t)
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			s := steady(shape.markers, 12_000, shape.ulpdu, shape.spanning)
			run := pipeline.New(pipeline.Options{Brief: true, Sums: true}, nobody{conformance.New(conformance.Options{}, nil)})
			for i := range s.prelude {
				run.Frame(&s.prelude[i])
			}
			warm := len(s.data) * 3 / 4 // by then a message and the history are as long as they get
			for i := range warm {
				run.Frame(&s.data[i])
			}
			rest := s.data[warm:]
			i := 0
			if n := testing.AllocsPerRun(len(rest)-2, func() { run.Frame(&rest[i]); i++ }); n != 0 {
				t.Errorf("%v allocations a packet", n)
			}
		})
	}
}

// TestGuard_Found: every FPDU is found and no CRC is wrong, with the work divided
// among processors and without.
func TestGuard_Found(t *testing.T) {
	for _, shape := range shapes {
		for _, ahead := range []bool{true, false}[:tracetest.Raced(2, 1)] {
			t.Run(fmt.Sprintf("%s, read ahead %v", shape.name, ahead), func(t *testing.T) {
				const count = 3000
				s := steady(shape.markers, count, shape.ulpdu, shape.spanning)
				path := filepath.Join(t.TempDir(), "capture.pcap")
				save(t, path, s)
				f, err := capture.Open(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				run := pipeline.New(pipeline.Options{Brief: true, ReadAhead: ahead, Sums: true}, nobody{conformance.New(conformance.Options{}, noFinding{t})})
				run.SetManyFlows(1)
				if err := run.Read(f); err != nil {
					t.Fatal(err)
				}
				cs := run.Finish().Collect()
				if len(cs) != 1 || cs[0].Flow[0].FPDUs != count || cs[0].Flow[0].CRCGood != count {
					t.Fatalf("not all FPDUs were found, or not all are right: %+v", cs)
				}
			})
		}
	}
}

// noFinding fails on findings of an error.
type noFinding struct{ *testing.T }

func (t noFinding) Connection(_ *trace.Connection, findings []conformance.Finding, _ []conformance.Judgement) {
	for i := range findings {
		if f := &findings[i]; f.Severity == conformance.Error {
			t.Errorf("%s: %s", f.Rule.ID, f.Message)
		}
	}
}

// save writes a stream as a capture file.
func save(t *testing.T, path string, s *stream) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := pcapng.NewWriter(out, pcapng.WriterOptions{Format: pcapng.PCAP, Link: pcapng.Ethernet})
	if err != nil {
		t.Fatal(err)
	}
	for _, frames := range [...][]capture.Frame{s.prelude, s.data} {
		for i := range frames {
			f := &frames[i]
			if err := w.WritePacket(&pcapng.Record{Time: f.Time, Link: f.Link, Data: f.Data, OrigLen: f.OrigLen}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

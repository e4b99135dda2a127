package pipeline_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// TestRun_Predecoded: packets that are decoded before their turn make no difference.
func TestRun_Predecoded(t *testing.T) {
	bulk := scenario.Shape{Size: 2 << 20, Flows: 12, Seed: 1, Mix: scenario.Bulk}
	with := func(change func(*scenario.Shape)) scenario.Shape {
		l := bulk
		change(&l)
		return l
	}
	for _, tt := range []struct {
		name        string
		shape       scenario.Shape
		connections int // at most
		numbers     int
		again       bool // all of it comes twice, so that the ports are used again
	}{
		{name: "bulk", shape: bulk},
		{name: "mixed", shape: with(func(l *scenario.Shape) { l.Mix = 0 })},
		{name: "IPv6 and VLAN", shape: with(func(l *scenario.Shape) { l.IPv6, l.VLAN = true, 7 })},
		{name: "lossy", shape: with(func(l *scenario.Shape) { l.Loss, l.Reorder = 0.02, 0.02 })},
		{name: "SCTP", shape: with(func(l *scenario.Shape) { l.SCTP = true })},
		{name: "ports again", shape: bulk, again: true},
		{name: "evicted", shape: bulk, connections: 5, again: true},
		{name: "many connections", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), numbers: 64},
		{name: "many connections, evicted", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), numbers: 64, connections: 200, again: true},
	} {
		var octets bytes.Buffer
		if _, err := synth.Run(&octets, scenario.Load(tt.shape)); err != nil {
			t.Fatal(err)
		}
		for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
			for _, sums := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, checksums %v", tt.name, format, sums), func(t *testing.T) {
					t.Parallel()
					file := filepath.Join(t.TempDir(), "load")
					onDisk(t, file, rewrite(t, octets.Bytes(), format, tt.again)).Close()
					opt := pipeline.Options{MaxConnections: tt.connections, Sums: sums}
					want, _ := predecoded(t, file, opt, 1)
					opt.ReadAhead = true
					got, known := predecoded(t, file, opt, cmp.Or(tt.numbers, 1<<12))
					if got != want {
						t.Errorf("the records are\n%.600s\nwant\n%.600s", got, want)
					}
					if (known > 0) == tt.shape.SCTP || tt.numbers > 0 && known > tt.numbers {
						t.Errorf("%d connections were known by number", known)
					}
				})
			}
		}
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

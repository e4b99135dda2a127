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

// TestLookout: packets that are decoded before they are read make no difference.
func TestLookout(t *testing.T) {
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
		tuples      int
		again       bool // all of it comes twice, so that the ports are used again
	}{
		{name: "bulk", shape: bulk},
		{name: "mixed", shape: with(func(l *scenario.Shape) { l.Mix = 0 })},
		{name: "IPv6 and VLAN", shape: with(func(l *scenario.Shape) { l.IPv6, l.VLAN = true, 7 })},
		{name: "lossy", shape: with(func(l *scenario.Shape) { l.Loss, l.Reorder = 0.02, 0.02 })},
		{name: "SCTP", shape: with(func(l *scenario.Shape) { l.SCTP = true })},
		{name: "ports again", shape: bulk, again: true},
		{name: "evicted", shape: bulk, connections: 5, again: true},
		{name: "many connections", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), tuples: 64},
		{name: "many connections, evicted", shape: with(func(l *scenario.Shape) { l.Flows = 300 }), tuples: 64, connections: 200, again: true},
	} {
		var octets bytes.Buffer
		if _, err := synth.Run(&octets, scenario.Load(tt.shape)); err != nil {
			t.Fatal(err)
		}
		for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
			for _, hopeful := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, hopeful %v", tt.name, format, hopeful), func(t *testing.T) {
					t.Parallel()
					file := filepath.Join(t.TempDir(), "load")
					onDisk(t, file, rewrite(t, octets.Bytes(), format, tt.again)).Close()
					opt := pipeline.Options{MaxConnections: tt.connections, Sums: hopeful}
					want, _ := look(t, file, opt, 0)
					opt.Hopeful = hopeful
					got, known := look(t, file, opt, cmp.Or(tt.tuples, 1<<12))
					if got != want {
						t.Errorf("the records are\n%.600s\nwant\n%.600s", got, want)
					}
					if (known > 0) == tt.shape.SCTP || tt.tuples > 0 && known > tt.tuples {
						t.Errorf("%d connections were known early", known)
					}
				})
			}
		}
	}
}

// look reads a file with at most so many tuples, 0: nothing is decoded early.
func look(t *testing.T, file string, opt pipeline.Options, tuples int) (out string, known int) {
	t.Helper()
	open := capture.Open
	if tuples == 0 {
		open = capture.OpenDirect
	}
	f, err := open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := pipeline.New(opt, nil)
	r.LookAlways()
	r.SetMaxTuples(tuples)
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

package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// TestRun_Hopeful: with CRCs verified behind the run the records are the same,
// and a wrong one anywhere is found out.
func TestRun_Hopeful(t *testing.T) {
	bulk := scenario.Shape{Size: 4 << 20, Flows: 8, Seed: 1, Mix: scenario.Bulk}
	with := func(change func(*scenario.Shape)) scenario.Shape {
		l := bulk
		change(&l)
		return l
	}
	for name, l := range map[string]scenario.Shape{
		"mixed":          {Size: 6 << 20, Flows: 8, Seed: 1},
		"bulk":           bulk,
		"markers":        with(func(l *scenario.Shape) { l.Markers = true }),
		"spanning":       with(func(l *scenario.Shape) { l.FPDU = 16 << 10 }),
		"loss":           with(func(l *scenario.Shape) { l.Loss, l.Reorder = 0.02, 0.02 }),
		"all of it":      with(func(l *scenario.Shape) { l.Loss, l.Reorder, l.FPDU, l.Markers = 0.02, 0.02, 9000, true }),
		"SCTP":           with(func(l *scenario.Shape) { l.SCTP = true }),
		"lossy SCTP":     with(func(l *scenario.Shape) { l.SCTP, l.Loss, l.Reorder = true, 0.02, 0.02 }),
		"lossy spanning": with(func(l *scenario.Shape) { l.Loss, l.Reorder, l.FPDU = 0.02, 0.02, 16<<10 }),
	} {
		for _, sums := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, checksums %v", name, sums), func(t *testing.T) {
				t.Parallel()
				hopefully(t, l, sums)
			})
		}
	}
}

func hopefully(t *testing.T, l scenario.Shape, sums bool) {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, scenario.Load(l)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "load.pcap")
	run := func(octets []byte, hopeful bool) (string, error) {
		f := onDisk(t, file, octets)
		defer f.Close()
		r := pipeline.New(pipeline.Options{Hopeful: hopeful, Sums: sums}, nil)
		err := r.Read(f)
		return records(r), err
	}
	want, err := run(b.Bytes(), false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run(b.Bytes(), true); err != nil || got != want {
		t.Errorf("hopeful: %v, and the records are\n%.500s\nwant\n%.500s", err, got, want)
	}
	// A wrong checksum over right octets.
	torn := bytes.Clone(b.Bytes())
	torn[checksumAt(t, torn, 3000, l.SCTP)] ^= 1
	switch _, err := run(torn, true); {
	case l.SCTP && !errors.Is(err, pipeline.ErrBadCRC), !l.SCTP && sums && !errors.Is(err, pipeline.ErrBadCRC), !l.SCTP && !sums && err != nil:
		t.Errorf("a wrong checksum: %v", err)
	}
	// Damage at the front, in the middle, at the end.
	whole, found := b.Bytes(), 0
	for _, at := range []int{len(whole) / 100, len(whole) / 2, len(whole) * 98 / 100} {
		torn := bytes.Clone(whole)
		for i := at; i < at+3000; i += 700 {
			torn[i] ^= 1 // in one of them at least this is payload
		}
		serial, err := run(torn, false)
		if err != nil || serial == want {
			continue
		}
		// What was verified at once is told as ever.
		if got, err := run(torn, true); !errors.Is(err, pipeline.ErrBadCRC) && (err != nil || got != serial) {
			t.Errorf("a wrong CRC near octet %d of %d: %v", at, len(whole), err)
		}
		found++
	}
	if found < 2 {
		t.Errorf("the damage did not show %d times of 3", 3-found)
	}
}

// records are those of a run, as text.
func records(r *pipeline.Run) string {
	var out strings.Builder
	for _, c := range r.Finish() {
		c.ReadLatency, c.AtomicLatency, c.Side[0].SCTP, c.Side[1].SCTP = nil, nil, nil, nil
		for i := range c.Flow {
			fmt.Fprintf(&out, "%+v %+v\n", c.Flow[i].Ops, c.Flow[i].Faults())
			c.Flow[i].Ops, c.Flow[i].Wrong, c.Flow[i].FIN, c.Flow[i].RST = nil, nil, nil, nil
		}
		fmt.Fprintf(&out, "%+v\n", *c)
	}
	return out.String()
}

// onDisk opens a capture that it writes to a file: only files are read ahead.
func onDisk(t *testing.T, file string, octets []byte) *capture.File {
	t.Helper()
	if err := os.WriteFile(file, octets, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := capture.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checksumAt is where the checksum of a packet stands in a pcapng file, the first with
// data from frame on.
func checksumAt(t *testing.T, octets []byte, frame uint64, overSCTP bool) int64 {
	t.Helper()
	f := onDisk(t, filepath.Join(t.TempDir(), "look.pcap"), octets)
	defer f.Close()
	const block, ethernet, ip, inTCP, inSCTP = 28, 14, 20, 16, 8
	in := int64(inTCP)
	if overSCTP {
		in = inSCTP
	}
	for {
		var fr capture.Frame
		if err := f.Next(&fr); err != nil {
			t.Fatal(err)
		}
		if fr.Number >= frame && len(fr.Data) > 200 {
			return fr.Pos + block + ethernet + ip + in
		}
	}
}

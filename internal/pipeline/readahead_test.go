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
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// TestRun_ReadAhead: with CRCs and checksums verified by the goroutine that reads, the
// records are the same, also with damage anywhere.
func TestRun_ReadAhead(t *testing.T) {
	bulk := scenario.Shape{Size: uint64(tracetest.Count(3<<19, 4<<20, 4<<20)), Flows: 8, Seed: 1, Mix: scenario.Bulk}
	with := func(change func(*scenario.Shape)) scenario.Shape {
		l := bulk
		change(&l)
		return l
	}
	for name, l := range map[string]scenario.Shape{
		"mixed":          with(func(l *scenario.Shape) { l.Size, l.Mix = l.Size*3/2, 0 }),
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
				damaged(t, l, sums)
			})
		}
	}
}

func damaged(t *testing.T, l scenario.Shape, sums bool) {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, scenario.Load(l)); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	want := same(t, "nothing is damaged", whole, sums)
	// A wrong checksum over right octets.
	torn := bytes.Clone(whole)
	torn[checksumAt(t, torn, uint64(tracetest.Count(500, 3000, 3000)), l.SCTP)] ^= 1
	if same(t, "a wrong checksum", torn, sums) == want && (sums || l.SCTP) {
		t.Error("the wrong checksum did not show")
	}
	// Damage at the front, in the middle, at the end, and the end cut off.
	found := 0
	for _, at := range []int{len(whole) / 100, len(whole) / 2, len(whole) * 98 / 100} {
		torn := bytes.Clone(whole)
		for i := at; i < at+3000; i += 700 {
			torn[i] ^= 1 // in one of them at least this is payload
		}
		if same(t, fmt.Sprintf("damage near octet %d", at), torn, sums) != want {
			found++
		}
	}
	if found < 2 {
		t.Errorf("the damage did not show %d times of 3", 3-found)
	}
	same(t, "cut", whole[:len(whole)-4711], sums)
}

// same reads a capture ahead and without, and returns the records, which must not differ.
func same(t *testing.T, what string, octets []byte, sums bool) string {
	t.Helper()
	want := read(t, octets, pipeline.Options{Sums: sums})
	if got := read(t, octets, pipeline.Options{Sums: sums, ReadAhead: true}); got != want {
		t.Errorf("%s: the records are\n%.500s\nwant\n%.500s", what, got, want)
	}
	return want
}

// read is what a run says of a capture.
func read(t *testing.T, octets []byte, opt pipeline.Options) string {
	t.Helper()
	f := onDisk(t, filepath.Join(t.TempDir(), "load.pcapng"), octets)
	defer f.Close()
	var damage []string
	opt.OnError = func(err error) { damage = append(damage, bare(err)) }
	r := pipeline.New(opt, nil)
	if opt.ReadAhead {
		r.NoteAlways()
		r.SetManyFlows(1)
	}
	err := r.Read(f)
	out := records(r)
	return fmt.Sprintf("%s%+v\n%q, %v", out, r.Totals(), damage, bare(err))
}

// bare is an error without the name of the file.
func bare(err error) string {
	var e *capture.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%s at %d: %v", e.Code, e.Pos, e.Err)
}

// records are those of a run, as text.
func records(r *pipeline.Run) string { return recordsOf(r.Finish()) }

func recordsOf(l *ended.List) string {
	var out strings.Builder
	for _, c := range l.Collect() {
		c.ReadLatency, c.AtomicLatency, c.Side[0].SCTP, c.Side[1].SCTP = nil, nil, nil, nil
		for i, x := range c.Terminates {
			if x != nil {
				fmt.Fprintf(&out, "%+v\n", *x)
			}
			c.Terminates[i] = nil
		}
		if k := c.HalfOpen; k != nil {
			fmt.Fprintf(&out, "%+v\n", *k)
			c.HalfOpen = nil
		}
		for i := range c.Flow {
			if c.Flow[i].Waits == nil {
				c.Flow[i].Waits = new(trace.Waits)
			}
			rare := c.Flow[i].Rare()
			rare.Held, rare.Wrong = nil, nil // they follow
			fmt.Fprintf(&out, "%+v %+v %+v %+v %+v\n", c.Flow[i].Ops, rare, c.Flow[i].Faults(), c.Flow[i].Delays(), *c.Flow[i].Waits)
			c.Flow[i].Ops, c.Flow[i].FIN, c.Flow[i].RST = nil, nil, nil
			c.Flow[i].Waits, c.Flow[i].Seldom = nil, nil
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

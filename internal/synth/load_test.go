package synth_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// BenchmarkRun_Load makes a big trace and throws it away.
func BenchmarkRun_Load(b *testing.B) {
	const size = 64 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := synth.Run(io.Discard, scenario.Load(scenario.Shape{Size: size, Flows: 16, Seed: 1})); err != nil {
			b.Fatal(err)
		}
	}
}

// What comes out does not depend on how many processors there are, and it is a
// capture in the order of time.
func TestRun_Shards(t *testing.T) {
	for name, l := range map[string]scenario.Shape{
		"mixed": {Size: 2 << 20, Flows: 50, Seed: 3},
		"bulk":  {Size: 2 << 20, Flows: 50, Seed: 3, Mix: scenario.Bulk},
		"chance": {
			Size: 2 << 20, Flows: 50, Seed: 3, Mix: scenario.Bulk, Loss: 0.01, Reorder: 0.01,
		},
		"SCTP": {Size: 2 << 20, Flows: 50, Seed: 3, Loss: 0.01, SCTP: true},
	} {
		t.Run(name, func(t *testing.T) { shardsAgree(t, l) })
	}
}

func shardsAgree(t *testing.T, l scenario.Shape) {
	t.Helper()
	var want []byte
	for _, n := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(n)
		var b bytes.Buffer
		st, err := synth.Run(&b, scenario.Load(l))
		runtime.GOMAXPROCS(before)
		if err != nil || st.Stalled != 0 {
			t.Fatalf("%+v, %v", st, err)
		}
		if want == nil {
			want = b.Bytes()
			fs := frames(t, want)
			for i := 1; i < len(fs); i++ {
				if fs[i].Time < fs[i-1].Time {
					t.Fatalf("frame %d is before the one in front of it", i+1)
				}
			}
			r := tracerun.Run(t, pipeline.Options{}, fs)
			if len(r.Conns) != 50 || len(r.Gaps) != 0 || uint64(len(fs)) != st.Frames {
				t.Errorf("%d connections, %d gaps, %d frames of %d", len(r.Conns), len(r.Gaps), len(fs), st.Frames)
			}
			segments := uint64(0)
			for _, p := range r.PDUs {
				if p.Kind == trace.KindFPDU || p.Kind == trace.KindSCTPSegment {
					segments++
				}
			}
			if segments != st.Segments {
				t.Errorf("%d segments of %d", segments, st.Segments)
			}
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("with %d processors it is another capture", n)
		}
	}
}

// full is a disk that is full after some octets.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestRun_WriteError(t *testing.T) {
	for _, s := range []*synth.Script{scenario.Load(scenario.Shape{Size: 8 << 20, Flows: 8, Seed: 1}), scripts.Random(1)} {
		if _, err := synth.Run(&full{left: 1000}, s); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%v", err)
		}
	}
}

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
)

// BenchmarkRun_Load makes a big trace and throws it away.
func BenchmarkRun_Load(b *testing.B) {
	const size = 64 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := synth.Run(io.Discard, scenario.Load(size, 16, 1)); err != nil {
			b.Fatal(err)
		}
	}
}

// What comes out does not depend on how many processors there are, and it is a
// capture in the order of time.
func TestRun_Shards(t *testing.T) {
	var want []byte
	for _, n := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(n)
		var b bytes.Buffer
		st, err := synth.Run(&b, scenario.Load(2<<20, 50, 3))
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
	for _, s := range []*synth.Script{scenario.Load(8<<20, 8, 1), scripts.Random(1)} {
		if _, err := synth.Run(&full{left: 1000}, s); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%v", err)
		}
	}
}

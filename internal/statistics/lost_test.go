package statistics

import (
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// without is a source that lacks a frame.
type without struct {
	capture.Source
	frame, at uint64
}

func (s *without) Next(f *capture.Frame) error {
	if s.at++; s.at == s.frame {
		if err := s.Source.Next(f); err != nil {
			return err
		}
	}
	return s.Source.Next(f)
}

// lacking gathers statistics of a capture that lacks a frame, 0 for none.
func lacking(t *testing.T, path string, frame uint64, args ...string) *Run {
	t.Helper()
	src, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	set, err := Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	r := set.Gather(Only{})
	run := pipeline.New(pipeline.Options{Saw: r.Saw}, r)
	if err := run.Read(&without{Source: src, frame: frame}); err != nil {
		t.Fatal(err)
	}
	run.Finish()
	return r
}

// TestDepth_Lost: whichever packet is missing from the capture, no statistic tells of more requests that waited at
// once, or for longer, than did.
func TestDepth_Lost(t *testing.T) {
	for _, name := range []string{"rping-rev2-crc.pcap", "probe-read-ord1-serialized.pcap"} {
		path := filepath.Join("../../testdata/pcaps", name)
		whole := lacking(t, path, 0, "rdma,depth").taps[0].(*depths).conns.rows
		frames := uint64(0)
		count(t, path, &frames)
		for frame := uint64(1); frame <= frames; frame++ {
			d := lacking(t, path, frame, "rdma,depth").taps[0].(*depths)
			for i := range d.conns.rows {
				for dir := range d.conns.rows[i].dirs {
					if i >= len(whole) {
						continue
					}
					got, most := &d.conns.rows[i].dirs[dir], &whole[i].dirs[dir]
					if got.most > most.most || got.beyond > most.beyond || got.requests > most.requests || got.requests+2 < most.requests || got.busy > most.busy+most.busy/4 {
						t.Errorf("%s without frame %d, %v: at most %d, %d above, %d requests, %d ns; whole: %d, %d, %d, %d ns",
							name, frame, trace.Dir(dir), got.most, got.beyond, got.requests, got.busy, most.most, most.beyond, most.requests, most.busy)
					}
				}
			}
		}
	}
}

// count counts the frames of a capture.
func count(t *testing.T, path string, n *uint64) {
	t.Helper()
	src, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var f capture.Frame
	for src.Next(&f) == nil {
		*n++
	}
}

// TestSRT_Lost: whichever packet is missing from the capture, no Send or Read took longer, or shorter, than any did.
func TestSRT_Lost(t *testing.T) {
	path := filepath.Join("../../testdata/pcaps", "rping-rev2-crc.pcap")
	whole := lacking(t, path, 0, "rdma,srt").taps[0].(*rdmaTimes)
	frames := uint64(0)
	count(t, path, &frames)
	for frame := uint64(1); frame <= frames; frame++ {
		r := lacking(t, path, frame, "rdma,srt").taps[0].(*rdmaTimes)
		for _, op := range []int{opRead, opSends} {
			got, all := &r.all[op], &whole.all[op]
			if got.Count+2 < all.Count || got.Count > all.Count || got.Min < all.Min || got.Max > all.Max {
				t.Errorf("without frame %d: %d %s of %d ns to %d ns; whole: %d of %d ns to %d ns", frame, got.Count, r.ops[op], got.Min, got.Max, all.Count, all.Min, all.Max)
			}
		}
	}
}

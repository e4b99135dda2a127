package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// TestSharder: of each capture, the frames that are kept for a shard give the shard what all frames
// give it: connections, PDUs, octets. Fragments of IP are kept for all.
func TestSharder(t *testing.T) {
	const n = 3
	type found struct {
		Connections, IWARP, PDUs, TCP, SCTP uint64
		FPDUs, Good, Chunks, Gaps           uint64
	}
	fragments := 0
	check := func(name string, fs []capture.Frame) {
		by := pipeline.NewSharder(n)
		kept := make([][]capture.Frame, n)
		for i := range fs {
			switch shard, all := by.Of(&fs[i]); {
			case all:
				fragments++
				for k := range kept {
					kept[k] = append(kept[k], fs[i])
				}
			default:
				kept[shard] = append(kept[shard], fs[i])
			}
		}
		for k := range kept {
			run := func(fs []capture.Frame) (f found) {
				r := pipeline.New(pipeline.Options{Shard: pipeline.Shard{K: uint32(k), N: n}}, nil)
				for i := range fs {
					r.Frame(&fs[i])
				}
				for _, c := range r.Finish().Collect() {
					for d := range c.Flow {
						w := &c.Flow[d]
						f.FPDUs, f.Good, f.Chunks, f.Gaps = f.FPDUs+w.FPDUs, f.Good+w.CRCGood, f.Chunks+w.Rare().Chunks, f.Gaps+w.Rare().Gaps
					}
				}
				t := r.Totals()
				f.Connections, f.IWARP, f.PDUs, f.TCP, f.SCTP = t.Connections, t.IWARP, t.PDUs, t.TCP, t.SCTP
				return f
			}
			if d := cmp.Diff(run(fs), run(kept[k])); d != "" {
				t.Errorf("%s, shard %d: %s", name, k, d)
			}
		}
	}
	tracerun.Captures(t, "../..", check)
	tracerun.LegalScenarios(t, 1, check)
	if fragments == 0 {
		t.Error("no capture has fragments")
	}
}

package tracetest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/trace"
)

// Part is what a capture has of a trace: what its tap did not see is missing.
type Part struct {
	// From and To are the first frame, and the one behind the last; To 0: all.
	From, To int
	// Late is a direction of which so many frames are missing at the beginning.
	Late   trace.Dir
	LateBy int
	// Lost is the share of frames that are missing elsewhere.
	Lost float64
	// Step puts the directions out of step, if it has any Frames.
	Step Step
	seed uint64
}

// Parts are so many parts of a trace of that name with n frames, always the same.
func Parts(name string, n, count int) (all []Part) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	rnd := rand.New(rand.NewPCG(h.Sum64(), 0))
	chance := func(p float64) bool { return rnd.Float64() < p }
	dir := func() trace.Dir { return trace.Dir(rnd.IntN(2)) } //nolint:gosec // 0 or 1
	for range count {
		p := Part{seed: rnd.Uint64(), Late: dir(), LateBy: 1 + rnd.IntN(20)}
		if chance(.3) {
			p.LateBy = 0
		}
		if chance(.3) {
			p.From = rnd.IntN(n/2 + 1)
		}
		if chance(.3) {
			p.To = 1 + rnd.IntN(n)
		}
		if chance(.4) {
			p.Lost = []float64{.02, .1, .3}[rnd.IntN(3)]
		}
		if chance(.4) {
			p.Step = Step{Early: dir(), Frames: 1 + rnd.IntN(12)}
		}
		all = append(all, p)
	}
	return all
}

// String names it.
func (p Part) String() string {
	s := []string{fmt.Sprintf("from frame %d", p.From)}
	if p.To > 0 {
		s = append(s, fmt.Sprintf("to frame %d", p.To))
	}
	if p.LateBy > 0 {
		s = append(s, fmt.Sprintf("without the first %d of %v", p.LateBy, p.Late))
	}
	if p.Lost > 0 {
		s = append(s, fmt.Sprintf("without %g of the frames", p.Lost))
	}
	if p.Step.Frames > 0 {
		s = append(s, p.Step.String())
	}
	return strings.Join(s, ", ")
}

// Of returns the frames that the capture has.
func (p Part) Of(fs []capture.Frame) (out []capture.Frame) {
	rnd := rand.New(rand.NewPCG(p.seed, 1))
	i2r, late := byOpener(fs), 0
	for i := range fs {
		lost := rnd.Float64() < p.Lost
		if i2r[i] == (p.Late == trace.I2R) {
			if late++; late <= p.LateBy {
				continue
			}
		}
		if lost || i < p.From || p.To > 0 && i >= p.To {
			continue
		}
		out = append(out, fs[i])
	}
	if p.Step.Frames > 0 {
		return p.Step.Of(out)
	}
	return Number(out)
}

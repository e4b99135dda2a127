package model

import (
	"math/rand/v2"
	"testing"
)

// TestEndings: each of the last eight FPDUs is found by an offset, as it was, however large offsets and
// frames are; those in front of a jump that their lower halves do not tell are forgotten.
func TestEndings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r endings
		var all []ending
		end, frame := rnd.Int64N(1<<40), rnd.Uint64N(1<<40)
		for range 50 {
			step, frames := 1+rnd.Int64N(1<<rnd.IntN(32)), rnd.Uint64N(1<<rnd.IntN(29))
			if step >= far || frames<<endFlags >= far-1<<endFlags {
				all = nil
			}
			end, frame = end+step, frame+frames
			e := endingAt(end, frame, rnd.IntN(2) == 0, rnd.IntN(2) == 0)
			r.add(e)
			all = append(all, e)
			all = all[max(len(all)-maxEndings, 0):]
			check(t, &r, all)
		}
	}
}

// check looks for each ending at its offset, and in front of it.
func check(t *testing.T, r *endings, all []ending) {
	t.Helper()
	var before ending
	for _, e := range all {
		if got := r.upTo(e.End - 1); got != before {
			t.Fatalf("in front of %+v: %+v, not %+v", e, got, before)
		}
		if got := r.upTo(e.End); got != e || got.Frame() != e.of>>endFlags || got.Split() != (e.of&splitEnd != 0) || got.Good() != (e.of&goodEnd != 0) {
			t.Fatalf("at %+v: %+v", e, got)
		}
		before = e
	}
}

package messy

import (
	"bytes"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
)

// lateStart are seeds of which the loss of a startup frame and of the first FPDU behind it once had FPDUs
// found that nobody sent: short ones were framed without markers, or with markers at places that a longer
// startup frame moves.
var lateStart = []uint64{533, 1323, 1564, 1699, 2124, 2369, 2494, 2713, 2910, 2982}

// TestRandom: in messy captures of random legal connections of all dialects, nothing is found
// that nobody sent, no CRC is wrong, and no error is diagnosed that the whole capture does not show.
func TestRandom(t *testing.T) {
	// What sorts frames by their side knows plain frames alone.
	usual := []string{"loss-0.1", "loss-2", "loss-20", "late", "early-end", "one-lost", "some", "snap-200", "snap-128", "snap-96", "snap-70", "clock"}
	seeds, fpdus := tracetest.Count(60, 200, 5000), 0
	all := slices.Clone(lateStart)
	for seed := range uint64(seeds) {
		all = append(all, seed)
	}
	for _, seed := range all {
		for name, script := range map[string]*synth.Script{"tcp": scripts.Random(seed), "sctp": scripts.RandomSCTP(seed)} {
			var file bytes.Buffer
			if _, err := synth.Run(&file, script); err != nil {
				t.Fatal(err)
			}
			frames, err := tracetest.ReadFile(file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			whole, err := Judge(frames)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range All() {
				if !slices.Contains(usual, m.Name) {
					continue
				}
				found, err := Judge(tracetest.Number(m.Of(frames, seed)))
				if err != nil {
					t.Fatal(err)
				}
				fpdus += found.FPDUs
				wrong := found.Blamed(whole)
				if name == "tcp" {
					// Over SCTP a chunk may come again by another path, which only the start of the
					// association would tell.
					wrong = append(wrong, found.Invented(whole)...)
				}
				for _, s := range wrong {
					t.Errorf("seed %d of %s, %s: %s", seed, name, m.Name, s)
				}
			}
		}
	}
	if fpdus < 10_000 {
		t.Errorf("only %d FPDUs were found in all", fpdus)
	}
}

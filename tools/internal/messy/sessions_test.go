package messy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// severalSessions is one stream with sessions one after the other, of different lengths.
const severalSessions = `
timeline:
  - connect
  - send 300 x3
  - server send 200 x2
  - end
  - wait 1s
  - start
  - send 300 x6
  - server send 200 x5
  - read 4KiB
  - server end
  - wait 1s
  - start
  - write 8KiB
  - send 100 x2
  - end
  - close
`

// transports are ways to carry sessions.
var transports = map[string]string{
	"bundled":  "both:\n  sctp: {bundle: true}\n",
	"apart":    "both:\n  sctp: {bundle: false}\n",
	"shuffled": "both:\n  sctp: {bundle: false, shuffle: true}\n",
}

// TestSessions: when a run of frames is lost, and with it the end of a session and the beginning
// of the next one on its stream, no rule is broken that is not in the whole capture. Where frames are
// lost here and there, few captures have such a rule: numbers that fit both sessions tell nothing.
func TestSessions(t *testing.T) {
	for name, how := range transports {
		t.Run(name, func(t *testing.T) {
			text := "summary: Sessions one after the other on a stream.\nseed: 1\ntransport: sctp\n" + how + severalSessions
			frames, err := Traffic{Name: name, text: text}.Frames()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := Judge(frames)
			if err != nil {
				t.Fatal(err)
			}
			accused := func(left []capture.Frame) []string {
				found, err := Judge(tracetest.Number(left))
				if err != nil {
					t.Fatal(err)
				}
				return found.Accused(whole)
			}
			for from := 0; from < len(frames); from += tracetest.Count(5, 1, 1) {
				for to := from + 1; to <= min(len(frames), from+20); to++ {
					for _, s := range accused(slices.Concat(frames[:from], frames[to:])) {
						t.Errorf("without frames %d to %d: %s", from+1, to, s)
					}
				}
			}
			wrong, seeds := 0, uint64(tracetest.Count(20, 200, 2000))
			for seed := range seeds {
				rnd := rand.New(rand.NewPCG(seed, 20))
				left := slices.DeleteFunc(slices.Clone(frames), func(capture.Frame) bool { return rnd.IntN(10) < 1+int(seed%4) })
				if all := accused(left); len(all) > 0 {
					wrong++
					t.Logf("seed %d: %q", seed, all)
				}
			}
			t.Logf("%d of %d captures without 10 to 40 %% of their frames are accused", wrong, seeds)
			if uint64(wrong) > seeds/20 {
				t.Error("too many")
			}
		})
	}
}

package messy

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// severalSessions is one stream with sessions one after the other, of different lengths.
const severalSessions = `
summary: Sessions one after the other on a stream.
seed: 1
transport: sctp
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

// TestSessions: when a run of frames is lost, and with it the end of a session and the beginning
// of the next one on its stream, no rule is broken that is not in the whole capture.
func TestSessions(t *testing.T) {
	frames, err := Traffic{Name: "sessions", text: severalSessions}.Frames()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Judge(frames)
	if err != nil {
		t.Fatal(err)
	}
	for from := range frames {
		for to := from + 1; to <= min(len(frames), from+20); to++ {
			left := slices.Concat(frames[:from], frames[to:])
			found, err := Judge(tracetest.Number(left))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range slices.Concat(found.Accused(whole)) {
				t.Errorf("without frames %d to %d: %s", from+1, to, s)
			}
		}
	}
}

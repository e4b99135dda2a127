package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
)

// moved has a frame stand at the place of another one, numbers from 1, and what was between them
// one place further; each place keeps its time.
func moved(fs []capture.Frame, from, to int) []capture.Frame {
	out := append([]capture.Frame(nil), fs...)
	step := 1
	if to < from {
		step = -1
	}
	for i := from; i != to; i += step {
		a, b := &out[i-1], &out[i+step-1]
		a.Data, b.Data, a.OrigLen, b.OrigLen = b.Data, a.Data, b.OrigLen, a.OrigLen
	}
	return out
}

// TestInTurn: what is wrong with a chunk is found although a later chunk of its sender overtook
// it on the way: what stands before it in its session is there.
func TestInTurn(t *testing.T) {
	const begin = "both: {sctp: {bundle: false}}\ntimeline:\n  - connect\n  - {region: {name: sink, of: client, stag: 0x500, size: 4KiB}}\n  - send 16\n  - wait 1s\n"
	const end = "  - {send: 16, from: server}\n  - wait 1s\n  - end\n  - close\nfaults:\n  - {by: client, ignores: [errors]}\n"
	for _, tt := range []struct {
		name, id, src string
		answer        int // its frame, in front of which the next one is moved
	}{
		{"an answer that nobody asked for", "RDMAP-READRESP-UNSOL-01", begin + "  - {response: 64, from: server}\n" + end, 9},
		{"another STag", "RDMAP-READRESP-STAG-01", begin + "  - {read: 64, into: sink}\n" + end + "  - {at: read1.response, set: {iwarp_ddp.stag: +1}}\n", 10},
		{"an answer that is too short", "RDMAP-READRESP-LEN-01", begin + "  - {read: 64, into: sink}\n" + end + "  - {at: read1.response, cut: -1}\n", 10},
		{"nothing wrong", "RDMAP-READRESP-STAG-01", begin + "  - {read: 64, into: sink}\n" + end, 10},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		inOrder, reordered := judged(t, fs), judged(t, moved(fs, tt.answer+1, tt.answer))
		n, v := len(severities(inOrder, tt.id)), verdictOf(inOrder, tt.id)
		if tt.name != "nothing wrong" && (n != 1 || v != conformance.Fail) {
			t.Errorf("%s: %s %d times, %v in order", tt.name, tt.id, n, v)
		}
		if m, w := len(severities(reordered, tt.id)), verdictOf(reordered, tt.id); m != n || w != v {
			t.Errorf("%s: %s %d times, %v when overtaken, want %d, %v as in order\n\t%s", tt.name, tt.id, m, w, n, v, text(reordered.findings))
		}
	}
}

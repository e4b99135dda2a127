package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
)

// TestQuote_LostChunk: a Terminate that quotes a segment which was not captured is not judged, although only a later chunk shows that one
// is missing.
func TestQuote_LostChunk(t *testing.T) {
	const id, src = "RDMAP-TERM-QUOTE-01", "both: {session: {enhanced: false}, sctp: {sack_delay: 0s, bundle: false}}\n" +
		"timeline: [connect, send 16, wait 1ms, send 17, wait 1ms, {send: 18, as: bad}, wait 1s, end, close]\nfaults:\n  - {at: bad, set: {iwarp_ddp.msn: 9}}\n"
	const wrong, terminate = 12, 13 // their frames
	fs := framesOf(t, overSCTP(t, src))
	if j := judged(t, fs); verdictOf(j, id) != conformance.Pass {
		t.Fatalf("%v\n\t%s", verdictOf(j, id), text(j.findings))
	}
	fs[terminate-1] = withSACK(fs[terminate-1], -1) // as if the packet with the right one was not captured either
	fs = slices.Delete(fs, wrong-1, wrong)
	if j := judged(t, fs); verdictOf(j, id) != conformance.NotJudged || len(severities(j, id)) > 0 {
		t.Errorf("%v\n\t%s", verdictOf(j, id), text(j.findings))
	}
}

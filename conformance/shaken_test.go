package conformance_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
)

// TestShaken: frames whose moments are up to 2 ms off, and which stand in the order of those, show no violation of a rule that they do
// not show in their right order: TSNs and DDP-SSNs say which session a chunk is of, and what its sender sent before.
func TestShaken(t *testing.T) {
	seeds := tracetest.Count(100, 400, 4000)
	for seed := range uint64(seeds) {
		frames := framesOf(t, scripts.RandomSCTP(seed))
		right, _ := alarms(t, pipeline.Options{}, frames)
		got, j := alarms(t, pipeline.Options{}, shaken(frames, seed))
		maps.DeleteFunc(got, func(id string, _ int) bool { return right[id] > 0 }) // it is violated, and where is not the question
		for i := range j.findings {
			if f := &j.findings[i]; got[f.Rule.ID] > 0 {
				t.Errorf("seed %d: %s", seed, text(j.findings[i:i+1]))
			}
		}
	}
}

// shaken are frames with moments up to 2 ms later, in the order of those. What opens an association keeps its moment.
func shaken(frames []capture.Frame, seed uint64) []capture.Frame {
	rnd := rand.New(rand.NewPCG(seed, 11))
	out, dec := slices.Clone(frames), packet.NewDecoder()
	for i := range out {
		if late := rnd.Int64N(2e6); !opens(dec, &out[i]) {
			out[i].Time += late
		}
	}
	slices.SortStableFunc(out, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	return tracetest.Number(out)
}

// opens reports whether a packet belongs to the start of an association.
func opens(dec *packet.Decoder, f *capture.Frame) bool {
	var p packet.Packet
	if dec.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Time, &p) != packet.OK || p.Proto != packet.ProtoSCTP {
		return false
	}
	switch sctp.Type(p.Payload[sctp.HeaderLen]) {
	case sctp.TypeInit, sctp.TypeInitAck, sctp.TypeCookieEcho, sctp.TypeCookieAck:
		return true
	}
	return false
}

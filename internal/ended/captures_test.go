package ended_test

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// TestCaptures: the records of the captures are the same when they were packed.
func TestCaptures(t *testing.T) {
	t.Parallel()
	var plain []*trace.Connection
	packed := ended.Small()
	tracerun.Captures(t, "../..", func(_ string, fs []capture.Frame) {
		for _, c := range tracerun.Run(t, pipeline.Options{Sums: true}, fs).Conns {
			own := *c
			own.Number, own.SinkData, own.UpperData = uint64(len(plain)), nil, nil
			plain = append(plain, &own)
			packed.Add(&own, 0)
		}
	})
	if len(plain) < 100 {
		t.Fatalf("only %d records", len(plain))
	}
	for c := range packed.All() {
		if want := plain[c.Number]; !reflect.DeepEqual(want, c) {
			t.Fatal(cmp.Diff(want, c, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})))
		}
	}
}

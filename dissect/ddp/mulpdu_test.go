package ddp_test

import (
	"math"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
)

func TestULPDUMax(t *testing.T) {
	for _, tt := range []struct{ emss, plain, markers int }{
		{536, 530, 522},
		{1220, 1214, 1202},
		{1440, 1434, 1422},
		{1448, 1442, 1430},
		{1460, 1454, 1442},
		{2048, 2042, 2026},
		{4096, 4090, 4058},
		{8948, 8942, 8870},
		{8960, 8954, 8882},
		// EMSS mod 4 is taken off.
		{1463, 1454, 1442},
		// The range of RFC 5044 section 3.
		{math.MinInt, 128, 128},
		{0, 128, 128},
		{127, 128, 128},
		{134, 128, 128},
		{136, 130, 128},
		{140, 134, 130},
		{65535, 64768, 64768},
		{math.MaxInt, 64768, 64768},
	} {
		if got := ddp.ULPDUMax(tt.emss, false); got != tt.plain {
			t.Errorf("EMSS %d without markers: %d, want %d", tt.emss, got, tt.plain)
		}
		if got := ddp.ULPDUMax(tt.emss, true); got != tt.markers {
			t.Errorf("EMSS %d with markers: %d, want %d", tt.emss, got, tt.markers)
		}
	}
}

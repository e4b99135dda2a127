package diagnose

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 7: "7", 9999: "9999", 10_000: "10,000", 123_456: "123,456", 1_234_567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		if got := Number(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
	if got, want := Counted(12_345, "FPDU", "FPDUs"), "12,345 FPDUs"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

package ulp

import "testing"

func TestAppendDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000 us", 1: "0.001 us", 999_999: "999.999 us", 1_000_000: "1.000 ms", 1_234_567: "1.234 ms", 61_050_000_000: "61.050 s", -1500: "-1.500 us",
	} {
		if got := string(appendDuration(nil, ns)); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
}

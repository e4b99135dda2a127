package decimal

import (
	"fmt"
	"strconv"
	"testing"
)

func TestAppend(t *testing.T) {
	for v, n := uint64(0), 0; n < 64; v, n = 1<<n, n+1 {
		for _, v := range []uint64{v, v - 1, v + 1, v * 10, v * 99} {
			if got, want := string(Append(nil, v)), strconv.FormatUint(v, 10); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if got, want := string(AppendInt(nil, int64(v))), strconv.FormatInt(int64(v), 10); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	for v := range uint64(2000) {
		if got, want := string(AppendFixed([]byte("x"), v, 5)), fmt.Sprintf("x%05d", v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for p, n := uint64(1), 1; n < 20; p, n = p*10, n+1 {
		if digits(p) != n || digits(p-1) != max(n-1, 1) || digits(10*p-1) != n {
			t.Errorf("%d has %d digits, %d has %d", p, digits(p), p-1, digits(p-1))
		}
	}
}

package render

import "testing"

// TestOfThem: what is not shown may be the errors.
func TestOfThem(t *testing.T) {
	for _, tt := range []struct {
		errors, n int
		want      string
	}{
		{0, 3, ""},
		{1, 1, ", an error"},
		{1, 3, ", 1 of them an error"},
		{2, 3, ", 2 of them errors"},
		{3, 3, ", all of them errors"},
	} {
		if got := ofThem(tt.errors, tt.n); got != tt.want {
			t.Errorf("%d of %d: %q, not %q", tt.errors, tt.n, got, tt.want)
		}
	}
}

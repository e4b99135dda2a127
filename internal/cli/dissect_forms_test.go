package cli

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// Columns that octets alone decide are the same when nothing is kept for others, and when one
// beside them needs all that is known.
func TestColumns_Alone(t *testing.T) {
	args := []string{"dissect", "-T", "fields"}
	n := 0
	for _, f := range fields.All() {
		if fields.Alone([]*fields.Field{f}) {
			args = append(args, "-e", f.Name)
			n++
		}
	}
	if n < 300 || fields.Alone([]*fields.Field{fields.Find("iwd.latency")}) || fields.Alone([]*fields.Field{fields.Find("nvme.cmd.opc")}) {
		t.Fatalf("%d fields are read from octets alone", n)
	}
	for _, file := range someCaptures(t) {
		alone := told(t, append(args, file)...)
		beside := strings.Split(told(t, append(args, "-e", "iwd.latency", file)...), "\n")
		for i, line := range strings.Split(alone, "\n") {
			want := beside[i]
			if at := strings.LastIndexByte(want, '\t'); at >= 0 {
				want = want[:at]
			}
			if line != want {
				t.Errorf("%s: frame %d is %q, with another column %q", file, i+1, line, want)
				break
			}
		}
	}
}

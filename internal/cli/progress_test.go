package cli

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"
)

// TestProgress_Line: what stands in a line of progress is set apart by spaces.
func TestProgress_Line(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		bar        func(*mpb.Progress) *mpb.Bar
	}{
		{
			"sized", `1\.0 MB / 2\.0 MB \[=+>-*\] [0-9.]+ \w*B/s \d+\w*`,
			func(p *mpb.Progress) *mpb.Bar { return sized(p, 2_000_000) },
		},
		{
			"unsized", `trace 3 of 5 \S 1\.0 MB [0-9.]+ \w*B/s`,
			func(p *mpb.Progress) *mpb.Bar { return unsized(p, func() string { return "trace 3 of 5" }) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			refresh := make(chan any)
			p := mpb.New(mpb.WithOutput(&out), mpb.WithWidth(80), mpb.WithManualRefresh(refresh))
			bar := tt.bar(p)
			bar.SetCurrent(1_000_000)
			if got := bar.Current(); got != 1_000_000 {
				t.Fatalf("at %d", got)
			}
			refresh <- time.Now()
			refresh <- time.Now()
			bar.Abort(false)
			p.Wait()
			if !regexp.MustCompile(tt.want).Match(out.Bytes()) {
				t.Errorf("the line is %q, want %s", out.String(), tt.want)
			}
		})
	}
}

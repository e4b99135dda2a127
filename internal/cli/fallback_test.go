package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
)

// TestFallback_Live: of a connection that was closed on revision 2 it is told once that revision 1 worked, as soon as that was
// accepted, however long it goes on; and that it was not answered where no second attempt comes.
func TestFallback_Live(t *testing.T) {
	const worked, failed = "note: closed on revision 2, revision 1 worked.", "error: not answered."
	all := pcap(t, "generated/fallback-rev1.pcapng")
	const first, open = 7, 14 // frames of the first attempt, and those until the second one closes
	for _, tt := range []struct {
		name          string
		frames        []capture.Frame
		slept         time.Duration
		early, at     string // what is told until the capture ends, and in all
		before, never string // what is not told until the time has passed, and never
	}{
		{"worked and ended", all, 2 * time.Second, worked, worked, failed, failed},
		{"worked and open", all[:open], 2 * time.Second, worked, worked, failed, failed},
		{"no second attempt", all[:first], 10 * time.Second, failed, failed, failed, worked},
		{"too early to tell", all[:first], 2 * time.Second, "", failed, failed, worked},
	} {
		for _, check := range []bool{false, true} {
			name, want := "live "+tt.name, "-- conn 0: "+tt.at
			if check {
				name, want = "check "+tt.name, "  "+tt.at
			}
			t.Run(name, func(t *testing.T) {
				var out bytes.Buffer
				var slept time.Duration
				before, early := "", ""
				f := &feed{}
				f.add(0, tt.frames)
				f.idle(func() { slept = 2 * time.Second })
				f.idle(func() { before = out.String() })
				f.idle(func() { slept = tt.slept })
				f.idle(func() {})
				f.idle(func() { early = out.String() })
				s := &IOStreams{Out: &out, Err: io.Discard}
				if check {
					f.check(t, s, &slept)
				} else if err := f.run(t, s, &slept, "-q"); err != nil {
					t.Fatal(err)
				}
				lines, _, _ := strings.Cut(out.String(), "\nfeed0")
				if strings.Contains(before, tt.before) || !strings.Contains(early, tt.early) || tt.early == "" && strings.Contains(early, failed) {
					t.Errorf("in two seconds:\n%s\nat last:\n%s", before, early)
				}
				if n := strings.Count(lines, want); n != 1 || strings.Contains(lines, tt.never) {
					t.Errorf("%q stands there %d times:\n%s", want, n, lines)
				}
			})
		}
	}
}

// TestFallback_Piped: a capture that is read once says the same at its frame, or at a later one if that was written already.
func TestFallback_Piped(t *testing.T) {
	const worked = "note c0: closed on revision 2, revision 1 worked. "
	file, err := os.ReadFile("../../testdata/pcaps/generated/fallback-rev1.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	for window, want := range map[string]string{"1000": worked, "1": "of frame 4: " + worked} {
		for _, flags := range []string{"", "--no-findings"} {
			args := append([]string{"annotate", "-o", "-", "-", "--window", window}, strings.Fields(flags)...)
			_, out, errs := command(t, file, args...)
			if n := strings.Count(out, annotate.Prefix+want); n != 1 || strings.Contains(out, "not answered") || strings.Contains(errs, "missing") {
				t.Errorf("window %s %s: %d times: %s", window, flags, n, errs)
			}
		}
	}
}

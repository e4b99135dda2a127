package render

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/visible"
)

func TestAppendJSONString(t *testing.T) {
	for _, s := range []string{"", "plain", "quote \" and \\", "control \x00\x1b[31m\n", "umlaut ä €", "broken \xff\xc3 utf8", "\x7f"} {
		out := appendJSONString(nil, s)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Errorf("%q: %v", out, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); back != want && strings.ReplaceAll(back, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Errorf("%q became %q", s, back)
		}
		for _, c := range out {
			if c < 0x20 || c == 0x7f {
				t.Errorf("%q holds a control character", out)
			}
		}
	}
}

func TestAppendTime(t *testing.T) {
	for _, ns := range []int64{0, 2, 999_999_999, 1_795_212_345_000_000_001, -1, 1 << 62, -1 << 62} {
		want := time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")
		if got := string(appendTime(nil, ns)); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

func TestAppendClock(t *testing.T) {
	if s := string(new(clock).appendDay(nil, 1_000)); s != "00:00:00.000001" {
		t.Error(s)
	}
	if s := string(new(clock).appendDay(nil, 86_399_999_999_999)); s != "23:59:59.999999999" {
		t.Error(s)
	}
}

func TestAppendHexDump(t *testing.T) {
	got := string(appendHexDump(nil, []byte("0123456789abcdef\x1b[31m"), []mpa.Range{{From: 2, To: 4}}))
	want := "    0x0000  30 31 .. .. 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n" +
		"    0x0010  1b 5b 33 31 6d                                   .[31m\n"
	if got != want {
		t.Errorf("\n%s want\n%s", got, want)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 9_999: "9999 B", 10_000: "10,000 B", 999_999: "999,999 B", 1_000_000: "1000.0 kB", 12_345_678: "12.3 MB", 12_345_678_901: "12.3 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if s := visible.Text("trace\x1b[31m.pcap"); strings.Contains(s, "\x1b") {
		t.Errorf("%q steers the terminal", s)
	}
}

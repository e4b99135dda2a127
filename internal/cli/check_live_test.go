package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/live"
)

// check runs check over the feed, and returns the exit code.
func (f *feed) check(t *testing.T, s *IOStreams, slept *time.Duration, args ...string) int {
	t.Helper()
	t.Chdir(t.TempDir()) // without a configuration
	o := &checkOptions{s: s}
	flags := pflag.NewFlagSet("check", pflag.ContinueOnError)
	o.checkFlags(flags)
	if err := flags.Parse(append(args, "--live", "feed0")); err != nil {
		t.Fatal(err)
	}
	o.tap = func([]live.Options) (tap, error) { return f, nil }
	o.clock = func() time.Time { return time.Unix(0, f.now).Add(*slept) }
	return exitCode(o.run(context.Background(), flags, flags.Args()))
}

// TestCheckLive: findings come while the capture goes on, and those of a connection that only its
// end proves a second after it; the exit code follows --fail-on.
func TestCheckLive(t *testing.T) {
	wrong, right := pcap(t, "term-wbadkey.pcap"), pcap(t, "lo-rping-crc.pcap")
	for _, tt := range []struct {
		name         string
		args         []string
		early, final []string
		code         int
	}{
		{"text", nil, []string{"connection 0, tcp, initiator 10.1.0.1:58189", "error    RDMAP-TERM-RSVD-01  frame 12 r2i pdu 4"}, []string{"1 error, 2 warnings, 0 notes in 2 iWARP connections of 1 capture; rules: "}, exitFindings},
		{"ndjson", []string{"--format", "ndjson"}, []string{`{"record":"finding","rule":"RDMAP-TERM-RSVD-01"`}, []string{`{"record":"verdict","conn":0,`, `{"record":"verdict","conn":1,`}, exitFindings},
		{"github", []string{"--format", "github"}, []string{"::error file=feed0,title=RDMAP-TERM-RSVD-01::"}, nil, exitFindings},
		{"disabled", []string{"--disable", "RDMAP-TERM-RSVD-01"}, []string{"warning  "}, []string{"0 errors, 2 warnings"}, exitOK},
		{"enough", []string{"--min-connections", "2", "--fail-on", "error", "--disable", "RDMAP-TERM-RSVD-01"}, nil, nil, exitOK},
		{"too few", []string{"--min-connections", "3"}, nil, []string{"FAILED   2 iWARP connections in ", "; 1 with too few of them; "}, exitInput},
		{"too few for github", []string{"--min-connections", "3", "--format", "github"}, nil, []string{"::error file=feed0,title=connections::"}, exitInput},
		{"warnings fail", []string{"--disable", "RDMAP-TERM-RSVD-01", "--fail-on", "warning"}, nil, nil, exitFindings},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			var slept time.Duration
			early := ""
			f := &feed{}
			f.add(0, wrong)
			f.idle(func() { slept = 2 * time.Second })
			f.idle(func() { early = out.String() })
			f.add(40*time.Second, right)
			if code := f.check(t, &IOStreams{Out: &out, Err: &errs}, &slept, tt.args...); code != tt.code {
				t.Errorf("exit code %d: %s", code, &errs)
			}
			valid(t, out.Bytes())
			for _, want := range tt.early {
				if !strings.Contains(early, want) {
					t.Errorf("%q does not come early: %s", want, early)
				}
			}
			for _, want := range tt.final {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q does not come at all: %s", want, &out)
				}
			}
			if n := strings.Count(out.String(), "error    RDMAP-TERM-RSVD-01"); tt.name == "text" && n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// TestCheckLive_Reports: reports that are written at the end say what those of the file say.
func TestCheckLive_Reports(t *testing.T) {
	dir := t.TempDir()
	file, err := filepath.Abs("../../testdata/pcaps/term-wbadkey.pcap")
	if err != nil {
		t.Fatal(err)
	}
	f := &feed{}
	f.add(0, readFrames(t, file))
	var slept time.Duration
	args := []string{"-q"}
	for _, format := range []string{"json", "sarif", "junit", "ndjson"} {
		args = append(args, "--output", format+"="+filepath.Join(dir, format))
	}
	var out, errs bytes.Buffer
	if code := f.check(t, &IOStreams{Out: &out, Err: &errs}, &slept, args...); code != exitFindings {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for _, format := range []string{"json", "sarif", "junit", "ndjson"} {
		b, err := os.ReadFile(filepath.Join(dir, format))
		if err != nil {
			t.Fatal(err)
		}
		valid(t, b)
	}
	var got, want struct {
		Captures []struct {
			Findings, Verdicts, Transactions []any
			Summary                          map[string]any
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	Run(&IOStreams{Out: &whole, Err: &errs}, []string{"check", "--format", "json", file})
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(whole.Bytes(), &want); err != nil {
		t.Fatal(err)
	}
	g, w := got.Captures[0], want.Captures[0]
	if len(g.Findings) != len(w.Findings) || len(g.Transactions) != len(w.Transactions) || len(g.Verdicts) != len(w.Verdicts) ||
		g.Summary["pdus"] != w.Summary["pdus"] || len(g.Findings) == 0 {
		t.Errorf("%d findings, %d verdicts, %d transactions; want %d, %d, %d", len(g.Findings), len(g.Verdicts), len(g.Transactions),
			len(w.Findings), len(w.Verdicts), len(w.Transactions))
	}
	for name, word := range map[string]string{"sarif": "RDMAP-TERM-RSVD-01", "junit": "<failure", "ndjson": `"verdict":"fail"`} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), word) {
			t.Errorf("%s: %v: %s", name, err, b)
		}
	}
}

// TestCheckLive_Usage: what does not go with --live.
func TestCheckLive_Usage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct{ args, want string }{
		{"--live a x.pcap", `unknown word "x.pcap"`},
		{"--live a -f tcp udp", "are both filters"},
		{"-s 100 x.pcap", "--snaplen goes with --live"},
		{"-f tcp x.pcap", "--filter goes with --live"},
		{"-w y x.pcap", "--write goes with --live"},
		{"--live a -r x.pcap", "--live takes an interface"},
		{"--live a -V", "--live goes without -V"},
		{"--live a --write-baseline x", "a baseline cannot be used with --live"},
		{"--live a --duration -1s", "must not be negative"},
		{"--duration 1s x.pcap", "--duration goes with --live"},
	} {
		var out, errs bytes.Buffer
		if code := Run(&IOStreams{Out: &out, Err: &errs}, append([]string{"check"}, strings.Fields(tt.args)...)); code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit code %d: %s", tt.args, code, &errs)
		}
	}
}

// TestLive_Once: that both ends are on one host is told once, whatever connection it is seen on; other problems are told of each.
func TestLive_Once(t *testing.T) {
	local, ended := pcap(t, "lo-rping-crc.pcap"), pcap(t, "term-wbadkey.pcap")
	for _, check := range []bool{false, true} {
		var out bytes.Buffer
		var slept time.Duration
		f := &feed{}
		for range 3 {
			f.add(5*time.Minute, local)
			f.add(5*time.Minute, ended)
		}
		s := &IOStreams{Out: &out, Err: io.Discard}
		if check {
			f.check(t, s, &slept)
		} else if err := f.run(t, s, &slept, "-q"); err != nil {
			t.Fatal(err)
		}
		lines, _, _ := strings.Cut(out.String(), "\nfeed0")
		for text, want := range map[string]int{"  note: on one host.": 1, "  error: ended by an error: Invalid STag.": 3} {
			if n := strings.Count(lines, text); n != want {
				t.Errorf("check %t: %q stands there %d times:\n%s", check, text, n, lines)
			}
		}
	}
}

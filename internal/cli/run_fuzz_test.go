package cli

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// fuzzedCommands read captures. Flags that write files, start programs or wait are left out, and
// so are those whose output is not meant to be the same.
var (
	fuzzedCommands = []string{"analyze", "dissect", "check", "follow"}
	unfuzzed       = []string{
		"output", "write-baseline", "baseline", "config", "payload", "write", "color", "live", "interface", "duration", "join",
		"progress", "cpuprofile", "help", "jobs",
	}
)

// fuzzedValues are values of flags; a fuzzed text is one more. Intervals are long: times may be
// far from each other, and each interval is a line.
var fuzzedValues = []string{
	"", "0", "1", "-1", "7", "1-3", "99999999999999999999", "0.001", "json", "ndjson", "text", "csv", "sarif", "junit", "github", "fields", "ek", "pdml", "psml",
	"tabs", "frame.number", "frame.comment", "iwarp_ddp.stag", "iwd.rule", "_ws.col.Info", "tcp.port==5001,iwarp_mpa", "frame.number > 3", "tcp && !iwarp_mpa",
	"iwd.crc.status == \"ok\"", "conv,tcp", "endpoints,ip", "io,phs", "io,stat,86400,SUM(tcp.len)tcp.len", "expert", "rdma,srt", "mpa,crc", "ulp,srt",
	"header=y", "separator=/s", "quote=d", "escape=n", "occurrence=f", "error", "note", "none", "DDP-*", "layer=mpa", "frame,pdu", "ad", "r", "e", "hex", "ascii", "raw",
	"2023-11-14T22:13:20Z", "1s", "5", "tcp", "iwarp_mpa", "90",
}

// likely are values that flags of a name or type take: fuzzed ones are in vain half of the time.
var likely = map[string][]string{
	"format": {"text", "json", "ndjson", "csv", "sarif", "junit", "github"}, "form": {"fields", "json", "ek", "pdml", "psml", "tabs"},
	"field": {"frame.number", "frame.comment", "iwarp_ddp.stag", "iwd.rule", "_ws.col.Info", "tcp.payload"}, "field-option": {"header=y", "separator=/s", "quote=d", "escape=n"},
	"statistic":      {"conv,tcp", "endpoints,ip", "io,phs", "io,stat,86400", "expert", "rdma,srt", "rdma,size", "mpa,crc", "mpa,align", "ulp,srt"},
	"display-filter": {"frame.number > 3", "tcp && !iwarp_mpa", "iwd.latency > 0", "iwd.rule"}, "frames": {"1-9", "3,7"}, "conn": {"0", "1"}, "fail-on": {"note", "warning", "error"},
	"records": {"frame", "pdu", "finding"}, "payload-as": {"hex", "ascii", "raw"}, "time-format": {"a", "ad", "r", "e", "d"}, "width": {"40", "90"},
	"int": {"0", "1", "3", "50"}, "uint64": {"0", "1", "3", "50"}, "int64": {"0", "1", "300"},
}

// valueOf is a value for a flag.
func valueOf(f *pflag.Flag, n int, text string) string {
	all := likely[f.Name]
	if all == nil {
		all = likely[f.Value.Type()]
	}
	switch {
	case n%8 == 7:
		return text
	case n%4 != 0 && all != nil:
		return all[n%len(all)]
	}
	return fuzzedValues[n%len(fuzzedValues)]
}

// flagsOf are the flags of a command that may be fuzzed.
func flagsOf(t *testing.T, name string) (all []*pflag.Flag) {
	cmd, _, err := newRoot(&IOStreams{}).Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unfuzzed, f.Name) {
			all = append(all, f)
		}
	})
	return all
}

// commandLine makes arguments of octets: the command, then two octets for each flag.
func commandLine(t *testing.T, choice []byte, text string) []string {
	if len(choice) == 0 {
		return []string{"analyze"}
	}
	args := []string{fuzzedCommands[int(choice[0])%len(fuzzedCommands)]}
	flags := flagsOf(t, args[0])
	for choice = choice[1:]; len(choice) > 1; choice = choice[2:] {
		f := flags[int(choice[0])%len(flags)]
		if f.Value.Type() == "bool" {
			args = append(args, "--"+f.Name)
			continue
		}
		args = append(args, "--"+f.Name+"="+valueOf(f, int(choice[1]), text))
	}
	return args
}

// sameLink reports whether frames fit a file of one link type.
func sameLink(fs []capture.Frame) bool {
	return !slices.ContainsFunc(fs, func(f capture.Frame) bool { return f.Link != fs[0].Link })
}

// timely reports whether a pcap file can hold the times of frames.
func timely(fs []capture.Frame) bool {
	return !slices.ContainsFunc(fs, func(f capture.Frame) bool { return f.Time < 0 || f.Time/1e9 > math.MaxUint32 })
}

// FuzzRun runs a command line over a capture, in which frames are edited or which is any octets.
// Nothing panics, the exit code is one of four, an error is said, no text steers the terminal,
// and the output is the same with one processor and with two, from a file and from a pipe.
func FuzzRun(f *testing.F) {
	for i, n := range []string{"term-wbadkey.pcap", "generated/snaplen.pcapng", "generated/sctp-streams.pcapng", "generated/mpa-rev1-markers.pcapng"} {
		b, err := os.ReadFile(filepath.Join("../../testdata/pcaps", n))
		if err != nil {
			f.Fatal(err)
		}
		for command := range byte(len(fuzzedCommands)) {
			f.Add([]byte{command}, "", b, []byte(nil))
			for at := range byte(8) {
				f.Add([]byte{command, at * 7, at * 5, at*11 + byte(i), at * 3}, "0", b, []byte{at, 9, 2 * at, 0x41})
			}
		}
	}
	f.Fuzz(func(t *testing.T, choice []byte, text string, file, edits []byte) {
		if len(choice) > 17 || len(file) > 1<<20 || len(edits) > 20*tracetest.EditSize {
			return
		}
		if fs, err := tracetest.ReadFile(file); err == nil && len(edits) >= tracetest.EditSize && sameLink(fs) {
			if fs = tracetest.Edit(fs, edits); timely(fs) {
				file = tracetest.PCAP(fs)
			}
		}
		t.Chdir(t.TempDir())
		if err := os.WriteFile("x.pcap", file, 0o600); err != nil {
			t.Fatal(err)
		}
		args := commandLine(t, choice, text)
		run := func(more ...string) (code int, out, said string) {
			var o, e bytes.Buffer
			code = Run(&IOStreams{In: bytes.NewReader(file), Out: &o, Err: &e}, slices.Concat(args, more))
			return code, o.String(), e.String()
		}
		code, out, said := run("-j", "1", "x.pcap")
		switch {
		case code < exitOK || code > exitInput || code == exitFindings && args[0] != "check":
			t.Fatalf("%q: exit code %d", args, code)
		case code >= exitUsage && said == "":
			t.Fatalf("%q: exit code %d, and nothing is said", args, code)
		case code == exitUsage && out != "":
			t.Fatalf("%q: wrong usage, and an output: %.200s", args, out)
		}
		for _, s := range [...]string{out, said} {
			for line := range strings.Lines(s) {
				if at := strings.IndexFunc(strings.Trim(line, "\n"), func(r rune) bool { return r != '\t' && r != '\ufeff' && visible.Hidden(r) }); at >= 0 {
					t.Fatalf("%q: a hidden character at %d: %q", args, at, line)
				}
			}
		}
		if c, o, s := run("-j", "2", "x.pcap"); c != code || o != out || s != said {
			t.Errorf("%q: with two processors: exit code %d, not %d\n%s%s", args, c, code, tracetest.Diff(strings.Split(o, "\n"), strings.Split(out, "\n")), tracetest.Diff(strings.Split(s, "\n"), strings.Split(said, "\n")))
		}
	})
}

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// badNames are names of files that would be obeyed.
var badNames = []string{"a\n::error::x.pcap", "::error file=::x.pcap", "\x1b[31m\x07.pcap", "\u009b31m\u202e\u2066\u061c.pcap", "\xff\xfe.pcap", "##[error]x.pcap"}

// shows fails if a text has something that a terminal or a build service obeys.
func shows(t *testing.T, what, text string, commands bool) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if strings.ContainsFunc(line, visible.Hidden) || !strings.HasPrefix(strings.ToValidUTF8(line, "\x00"), line) {
			t.Errorf("%s: %q", what, line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") && !commands || strings.Contains(line, "##[") {
			t.Errorf("%s: a command: %q", what, line)
		}
	}
}

// TestNames_Visible: names of files do not steer a terminal or a build service, in any command
// and format, in results or in errors, and JSON is valid.
func TestNames_Visible(t *testing.T) {
	tracetest.UnlessRaced(t)
	capture, err := os.ReadFile("../../testdata/pcaps/abort-rst-midtransfer.pcap")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range badNames {
		if err := os.WriteFile(name, capture, 0o600); err != nil {
			if runtime.GOOS != "linux" {
				t.Skip("the file system does not take such names:", err)
			}
			t.Fatal(err)
		}
		if err := os.WriteFile(name+".yaml", []byte("fail-on: "+name+"\n::error::y: [\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"analyze", name},
			{"analyze", name, name},
			{"analyze", "-z", "rdma,srt", name},
			{"analyze", "-q", "-z", "io,phs", name, name},
			{"dissect", name},
			{"dissect", name, name},
			{"dissect", "-V", name},
			{"dissect", "-T", "fields", "-e", "frame.number", name},
			{"dissect", "--conn", "99", name},
			{"dissect", "-w", "w" + filepath.Base(name), name},
			{"dissect", "-w", name, name},
			{"dissect", "--payload", "p" + name, name},
			{"follow", name},
			{"follow", "--conn", "99", name},
			{"follow", "--ladder", name},
			{"check", name},
			{"check", "-V", name},
			{"check", "--all", name, name},
			{"check", "--format", "junit", name},
			{"check", "--format", "github", name},
			{"check", "--output", "json=" + name, name},
			{"check", "--baseline", name, name},
			{"check", "--config", name + ".yaml", name},
			{"check", "--write-baseline", "no/" + name, name},
			{"check", "--disable", name, name},
			{"annotate", name, "-o", "a" + filepath.Base(name) + "ng"},
			{"annotate", name, "-o", name},
			{"annotate", "--upper-pdu", name, "-o", "no/" + name},
			{"extcap", "--install", "--folder", name},
			{"extcap", "--folder", name + ".d"},
			{"extcap", "--install", "--folder", name + ".d"},
			{"extcap", "--uninstall", "--folder", name + ".d"},
			{"--extcap-interface", "iwdissect-" + name, "--extcap-dlts"},
			{"--capture", "--extcap-interface", "iwdissect.file", "--fifo", "no/" + name, "--file", name},
			{"--capture", "--extcap-interface", "iwdissect.file", "--fifo", "out", "--file", "no/" + name},
			{"report", name, "-o", "-"},
			{"report", "no" + name, "-o", "-"},
			{"report", name, "-o", name},
			{"report", name, "-o", "no/" + name},
			{"demo", "-o", name + "d"},
			{"generate", name},
			{"generate", "./" + name, "-o", "x"},
			{"generate", "./" + name + ".yaml", "-o", "x"},
			{"generate", "loss", "-o", "no/" + name},
			{"probe", "--list", "--cases", name},
			{"probe", "--list", "--cases", name + ".yaml"},
			{"probe", "--list", "--case", name},
			{"live", name},
			{"live", "-i", name, "-w", name + "/x"},
			{"live", "--bpf-file", name, "lo"},
			{name},
			{"analyze", "no" + name},
			{"analyze", "--" + name},
			{"explain", name},
			{"fields", name},
			{"rules", name},
			{"man", name},
			{"help", name},
			{"dissect", "-Y", name, name},
			{"dissect", "-d", name, name},
			{"analyze", "--color=" + name, name},
		} {
			var out, errs bytes.Buffer
			Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &errs}, args)
			what := strings.Join(args, " ")
			shows(t, what, out.String(), strings.Contains(what, "github"))
			shows(t, what+" (stderr)", errs.String(), false)
		}
		// What is written for Wireshark: its comments name the file.
		for _, flag := range []string{"--window=1", "--upper-pdu"} {
			var out, errs bytes.Buffer
			if code := Run(&IOStreams{Out: &out, Err: &errs}, []string{"annotate", flag, "-q", name, "-o", "-"}); code != exitOK {
				t.Errorf("%q: %s", name, &errs)
			}
			_, comment, found := strings.Cut(out.String(), annotate.Prefix)
			if !found {
				t.Errorf("%q: no comment", name)
			}
			comment, _, _ = strings.Cut(comment, "\x04\x00") // the next option, or the end of the list
			comment, _, _ = strings.Cut(comment, "\x00")
			shows(t, "annotate "+flag, comment, false)
		}
		for _, args := range [][]string{{"analyze", "--format", "json", name}, {"dissect", "--format", "json", name}, {"check", "--format", "json", name}, {"check", "--format", "sarif", name}, {"follow", "--format", "json", name}} {
			var out, errs bytes.Buffer
			Run(&IOStreams{Out: &out, Err: &errs}, args)
			if !json.Valid(out.Bytes()) {
				t.Errorf("%q: no JSON: %.200s", args, &out)
			}
			shows(t, strings.Join(args, " "), out.String(), false)
		}
	}
}

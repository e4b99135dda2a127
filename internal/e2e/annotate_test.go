package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestAnnotate_Tshark: tshark reads in each frame of an annotated capture the PDUs and findings
// that dissect has there, and sees the same packets as before.
func TestAnnotate_Tshark(t *testing.T) {
	program := tracetest.Tshark(t)
	var captures, annotated []string
	folder := t.TempDir()
	for i, path := range small(t) {
		out := filepath.Join(folder, fmt.Sprintf("%d.pcapng", i))
		if code, _, errOut := iwdissect(nil, "annotate", "-q", path, "-o", out); code != 0 || len(errOut) > 0 {
			t.Fatalf("%s: exit code %d: %s", path, code, errOut)
		}
		captures, annotated = append(captures, path), append(annotated, out)
	}
	// One capture behind the other: tshark takes longer to start than to read all of them.
	joined := func(paths []string) []string {
		path := filepath.Join(t.TempDir(), "joined.pcapng")
		tool(t, "mergecap", append([]string{"-a", "-w", path}, paths...)...)
		return columns(t, program, path)
	}
	before, after := joined(captures), joined(annotated)
	if len(before) != len(after) {
		t.Fatalf("%d frames, not %d", len(after), len(before))
	}
	for _, path := range captures {
		d := dissect(t, path)
		want := map[int][]string{}
		for _, p := range d.pdus {
			want[p.Frame] = append(want[p.Frame], fmt.Sprintf("iwdissect: c%d %s %s", p.Conn, p.Dir, p.Info))
		}
		for _, f := range d.findings {
			want[f.Frame] = append(want[f.Frame], " "+f.Rule+" c")
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := tracetest.ReadFile(file)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		n := len(frames)
		if n > len(before) {
			t.Fatalf("%s: %d frames are left of %d", path, len(before), n)
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			for i := range n {
				packet, comments, _ := strings.Cut(after[i], "\t")
				was, theirs, _ := strings.Cut(before[i], "\t")
				if packet != was {
					t.Errorf("frame %d is %s, not %s", i+1, packet, was)
				}
				check(t, i+1, strings.TrimPrefix(comments, theirs), want[i+1])
			}
		})
		before, after = before[n:], after[n:]
	}
	if len(before) > 0 {
		t.Errorf("%d frames more than the captures have", len(before))
	}
}

// check holds the comments of a frame against what should be there, in any order.
func check(t *testing.T, frame int, line string, want []string) {
	t.Helper()
	for _, c := range strings.Split(line, "\x1f") {
		at := slices.IndexFunc(want, func(w string) bool {
			return c == w || strings.HasPrefix(w, " ") && strings.Contains(c, w) // the level precedes, what was found follows
		})
		switch {
		case at >= 0:
			want = slices.Delete(slices.Clone(want), at, at+1)
		case c != "" && !strings.Contains(c, " -- gap: ") && !diagnosis(c):
			t.Errorf("frame %d: %q", frame, c)
		}
	}
	for _, w := range want {
		t.Errorf("frame %d lacks %q: %q", frame, w, line)
	}
}

// diagnosis reports whether a comment is one: it names a connection behind its level and no rule,
// or is about the whole capture.
func diagnosis(comment string) bool {
	level, rest, _ := strings.Cut(strings.TrimPrefix(comment, "iwdissect: "), " ")
	whole := strings.HasSuffix(level, ":")
	return slices.Contains([]string{"error", "warning", "note"}, strings.TrimSuffix(level, ":")) && (whole || strings.HasPrefix(rest, "c"))
}

// columns are what tshark says of each frame: what it is in one column, and its comments.
func columns(t *testing.T, program, path string) (lines []string) {
	t.Helper()
	args := []string{"-n", "-r", path, "-o", "frame.generate_md5_hash:TRUE", "-T", "fields", "-E", "aggregator=\x1f"}
	for _, f := range []string{"frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.md5_hash", "frame.encap_type", "frame.comment"} {
		args = append(args, "-e", f)
	}
	var told bytes.Buffer
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v: %s", err, told.Bytes())
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Replace(strings.TrimSuffix(line, "\n"), "\t", " ", 5))
	}
	return lines
}

// TestUpperPDU_Tshark: Wireshark's dissectors take the messages of upper layers that are exported,
// also where its own dissector of iWARP is lost, and find nothing malformed.
func TestUpperPDU_Tshark(t *testing.T) {
	tests := []struct {
		name string
		// want are protocols, as tshark names what it dissects, and how many packets have them.
		want map[string]int
	}{
		{"ulp-nvme-rdma-crc-cut.pcap", map[string]int{"nvme-tcp": 26}},
		{"ulp-nfs-rdma-start.pcap", map[string]int{"rpc:nfs": 34, "rpc": 2}},
		{"generated/ulp-nvme-rdma.pcapng", map[string]int{"nvme-tcp": 18}},
		{"generated/ulp-iser.pcapng", map[string]int{"iscsi": 10, "data": 2}},
		{"generated/ulp-smb-direct.pcapng", map[string]int{"smb2": 13, "data": 4}},
		{"generated/ulp-nfs-rdma.pcapng", map[string]int{"rpc:nfs": 8, "rpc": 7, "data": 1}},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.name), func(t *testing.T) {
			t.Parallel()
			program := tracetest.Tshark(t)
			path, out := filepath.Join(smallCaptures, tt.name), filepath.Join(t.TempDir(), "out.pcapng")
			if code, _, errOut := iwdissect(nil, "annotate", "-q", "--upper-pdu", path, "-o", out); code != 0 || len(errOut) > 0 {
				t.Fatalf("exit code %d: %s", code, errOut)
			}
			completed := map[string]bool{} // a message, by a Send or by the last octets that were read
			for _, p := range dissect(t, path).pdus {
				if strings.HasPrefix(p.Info, "Send") || strings.HasPrefix(p.Info, "RDMA Read Response") {
					completed[fmt.Sprint(p.Frame)] = true
				}
			}
			text, err := exec.CommandContext(context.Background(), program, "-n", "-r", out, "-T", "fields",
				"-e", "frame.protocols", "-e", "exported_pdu.orig_fno", "-e", "_ws.malformed", "-e", "frame.comment").Output()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for line := range strings.Lines(string(text)) {
				f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
				got[strings.TrimPrefix(f[0], "exported_pdu:")]++
				if !completed[f[1]] || f[2] != "" || !strings.HasPrefix(f[3], "iwdissect: c") {
					t.Errorf("%q", f)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

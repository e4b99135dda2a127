package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// connectionsOf are the records of connections in a capture, without what numbers give.
func connectionsOf(t *testing.T, file string, more ...string) (all map[string]bool) {
	t.Helper()
	all = map[string]bool{}
	text := results(t, append([]string{"dissect", "-q", "--format", "ndjson", "--records", "connection", file}, more...)...)
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		end, _ := r["end"].(map[string]any)
		key, err := json.Marshal([]any{r["initiator"], r["responder"], r["i2r"], r["r2i"], end["how"], end["by"]})
		if err != nil {
			t.Fatal(err)
		}
		all[string(key)] = true
	}
	return all
}

// TestLive_FanOut: each file has whole connections, those that --shard finds in a file with all.
func TestLive_FanOut(t *testing.T) {
	const n = 3
	for transport, flags := range map[string][]string{"tcp": nil, "sctp": {"--sctp"}} {
		t.Run(transport, func(t *testing.T) {
			folder := t.TempDir()
			whole, kept := filepath.Join(folder, "whole.pcap"), filepath.Join(folder, "kept.pcapng")
			results(t, append([]string{"generate", "-q", "-o", whole, "--size", "200KiB", "--flows", "12"}, flags...)...)
			frames := readFrames(t, whole)
			f := &feed{}
			f.add(0, frames)
			var slept time.Duration
			var errs bytes.Buffer
			if err := f.run(t, &IOStreams{Out: io.Discard, Err: &errs}, &slept, "-w", kept, "--fan-out", fmt.Sprint(n), "--summary-only"); err != nil {
				t.Fatal(err)
			}
			if want := "kept in " + folder; !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), "kept_2of3.pcapng") {
				t.Errorf("it says %s", &errs)
			}
			total, conns := 0, 0
			for i := range n {
				file := filepath.Join(folder, fmt.Sprintf("kept_%dof%d.pcapng", i, n))
				total += len(readFrames(t, file))
				want, got := connectionsOf(t, whole, "--shard", fmt.Sprintf("%d/%d", i, n)), connectionsOf(t, file)
				conns += len(got)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("file %d: %s", i, d)
				}
			}
			if total != len(frames) || conns != 12 {
				t.Errorf("%d frames of %d connections in the files; %d frames of 12 were captured", total, conns, len(frames))
			}
		})
	}
}

// TestLive_FanOutRing: files take turns in each part.
func TestLive_FanOutRing(t *testing.T) {
	folder := t.TempDir()
	whole := filepath.Join(folder, "whole.pcap")
	results(t, "generate", "-q", "-o", whole, "--size", "200KiB", "--flows", "12")
	f := &feed{}
	f.add(0, readFrames(t, whole))
	var slept time.Duration
	if err := f.run(t, &IOStreams{Out: io.Discard, Err: io.Discard}, &slept, "-w", filepath.Join(folder, "r.pcap"), "--fan-out", "2", "-b", "packets:20", "-b", "files:3", "--summary-only"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		files, err := filepath.Glob(filepath.Join(folder, fmt.Sprintf("r_%dof2_0*.pcap", i)))
		if err != nil || len(files) != 3 {
			t.Errorf("part %d has %v, want 3 files: %v", i, files, err)
		}
	}
}

// TestLive_FanOutWrong: what makes no sense is refused before anything is captured.
func TestLive_FanOutWrong(t *testing.T) {
	for _, args := range [][]string{{"--fan-out", "2"}, {"--fan-out", "0", "-w", "x.pcap"}, {"--fan-out", "257", "-w", "x.pcap"}} {
		var slept time.Duration
		err := (&feed{}).run(t, &IOStreams{Out: io.Discard, Err: io.Discard}, &slept, args...)
		if err == nil || !strings.Contains(err.Error(), "--fan-out") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// saved writes frames to a file.
func saved(t *testing.T, path string, fs []capture.Frame) string {
	t.Helper()
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Nano: true, Link: pcapng.Ethernet})
	if err != nil {
		t.Fatal(err)
	}
	for i := range fs {
		if err := w.WritePacket(&fs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// captured are the frames of a capture of the project.
func captured(t *testing.T, name string) []capture.Frame {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(smallCaptures, name))
	if err != nil {
		t.Fatal(err)
	}
	fs, err := tracetest.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// source is the member that tells from which file a frame came.
var source = regexp.MustCompile(`,"source":\{"file":"[^"]*","frame":\d+\}`)

// TestJoin_Ring: a ring that wrapped is read in the order of time whatever the names of its files
// are, and each frame and finding says where it came from.
func TestJoin_Ring(t *testing.T) {
	fs, dir := captured(t, "term-rbadkey-nocrc.pcap"), t.TempDir()
	whole := saved(t, filepath.Join(dir, "whole.pcap"), fs)
	n := len(fs) / 3
	second := saved(t, filepath.Join(dir, "ring1.pcap"), fs[n:2*n])
	third := saved(t, filepath.Join(dir, "ring2.pcap"), fs[2*n:])
	first := saved(t, filepath.Join(dir, "ring3.pcap"), fs[:n])
	_, want, _ := iwdissect(nil, "dissect", "--format", "ndjson", whole)
	code, got, errOut := iwdissect(nil, "dissect", "--format", "ndjson", "--join", second, third, first)
	if code != 0 || len(errOut) > 0 || !bytes.Equal(source.ReplaceAll(got, nil), want) {
		t.Errorf("exit code %d, other records than of the whole file: %s", code, errOut)
	}
	var fr struct {
		Record string
		Frame  uint64
		Source struct {
			File  string
			Frame uint64
		}
	}
	seen := 0
	for line := range bytes.Lines(got) {
		if err := json.Unmarshal(line, &fr); err != nil {
			t.Fatal(err)
		}
		if fr.Record != "frame" {
			continue
		}
		seen++
		file, own := first, fr.Frame
		switch at := int(fr.Frame); {
		case at > 2*n:
			file, own = third, fr.Frame-uint64(2*n)
		case at > n:
			file, own = second, fr.Frame-uint64(n)
		}
		if fr.Source.File != file || fr.Source.Frame != own {
			t.Errorf("frame %d comes from %v", fr.Frame, fr.Source)
		}
	}
	if seen != len(fs) {
		t.Errorf("%d frames of %d", seen, len(fs))
	}
	code, _, errOut = iwdissect(nil, "analyze", "--join=given", second, third, first)
	if code != 0 || !strings.Contains(string(errOut), "if they are of two taps or queues of one point, read them with --merge") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

// TestMerge_Taps: what two taps have, merged, is judged as what one of them has; only the numbers
// of frames differ. What a sender sends again is not taken for a copy.
func TestMerge_Taps(t *testing.T) {
	frame := regexp.MustCompile(`"\w*frame":\d+,?|"frames":\[[\d,]*\],?|in frame \d+`)
	for _, name := range []string{"rping-rev2-crc.pcap", "abort-rst-midtransfer.pcap", "rping-ipv6-crc.pcap"} {
		fs, dir := captured(t, name), t.TempDir()
		one := saved(t, filepath.Join(dir, "one.pcap"), fs)
		late := make([]capture.Frame, len(fs))
		for i := range fs {
			late[i] = fs[i]
			late[i].Time += 300_000
			// The other side of a switch: other addresses of Ethernet.
			late[i].Data = bytes.Clone(fs[i].Data)
			late[i].Data[5], late[i].Data[11] = 0xaa, 0xbb
		}
		other := saved(t, filepath.Join(dir, "other.pcap"), late)
		_, want, _ := iwdissect(nil, "dissect", "--records", "pdu,connection,transaction,finding", "--format", "ndjson", one)
		code, got, errOut := iwdissect(nil, "dissect", "--records", "pdu,connection,transaction,finding", "--format", "ndjson", "--merge", one, other)
		if code != 0 || len(errOut) > 0 {
			t.Errorf("%s: exit code %d: %s", name, code, errOut)
		}
		a, b := frame.ReplaceAll(want, nil), frame.ReplaceAll(source.ReplaceAll(got, nil), nil)
		if len(want) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s: other records than of one tap", name)
		}
		_, text, _ := iwdissect(nil, "analyze", "--merge", one, other)
		if !strings.Contains(string(text), "packets as well: they count once") {
			t.Errorf("%s: nothing is said of copies", name)
		}
	}
}

// TestTogether_Refused: what cannot be done with several files is wrong usage.
func TestTogether_Refused(t *testing.T) {
	a := filepath.Join(smallCaptures, "rping-rev2-crc.pcap")
	for want, args := range map[string][]string{
		"standard input can be read only once": {"analyze", "--join", a, "-"},
		"--merge has to look at":               {"analyze", "--merge", a, "-"},
		"give one":                             {"check", "--merge", "--join", a, a},
		"takes time or given":                  {"check", "--join=name", a, a},
		"mergecap":                             {"dissect", "--merge", a, a, "-w", filepath.Join(t.TempDir(), "x.pcapng")},
	} {
		if code, _, errOut := iwdissect(nil, args...); code != 2 || !strings.Contains(string(errOut), want) {
			t.Errorf("%v: exit code %d: %s", args, code, errOut)
		}
	}
}

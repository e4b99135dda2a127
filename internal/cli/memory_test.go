package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/hostile"
)

// attack writes the capture of an attack into a file.
func attack(t *testing.T, name string, n int) string {
	t.Helper()
	a, ok := hostile.Find(name)
	if !ok {
		t.Fatalf("no attack %q", name)
	}
	var b bytes.Buffer
	w, err := pcapng.NewWriter(&b, pcapng.WriterOptions{Link: pcapng.LinkType(packet.LinkEthernet)})
	if err != nil {
		t.Fatal(err)
	}
	a.Frames(n, func(f *capture.Frame) {
		if err := w.WritePacket(f); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".pcap")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// ran runs a command over a capture, and returns what it wrote and its exit code.
func ran(in string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = Run(&IOStreams{In: strings.NewReader(in), Out: &out, Err: &errs}, args)
	return out.String(), errs.String(), code
}

// TestMemory_GivenUp: when findings need more memory than there is, each of them counts, what
// is not listed is said, the exit code is that of findings, and nothing depends on processors
// or on whether the capture comes from a pipe.
func TestMemory_GivenUp(t *testing.T) {
	tracetest.UnlessRaced(t)
	const conns = 300 // with 100 findings each
	file := attack(t, "findings", conns)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type document struct {
		Captures []struct {
			Findings []struct{}
			Summary  map[string]any
		}
	}
	for _, command := range []string{"check", "analyze"} {
		first := ""
		for _, args := range [][]string{{"-j", "1", file}, {"-j", "2", file}, {"-"}} {
			out, errs, code := ran(string(raw), append([]string{command, "-q", "--memory", "16M", "--format", "json"}, args...)...)
			out = strings.ReplaceAll(out, `"-"`, `"`+file+`"`)
			if first == "" {
				first = out
			} else if out != first {
				t.Errorf("%s %v: another output", command, args)
			}
			var d document
			if err := json.Unmarshal([]byte(out), &d); err != nil || len(d.Captures) != 1 {
				t.Fatalf("%v: %s", err, out)
			}
			left, _ := d.Captures[0].Summary["findings_not_listed"].(float64)
			if n := len(d.Captures[0].Findings); n == 0 || left == 0 || n+int(left) < 100*conns {
				t.Errorf("%s %v: %d findings are listed, %v are not", command, args, n, left)
			}
			if command == "check" && (code != exitFindings || !strings.Contains(errs, "findings are not listed (--memory)")) {
				t.Errorf("exit %d: %s", code, errs)
			}
		}
	}
	out, _, code := ran("", "check", "--memory", "16M", file)
	if code != exitFindings || !strings.Contains(out, "30,000 errors") {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, format := range []string{"sarif", "junit", "github", "ndjson"} {
		out, errs, code := ran("", "check", "--memory", "16M", "--format", format, file)
		if code != exitFindings || out == "" || !strings.Contains(errs, "to bound memory") || format == "sarif" && !strings.Contains(out, "to bound memory") {
			t.Errorf("%s: exit %d, %d octets: %s", format, code, len(out), errs)
		}
	}
}

// TestMemory_Enough: with enough memory nothing is given up, and nothing is said of it.
func TestMemory_Enough(t *testing.T) {
	file := attack(t, "atomics", 50)
	few, fewErrs, _ := ran("", "check", "--memory", "1G", file)
	most, mostErrs, _ := ran("", "check", "--memory", "64G", file)
	if few != most || fewErrs != mostErrs || strings.Contains(few+fewErrs, "memory") {
		t.Errorf("%s%s\n%s%s", few, fewErrs, most, mostErrs)
	}
}

func TestMemorySize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"16M": "16MiB", "2G": "2GiB", "2gib": "2GiB", "512MiB": "512MiB", "1.5G": "1536MiB", "33554432": "32MiB", "20000K": "20000KiB",
		"512MB": "500000KiB", "4GB": "3906250KiB", "16777217": "16777217",
		"": "no", "M": "no", "15M": "no", "16MB": "no", "-1G": "no", "NaN": "no", "1e400": "no", "16": "no", "99999999999G": "no",
	} {
		var m memorySize
		if err := m.Set(in); err != nil != (want == "no") || err == nil && m.String() != want {
			t.Errorf("%q: %v, %v", in, m.String(), err)
		}
	}
	if n := new(memorySize).size(); n < leastMemory || n > mostByDefault {
		t.Errorf("%d by default", n)
	}
}

// TestMemory_Several: several captures have together what one has alone, whatever the number of
// processors: what is given up of each is the same.
func TestMemory_Several(t *testing.T) {
	octets, err := os.ReadFile(attack(t, "findings", 100))
	if err != nil {
		t.Fatal(err)
	}
	files := make([]string, 5)
	for i := range files {
		files[i] = filepath.Join(t.TempDir(), strconv.Itoa(i)+".pcap")
		if err := os.WriteFile(files[i], octets, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"check", "analyze"}[:tracetest.Raced(2, 1)] {
		first := ""
		for _, j := range []string{"8", "1", "2"}[:tracetest.Raced(3, 1)] {
			out, errs, code := ran("", append([]string{command, "-q", "--memory", "16M", "-j", j}, files...)...)
			if command == "check" && (code != 1 || strings.Count(errs, "to bound memory") != 5) {
				t.Errorf("%s -j %s: exit code %d, %s", command, j, code, errs)
			}
			if first == "" {
				first = out + errs
			} else if out+errs != first {
				t.Errorf("%s -j %s: another output", command, j)
			}
		}
		if _, errs, _ := ran("", command, "-q", "--memory", "64M", files[0]); strings.Contains(errs, "to bound memory") {
			t.Errorf("%s: with four times the memory and one capture: %s", command, errs)
		}
	}
}

// TestInOrder_Memory: of many captures only a few are begun and not yielded, the results of those
// that wait for a slow one included.
func TestInOrder_Memory(t *testing.T) {
	var begun, yielded atomic.Int64
	for range inOrder(8, make([]int, 100), func(int) int {
		begun.Add(1)
		return 0
	}) {
		if n := begun.Load() - yielded.Add(1) + 1; n > inMemory {
			t.Errorf("%d captures are in memory", n)
		}
		time.Sleep(time.Millisecond)
	}
}

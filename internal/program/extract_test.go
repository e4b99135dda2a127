package program

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestWholeConnections: what dissect -w --whole-connections writes holds the same PDUs,
// transactions and connections as the capture has, but for their numbers, whatever else the
// capture holds.
func TestWholeConnections(t *testing.T) {
	const one = 3
	tried := 0
	for _, f := range tracetest.Some(tracetest.Captures(t, "../.."), one) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			for _, conns := range connections(t, f) {
				small := filepath.Join(t.TempDir(), "small"+filepath.Ext(f))
				out(t, "dissect", "-q", "--conn", conns, "--whole-connections", "-w", small, f)
				want, got := recordsOf(t, f, "--conn", conns), recordsOf(t, small)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("conn %s (-capture +extract):\n%s", conns, d)
				}
				tried++
			}
		})
	}
	if tried < tracetest.Least(150, one) {
		t.Errorf("only %d connections tried", tried)
	}
}

// out is what a command prints.
func out(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := cli.Run(&cli.IOStreams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, args); code != 0 && code != 3 {
		t.Fatalf("%v: exit code %d: %s", args, code, &stderr)
	}
	return stdout.String()
}

// connections are the connections of a capture, as --conn takes them: those over SCTP by
// association, and of many only some.
func connections(t *testing.T, file string) (all []string) {
	t.Helper()
	assocs := map[int]int{}
	for line := range strings.Lines(out(t, "dissect", "--format", "ndjson", "--records", "connection", file)) {
		var c struct {
			Conn      int
			Transport string
			SCTP      struct{ Association struct{ Number int } }
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		n := strconv.Itoa(c.Conn)
		if i, ok := assocs[c.SCTP.Association.Number]; ok && c.Transport == "sctp" {
			all[i] += "," + n
			continue
		}
		assocs[c.SCTP.Association.Number] = len(all)
		all = append(all, n)
	}
	if n := len(all); n > 4 {
		all = []string{all[0], all[1], all[n/2], all[n-1]}
	}
	return all
}

// recordsOf are the records of a capture, with their numbers replaced by ranks.
func recordsOf(t *testing.T, file string, flags ...string) (all []map[string]any) {
	t.Helper()
	args := append([]string{"dissect", "--format", "ndjson", "--records", "pdu,transaction,connection"}, flags...)
	for line := range strings.Lines(out(t, append(args, file)...)) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		delete(r, "problems") // they name frames in words
		all = append(all, r)
	}
	for _, names := range [][]string{{"frame"}, {"pdu"}, {"conn"}, {"number"}} {
		var numbers []float64
		for _, r := range all {
			walk(r, names, func(n float64) any { numbers = append(numbers, n); return n })
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		for _, r := range all {
			walk(r, names, func(n float64) any {
				i, _ := slices.BinarySearch(numbers, n)
				return i
			})
		}
	}
	return all
}

// walk replaces each number below a member whose name is one of some, or ends in it, and
// each in the list of a member that has the plural. Elsewhere the plural counts things.
func walk(v any, names []string, f func(float64) any) {
	named := func(k string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return k == n || strings.HasSuffix(k, "_"+n) })
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			switch n := x.(type) {
			case float64:
				if named(k) {
					v[k] = f(n)
				}
			case []any:
				for i, y := range n {
					if y, ok := y.(float64); ok && named(strings.TrimSuffix(k, "s")) {
						n[i] = f(y)
					} else {
						walk(y, names, f)
					}
				}
			default:
				walk(x, names, f)
			}
		}
	case []any:
		for _, x := range v {
			walk(x, names, f)
		}
	}
}

// TestWholeConnections_Tshark: tshark reads what dissect -w writes, and finds in it the frames
// that it finds of the connection in the capture.
func TestWholeConnections_Tshark(t *testing.T) {
	tshark := tracetest.Tshark(t)
	read := func(file string, filter ...string) string {
		args := append([]string{"-r", file, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.interface_id", "-e", "tcp.seq_raw", "-e", "tcp.len"}, filter...)
		var stderr bytes.Buffer
		c := exec.Command(tshark, args...)
		c.Stderr = &stderr
		b, err := c.Output()
		if err != nil {
			t.Fatalf("tshark %v: %v: %s", args, err, &stderr)
		}
		return string(b)
	}
	for _, x := range []struct{ file, conn string }{
		{"cmtime-20conn-crc.pcap", "7"},
		{"nano-rping-crc.pcapng", "0"},
		{"hostfwd-raw-initiator-cases.pcap", "20"},
		{"generated/two-connections.pcapng", "1"},
		{"generated/vlan.pcapng", "0"},
		{"generated/raw-ip.pcap", "0"},
	} {
		file := filepath.Join("../../testdata/pcaps", x.file)
		want := read(file, "-Y", "tcp.stream == "+x.conn)
		for _, ext := range []string{".pcap", ".pcapng"} {
			small := filepath.Join(t.TempDir(), "small"+ext)
			out(t, "dissect", "-q", "--conn", x.conn, "--whole-connections", "-w", small, file)
			got := read(small)
			if ext == ".pcap" || filepath.Ext(file) == ".pcap" { // those have no interfaces
				got, want := anyInterface(got), anyInterface(want)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s conn %s to %s (-capture +extract):\n%s", x.file, x.conn, ext, d)
				}
			} else if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s conn %s to %s (-capture +extract):\n%s", x.file, x.conn, ext, d)
			}
			if want == "" {
				t.Errorf("%s: tshark finds nothing of conn %s", x.file, x.conn)
			}
		}
	}
}

// anyInterface takes the number of the interface out of what tshark prints.
func anyInterface(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		f := strings.Split(line, "\t")
		b.WriteString(strings.Join(append(f[:2:2], f[3:]...), "\t"))
	}
	return b.String()
}

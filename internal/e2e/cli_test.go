package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestSameOutput checks that a capture gives the same octets however it is read
// and however many processors read it, and that the JSON array holds the same
// records as the lines. A plain go test looks at every fourth capture.
func TestSameOutput(t *testing.T) {
	for _, path := range tracetest.Every(small(t), tracetest.Count(4, 2, 1)) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			run := func(in io.Reader, args ...string) []byte {
				code, out, errOut := iwdissect(in, args...)
				none := strings.Contains(string(errOut), "no iWARP PDU in ") && bytes.Count(errOut, []byte("\n")) == 1
				if code != 0 || len(errOut) > 0 && !none {
					t.Errorf("%v: exit code %d: %s", args, code, errOut)
				}
				return out
			}
			zipped := filepath.Join(t.TempDir(), "capture")
			if err := os.WriteFile(zipped, compress(t, raw), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, command := range [][]string{
				{"dissect", "--format", "ndjson"},
				{"dissect", "-V", "-x"},
				{"analyze"},
			} {
				with := func(more ...string) []string { return append(append([]string(nil), command...), more...) }
				want := run(nil, with(path)...)
				for name, got := range map[string][]byte{
					"a second time":  run(nil, with(path)...),
					"-j 1":           run(nil, with("-j", "1", path)...),
					"-j 4":           run(nil, with("-j", "4", path)...),
					"-r":             run(nil, with("-r", path)...),
					"standard input": run(bytes.NewReader(raw), with("-")...),
					"gzip":           run(nil, with(zipped)...),
					"gzip of input":  run(bytes.NewReader(compress(t, raw)), with("-")...),
				} {
					if command[0] == "analyze" {
						got, want = unnamed(got), unnamed(run(nil, with(path)...))
					}
					if !bytes.Equal(got, want) {
						t.Errorf("%v, %s: other output than from the file", command, name)
					}
				}
			}
			var array []json.RawMessage
			if err := json.Unmarshal(run(nil, "dissect", "--format", "json", path), &array); err != nil {
				t.Fatal(err)
			}
			d := dissect(t, path)
			same(t, "records", len(array), len(d.lines))
			for i := range min(len(array), len(d.lines)) {
				same(t, "record", string(array[i]), string(d.lines[i]))
			}
		})
	}
}

// unnamed takes the name of the file out of an output of analyze, and its format.
func unnamed(out []byte) []byte {
	_, rest, _ := bytes.Cut(out, []byte("\n"))
	return regexp.MustCompile(`(?m)^Capture: .*?, `).ReplaceAll(rest, nil)
}

func compress(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSelection checks --records and -c against the whole output.
func TestSelection(t *testing.T) {
	path := filepath.Join(smallCaptures, "term-wbadkey.pcap")
	d := dissect(t, path)
	for _, kind := range []string{"frame", "pdu", "transaction", "finding", "connection"} {
		_, out, _ := iwdissect(nil, "dissect", "--format", "ndjson", "--records", kind, path)
		var want bytes.Buffer
		for i, line := range d.lines {
			if d.kinds[i] == kind {
				want.Write(line)
				want.WriteByte('\n')
			}
		}
		if !bytes.Equal(out, want.Bytes()) {
			t.Errorf("--records %s: not the records of that kind", kind)
		}
	}
	_, out, _ := iwdissect(nil, "dissect", "--format", "ndjson", "-c", "10", path)
	first, err := parse(out)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "frames of -c 10", len(first.frames), 10)
	for i := range first.frames {
		same(t, "info", first.frames[i].Info, d.frames[i].Info)
	}
}

func TestExitCodes(t *testing.T) {
	good := filepath.Join(smallCaptures, "term-wro.pcap")
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cut := write("cut.pcap", raw[:len(raw)-10])
	noise := write("noise.pcap", []byte("this is not a capture, whatever its name says"))
	zipped := compress(t, raw)
	cutZip := write("cut.gz", zipped[:len(zipped)/2])
	empty := write("empty.pcap", nil)
	missing := filepath.Join(dir, "missing.pcap")
	for _, c := range []struct {
		name string
		code int
		args []string
		told string // on standard error
	}{
		{"good", 0, []string{"dissect", good}, ""},
		{"analyze is the default", 0, []string{good}, ""},
		{"help", 0, []string{"--help"}, ""},
		{"version", 0, []string{"version"}, ""},
		{"fields", 0, []string{"fields"}, ""},
		{"completion", 0, []string{"completion", "bash"}, ""},
		{"unknown flag", 2, []string{"dissect", "--nonsense", good}, "--nonsense"},
		{"unknown flag of the root", 2, []string{"--nonsense", good}, "--nonsense"},
		{"unknown format of dissect", 2, []string{"dissect", "--format", "pdf", good}, "pdf"},
		{"unknown format of analyze", 2, []string{"analyze", "--format", "pdf", good}, "pdf"},
		{"unknown record", 2, []string{"dissect", "--format", "ndjson", "--records", "packet", good}, "packet"},
		{"bad decode-as", 2, []string{"dissect", "-d", "udp.port==1,dns", good}, "udp.port"},
		{"bad number", 2, []string{"dissect", "-c", "many", good}, "many"},
		{"no file", 2, []string{"dissect"}, "no capture file"},
		{"missing file", 3, []string{"dissect", missing}, "missing.pcap"},
		{"missing file, analyze", 3, []string{"analyze", missing}, "missing.pcap"},
		{"missing file, analyze json", 3, []string{"analyze", "--format", "json", missing}, "missing.pcap"},
		{"not a capture", 3, []string{"dissect", noise}, "noise.pcap"},
		{"empty", 3, []string{"dissect", empty}, "empty.pcap"},
		{"cut", 3, []string{"dissect", cut}, "cut.pcap"},
		{"cut within gzip", 3, []string{"dissect", cutZip}, "cut.gz"},
		{"the highest code wins", 3, []string{"dissect", missing, good}, "missing.pcap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errOut := iwdissect(nil, c.args...)
			same(t, "exit code", code, c.code)
			if !strings.Contains(string(errOut), c.told) || c.told == "" && len(errOut) > 0 {
				t.Errorf("standard error is %q", errOut)
			}
			if c.code == 2 && len(out) > 0 {
				t.Errorf("standard output is %q", out)
			}
		})
	}

	// What was read is reported, and so are the other files.
	_, whole, _ := iwdissect(nil, "dissect", "--format", "ndjson", good)
	_, part, _ := iwdissect(nil, "dissect", "--format", "ndjson", cut)
	w, err := parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parse(part)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "frames of the file that was cut", len(p.frames), len(w.frames)-1)
	same(t, "PDUs of the file that was cut", len(p.pdus), len(w.pdus))
	same(t, "connections of the file that was cut", len(p.connections), 1)
	_, all, _ := iwdissect(nil, "dissect", "--format", "ndjson", cut, missing, good, noise)
	named := func(records []byte, file string) []byte {
		return bytes.ReplaceAll(records, []byte("}\n"), []byte(`,"file":"`+file+"\"}\n"))
	}
	if !bytes.Equal(all, append(named(part, cut), named(whole, good)...)) {
		t.Error("several files: not the records of each")
	}
	_, out, _ := iwdissect(nil, "analyze", "--format", "json", cut, missing, good)
	var doc struct {
		Captures []struct {
			File        string
			Connections []json.RawMessage
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	same(t, "captures of analyze", len(doc.Captures), 3)
	for i, want := range []int{1, 0, 1} {
		same(t, "connections of "+doc.Captures[i].File, len(doc.Captures[i].Connections), want)
	}
}

// TestJoin checks that a capture cut in two files is, joined, the one it was.
func TestJoin(t *testing.T) {
	path := filepath.Join(smallCaptures, "rping-rev2-crc.pcap")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := 24
	for range 33 {
		at += 16 + int(raw[at+8]) + int(raw[at+9])<<8
	}
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.pcap"), filepath.Join(dir, "b.pcap")
	if err := os.WriteFile(a, raw[:at], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b, append(append([]byte(nil), raw[:24]...), raw[at:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, want, _ := iwdissect(nil, "dissect", "--format", "ndjson", path)
	code, got, errOut := iwdissect(nil, "dissect", "--format", "ndjson", "--join", a, b)
	if code != 0 || !bytes.Equal(source.ReplaceAll(got, nil), want) {
		t.Errorf("exit code %d, other records than of the whole file: %s", code, errOut)
	}
}

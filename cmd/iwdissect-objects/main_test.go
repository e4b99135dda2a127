package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/s3test"
)

// asProgram in the environment makes the tests the program, and the process that it starts.
const asProgram = "IWDISSECT_OBJECTS_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// run runs the program.
func run(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "IWDISSECT_PAGER=cat")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says it
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

const folder = "../../testdata/pcaps"

// capture is one of the real captures.
const capture = "nano-rping-crc.pcap"

// stored puts captures into a bucket.
func stored(t *testing.T, s *s3test.Server, prefix string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		s.Put(t, prefix+name, text)
	}
}

// TestSame: an object gives what its file gives, octet for octet but for the name.
func TestSame(t *testing.T) {
	s := s3test.New(t)
	stored(t, s, "", capture)
	text, err := os.ReadFile(filepath.Join(folder, capture))
	if err != nil {
		t.Fatal(err)
	}
	web := httpsServer(t, text)
	file, urls := filepath.Join(folder, capture), []string{"s3://captures/" + capture, web + "/" + capture}
	for _, args := range [][]string{
		{"analyze"},
		{"analyze", "--format", "json"},
		{"dissect", "-V"},
		{"dissect", "-T", "fields", "-e", "frame.number", "-e", "iwarp_ddp.tagged"},
		{"check", "--format", "sarif"},
		{"check", "-V"},
		{"check", "--format", "junit"},
		{"follow", "--conn", "0"},
		{"--no-sandbox", "--merge"},
	} {
		want, _, code := run(t, append(args, file)...)
		for _, url := range urls {
			out, said, got := run(t, append(args, url)...)
			if got != code || len(want) == 0 || strings.ReplaceAll(out, url, file) != want {
				t.Errorf("%q %s: exit code %d, want %d; %d octets, want %d; %s", args, url, got, code, len(out), len(want), said)
			}
		}
	}
}

// httpsServer serves a capture, and has the program trust it.
func httpsServer(t *testing.T, content []byte) string {
	t.Helper()
	url, certificate := startHTTPS(t, content)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", file)
	return url
}

// TestWritten: outputs in the sandbox, of an object that is read twice.
func TestWritten(t *testing.T) {
	s := s3test.New(t)
	stored(t, s, "", capture)
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.pcap"), filepath.Join(dir, "b.pcap")
	for out, in := range map[string]string{a: "s3://captures/" + capture, b: filepath.Join(folder, capture)} {
		if _, said, code := run(t, "dissect", "-Y", "iwarp_mpa", "-w", out, in); code != 0 {
			t.Fatal(in, code, said)
		}
	}
	one, err := os.ReadFile(a)
	two, err2 := os.ReadFile(b)
	if err != nil || err2 != nil || len(one) == 0 || !bytes.Equal(one, two) {
		t.Errorf("%d octets of the object, %d of the file, %v, %v", len(one), len(two), err, err2)
	}
}

// ring are parts of a capture, with names that are not in their order, one of them compressed.
func ring(t *testing.T, s *s3test.Server) (whole string) {
	t.Helper()
	dir := t.TempDir()
	whole = filepath.Join(folder, capture)
	for i, frames := range []string{"21-", "1-10", "11-20"} {
		part := filepath.Join(dir, fmt.Sprintf("trace.pcap%d", i))
		if _, said, code := run(t, "dissect", "--frames", frames, "-w", part, whole); code != 0 {
			t.Fatal(said)
		}
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		key := "point/" + filepath.Base(part)
		if i == 1 {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
			text, key = b.Bytes(), key+".gz"
		}
		s.Put(t, key, text)
	}
	return whole
}

// TestJoin: the objects of a ring are one capture, in the order of time.
func TestJoin(t *testing.T) {
	s := s3test.New(t)
	whole := ring(t, s)
	want, _, _ := run(t, "dissect", whole)
	for _, flag := range []string{"--join", "--merge"} {
		got, said, code := run(t, "dissect", flag, "s3://captures/point/")
		if code != 0 || len(want) == 0 || got != want {
			t.Errorf("%s: exit code %d, %s\n%s", flag, code, said, got)
		}
	}
}

// TestFails: what was read is reported, the error is told with its place, and the exit code is 3.
// What a server says does not reach the terminal as it is.
func TestFails(t *testing.T) {
	s := s3test.New(t)
	stored(t, s, "", capture)
	url := "s3://captures/" + capture
	got, said, code := run(t, "s3://captures/none.pcap", url)
	if code != 3 || !strings.Contains(said, "s3://captures/none.pcap: there is no such object") || !strings.Contains(got, url+": ") {
		t.Errorf("missing: exit code %d, %s", code, said)
	}
	s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
		s3test.Refuse(w, http.StatusForbidden, "Evil", "&#x9b;2J \u202e ::error::x")
		return true
	}
	if _, said, code := run(t, url); code != 3 || strings.ContainsAny(said, "\u009b\u202e") || !strings.Contains(said, "access denied: Evil") {
		t.Errorf("denied: exit code %d, %q", code, said)
	}
	s.Before = nil
	t.Setenv("AWS_SECRET_ACCESS_KEY", "other")
	if _, said, code := run(t, url); code != 3 || !strings.Contains(said, "SignatureDoesNotMatch") || strings.Contains(said, "other") {
		t.Errorf("wrong key: exit code %d, %q", code, said)
	}
}

// putBig puts a capture of 4 connections and 2 MB, which is more than one block, as big.pcap.
func putBig(t *testing.T, s *s3test.Server) {
	t.Helper()
	big := filepath.Join(t.TempDir(), "big.pcap")
	if _, said, code := run(t, "generate", "--size", "2MB", "--flows", "4", "-o", big); code != 0 {
		t.Fatal(said)
	}
	text, err := os.ReadFile(big)
	if err != nil {
		t.Fatal(err)
	}
	s.Put(t, "big.pcap", text)
}

// TestCut: of an object that breaks off for good, all frames before are reported.
func TestCut(t *testing.T) {
	s := s3test.New(t)
	putBig(t, s)
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") && r.Header.Get("Range") != "" {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	out, said, code := run(t, "s3://captures/big.pcap")
	if code != 3 || !strings.Contains(said, "s3://captures/big.pcap: ") || !strings.Contains(said, "given up after 2 attempts") {
		t.Errorf("exit code %d, %s", code, said)
	}
	if !strings.Contains(out, "not read in full") || !strings.Contains(out, "4 TCP connections") {
		t.Errorf("of the first 256 KiB there is %.300s", out)
	}
}

// TestUsage: the help says what the program reads, and is called as the program.
func TestUsage(t *testing.T) {
	out, _, code := run(t, "--help")
	if code != 0 || !strings.Contains(out, "s3://BUCKET/PREFIX/") || !strings.Contains(out, "iwdissect-objects [command]") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, said, code := run(t, "http://user:secret@localhost/x.pcap"); code != 3 || !strings.Contains(said, "only https") || strings.Contains(said, "secret") {
		t.Errorf("http: exit code %d, %s", code, said)
	}
}

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/schematest"
)

// served runs serve until the test is over, and returns its address.
func served(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := &IOStreams{In: strings.NewReader(""), Out: out, Err: io.Discard}
		runContext(ctx, s, append([]string{"serve", "--listen", "127.0.0.1:0", "--no-check"}, args...))
		_ = out.Close()
	}()
	lines := bufio.NewReader(in)
	first, err := lines.ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(first), "listening on ")
	if err != nil || !ok {
		t.Fatalf("serve said %q, %v", first, err)
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		<-rest
	})
	return at
}

// TestProbe_Formats: what is printed is the same in all formats, and a capture is kept of each case.
func TestProbe_Formats(t *testing.T) {
	at := served(t)
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte(`
group: mine
cases:
  - case: right
    sends: a startup
    demands: It goes on.
    rules: MPA-START-02G
    timeline: [connect, close]
    answers: goes-on
  - case: wrong
    sends: a startup
    demands: It is rejected.
    rules: ACME-1
    spec: our manual
    timeline: [connect, close]
    answers: reject
  - case: lacking
    sends: a Read
    demands: It is answered.
    rules: RDMAP-READ-PAIR-01
    rests: wrong
    timeline: [connect, {read: 8, from_memory: peer}, close]
    answers: goes-on
`), 0o600); err != nil {
		t.Fatal(err)
	}
	captures := filepath.Join(dir, "captures")
	junit, sarif := filepath.Join(dir, "probe.xml"), filepath.Join(dir, "probe.sarif")
	args := []string{"probe", at, "--i-own-this-peer", "--cases", bad, "--timeout", "20s"}
	code, out, errs := command(t, nil, append(args, "--format", "json", "-w", captures, "--output", "junit="+junit, "--output", "sarif="+sarif)...)
	if code != exitFindings || errs != "" {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	var doc struct {
		Complete bool
		Cases    []struct{ Case, Verdict, Capture string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || !doc.Complete || len(doc.Cases) != 3 {
		t.Fatalf("%v %s", err, out)
	}
	if err := schematest.As("probe", []byte(out)); err != nil {
		t.Error(err)
	}
	for i, want := range []string{"pass", "fail", "not-judged"} {
		if c := doc.Cases[i]; c.Verdict != want || (c.Capture == "") != (want == "not-judged") {
			t.Errorf("%+v", c)
		}
	}
	code, dissected, errs := command(t, nil, "dissect", doc.Cases[1].Capture)
	if code != exitOK || !strings.Contains(dissected, "MPA Reply rev 2") {
		t.Errorf("dissect of the capture: %d %s %s", code, dissected, errs)
	}
	for name, want := range map[string]string{junit: `tests="3" failures="1" errors="0" skipped="1"`, sarif: `"ruleId":"ACME-1"`} {
		b, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v\n%s\nwant %s", name, err, b, want)
		}
	}
	code, out, errs = command(t, nil, append(args, "--width", "80")...)
	if want := "wrong  ACME-1, our manual"; code != exitFindings || !strings.Contains(out, want) || !strings.Contains(out, "Not judged\n  it would fail as the case wrong did: lacking") {
		t.Errorf("%d\n%s%s\nwant %s", code, out, errs, want)
	}
}

func TestProbe_Refused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "probe needs the address of the peer"},
		{[]string{"127.0.0.1:1"}, exitUsage, "--i-own-this-peer says that they are yours"},
		{[]string{"localhost:1", "--i-own-this-peer"}, exitUsage, "names are not resolved"},
		{[]string{closed, "--i-own-this-peer"}, exitInput, "the peer does not answer a plain startup, no case was begun"},
		{[]string{"127.0.0.1:1", "--case", "nosuch"}, exitUsage, `no case for a responder matches "nosuch"`},
		{[]string{"127.0.0.1:1", "--cases", empty}, exitUsage, "there is no *.yaml in this folder"},
		{[]string{"127.0.0.1:1", "--cases", "no/such.yaml"}, exitUsage, "no/such.yaml"},
		{[]string{"127.0.0.1:1", "--region", "1,2"}, exitUsage, "--region takes STAG,TO,SIZE"},
		{[]string{"127.0.0.1:1", "--timeout", "2m"}, exitUsage, "the first three at most 1m"},
		{[]string{"127.0.0.1:1", "--format", "xml"}, exitUsage, "--format takes text, json, junit or sarif"},
		{[]string{"127.0.0.1:1", "--output", "json"}, exitUsage, "--output takes FORMAT=FILE"},
		{[]string{"127.0.0.1:1", "--output", "json=-"}, exitUsage, "standard output has the report of --format"},
		{[]string{"127.0.0.1:1", "--fail-on", "never"}, exitUsage, "--fail-on takes"},
		{[]string{"127.0.0.1:0", "--as-server", "--i-own-this-peer", "--wait", "1ms"}, exitInput, "nobody connected for 1ms"},
	} {
		code, _, errs := command(t, nil, append([]string{"probe"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%q: %d %q, want %d and %q", c.args, code, errs, c.code, c.says)
		}
	}
	if code, out, _ := command(t, nil, "probe", "--list", "--as-server"); code != exitOK || !strings.Contains(out, "reply-key ") || strings.Contains(out, "startup-rev3") {
		t.Errorf("%d %s", code, out)
	}
}

// TestProbe_Garbage: a peer that sends something else, or nothing, is told of.
func TestProbe_Garbage(t *testing.T) {
	for _, says := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", ""} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, says)
				go func() {
					_, _ = io.Copy(io.Discard, c)
					_ = c.Close()
				}()
			}
		}()
		code, out, errs := command(t, nil, "probe", l.Addr().String(), "--i-own-this-peer", "--timeout", "100ms")
		if code != exitInput || !strings.Contains(errs, "no case was begun") || !strings.Contains(out, "131 cases: 0 passed, 0 failed, 0 not judged, 131 left out") {
			t.Errorf("%q: %d\n%s%s", says, code, out, errs)
		}
		_ = l.Close()
	}
}

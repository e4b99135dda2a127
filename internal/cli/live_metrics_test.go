package cli

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestLive_Listen: metrics are those of the frames so far while the capture runs, with findings
// at once and response times, whatever is shown of it; the port is closed when it is over.
func TestLive_Listen(t *testing.T) {
	for _, shown := range tracetest.Some([][]string{{"--summary-only"}, {"--lines"}, {"--format", "ndjson"}, {"-q", "-z", "rdma,srt"}, {"-T", "fields", "-e", "frame.number"}}, 3) {
		t.Run(strings.Join(shown, " "), func(t *testing.T) {
			var errs bytes.Buffer
			var slept time.Duration
			address, first, second := freePort(t), "", ""
			get := func() string {
				resp, err := http.Get("http://" + address + "/metrics")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				return string(body)
			}
			f := &feed{}
			f.add(0, scenarioFrames(t, "RDMAP-READ-PAIR-01"))
			f.idle(func() { time.Sleep(publishEvery) })
			f.idle(func() {})
			f.idle(func() { first = get() })
			f.add(2*time.Second, pcap(t, "lo-rping-crc.pcap"))
			f.idle(func() { time.Sleep(publishEvery) })
			f.idle(func() {})
			f.idle(func() { second = get() })
			if err := f.run(t, &IOStreams{Out: io.Discard, Err: &errs}, &slept, append([]string{"--listen", address}, shown...)...); err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(errs.String(), "metrics on http://"+address+"/metrics\n"); told == (shown[0] == "-q") {
				t.Errorf("standard error: %s", &errs)
			}
			for text, want := range map[string]string{first: `iwdissect_fpdus_total{crc="ok"} [1-9]`, second: `iwdissect_latency_seconds_count{operation="read"} [1-9]`} {
				if !regexp.MustCompile(want).MatchString(text) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			if !strings.Contains(second, `iwdissect_findings_total{rule="RDMAP-READ-PAIR-01",severity="`) {
				t.Errorf("the finding is missing in\n%s", second)
			}
			if _, err := http.Get("http://" + address + "/metrics"); err == nil {
				t.Error("the port is open when the capture is over")
			}
		})
	}
}

// freePort is an address on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestLive_ListenWrong: what is no address is refused before anything is captured.
func TestLive_ListenWrong(t *testing.T) {
	for _, addr := range []string{"", "9478", "localhost", "host:"} {
		f := &feed{}
		var slept time.Duration
		err := f.run(t, &IOStreams{Out: io.Discard, Err: io.Discard}, &slept, "--listen", addr)
		if err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for _, port := range []string{"99999", "-1", "no-such-service"} {
		f := &feed{}
		var slept time.Duration
		err := f.run(t, &IOStreams{Out: io.Discard, Err: io.Discard}, &slept, "--listen", "127.0.0.1:"+port)
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), strconv.Quote(port)+" is no port") {
			t.Errorf("port %s: exit code %d: %v", port, exitCode(err), err)
		}
	}
}

package metrics

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// TestHandler_Health: the probes say what the capture does.
func TestHandler_Health(t *testing.T) {
	r := New()
	h := handler(t, r)
	probe := func(path string) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	expect := func(when string, health, ready int) {
		t.Helper()
		if a, b := probe("/healthz"), probe("/readyz"); a != health || b != ready {
			t.Errorf("%s: healthz %d, readyz %d, want %d and %d", when, a, b, health, ready)
		}
	}
	expect("before the capture", 503, 503)
	r.Publish(State{})
	expect("while it runs", 200, 200)
	r.published.at = time.Now().Add(-stale - time.Second)
	expect("when it hangs", 503, 503)
	r.Publish(State{})
	r.End()
	expect("when it is over", 200, 503)
	if got := probe("/"); got != 200 {
		t.Errorf("/ is %d", got)
	}
	if got := probe("/debug/pprof/"); got != 404 {
		t.Errorf("what is not offered is %d", got)
	}
}

// TestServer: many ask while the capture counts and publishes; a client that says nothing takes
// nobody's turn for long, and Close ends all.
func TestServer(t *testing.T) {
	r := New()
	s, err := Listen("127.0.0.1:0", r, Build{})
	if err != nil {
		t.Fatal(err)
	}
	s.Start(func(err error) { t.Error(err) })
	silent, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				resp, err := client.Get("http://" + s.Addr().String() + "/metrics")
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !strings.Contains(string(body), "iwdissect_capture_frames_total") {
					t.Errorf("%v: %s", err, body)
				}
			}
		})
	}
	for i := range 200 {
		r.now.gaps++
		r.Publish(State{Totals: pipeline.Totals{Frames: uint64(i)}})
	}
	wg.Wait()
	s.Close()
	if _, err := client.Get("http://" + s.Addr().String() + "/healthz"); err == nil {
		t.Error("it answers after Close")
	}
	if _, err := Listen("256.0.0.1:0", r, Build{}); err == nil {
		t.Error("it listens nowhere")
	}
}

package metrics

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// watched is a capture under the rules, with a recorder.
type watched struct {
	*conformance.Engine
	*Recorder
}

func (w *watched) PDU(p *trace.PDU)                 { w.Recorder.PDU(p); w.Engine.PDU(p) }
func (w *watched) Gap(g *trace.GapEvent)            { w.Recorder.Gap(g); w.Engine.Gap(g) }
func (w *watched) Transaction(x *trace.Transaction) { w.Recorder.Transaction(x) }
func (w *watched) Frame(f *pipeline.Frame)          { w.Recorder.Frame(f) }
func (w *watched) Finish()                          { w.Engine.Finish() }

func (w *watched) Ended(c *trace.Connection) {
	w.Engine.Ended(c)
	w.Recorder.Ended(c)
}

// watch runs a capture, and publishes what was counted.
func watch(tb testing.TB, r *Recorder, fs []capture.Frame) (conns []*trace.Connection, found uint64) {
	tb.Helper()
	engine := conformance.New(conformance.Options{OnFinding: func(f *conformance.Finding) { found++; r.Finding(f) }}, nil)
	run := pipeline.New(pipeline.Options{Sums: true}, &watched{engine, r})
	for i := range fs {
		run.Frame(&fs[i])
	}
	conns = run.Finish().Collect()
	r.Publish(State{Totals: run.Totals()})
	return conns, found
}

// scrape are the values of metrics, by name and labels.
func scrape(tb testing.TB, h http.Handler) map[string]float64 {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		tb.Fatalf("status %d: %s", w.Code, w.Body)
	}
	values := map[string]float64{}
	for _, line := range strings.Split(w.Body.String(), "\n") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			tb.Fatalf("%q: %v", line, err)
		}
		values[line[:at]] = v
	}
	return values
}

// sum adds up the metrics of a name, whatever their labels, that are not negative.
func sum(values map[string]float64, name string) (total float64) {
	for k, v := range values {
		if k == name || strings.HasPrefix(k, name+"{") {
			total += v
		}
	}
	return total
}

func handler(tb testing.TB, r *Recorder) http.Handler {
	tb.Helper()
	h, err := r.Handler(Build{Version: "1", Go: "go", Schema: "s"})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// TestRecorder_Captures: what is served of each capture is what its connections say.
func TestRecorder_Captures(t *testing.T) {
	label := regexp.MustCompile(`^[A-Za-z0-9 ._+-]*$`)
	tracerun.Captures(t, "../..", func(name string, fs []capture.Frame) {
		r := New()
		conns, found := watch(t, r, fs)
		values := scrape(t, handler(t, r))
		var fpdus, bad, chunks, gaps, segments, terminates uint64
		for _, c := range conns {
			for d := range c.Flow {
				f := &c.Flow[d]
				fpdus, bad, chunks, gaps = fpdus+f.FPDUs, bad+f.CRCBad, chunks+f.Rare().Chunks, gaps+f.Rare().Gaps
				for op := range f.Ops {
					segments += f.Ops[op].Segments
					if op == 7 {
						terminates += f.Ops[op].Segments
					}
				}
			}
		}
		for metric, want := range map[string]float64{
			"iwdissect_capture_frames_total":                   float64(len(fs)),
			"iwdissect_fpdus_total":                            float64(fpdus),
			`iwdissect_fpdus_total{crc="bad"}`:                 float64(bad),
			"iwdissect_gaps_total":                             float64(gaps),
			"iwdissect_findings_total":                         float64(found),
			"iwdissect_iwarp_connections_ended_total":          float64(len(conns)),
			`iwdissect_segments_total{operation="Terminate"}`:  float64(terminates),
			"iwdissect_outstanding_requests_count":             float64(2 * len(conns)),
			`iwdissect_outstanding_requests_bucket{le="+Inf"}`: float64(2 * len(conns)),
		} {
			if got := sum(values, metric); got != want {
				t.Errorf("%s: %s is %v, want %v", name, metric, got, want)
			}
		}
		if got := sum(values, "iwdissect_segments_total"); got != float64(segments) {
			t.Errorf("%s: %v segments, want %d", name, got, segments)
		}
		for k := range values {
			for _, l := range regexp.MustCompile(`="([^"]*)"`).FindAllStringSubmatch(k, -1) {
				if !label.MatchString(l[1]) {
					t.Errorf("%s: %s has the label %q", name, k, l[1])
				}
			}
		}
	})
}

// TestRecorder_Lint: names, units and help are as Prometheus wants them.
func TestRecorder_Lint(t *testing.T) {
	r := New()
	r.Publish(State{HasKernel: true, Now: 2e9, Latest: 1e9})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r)
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestRecorder_NoAllocation: to count costs no memory, once each rule was found.
func TestRecorder_NoAllocation(t *testing.T) {
	r := New()
	p := &trace.PDU{Kind: trace.KindSCTPSegment}
	x := &trace.Transaction{Kind: trace.TransactionRead, Last: 1000}
	if n := testing.AllocsPerRun(100, func() {
		r.PDU(p)
		r.Transaction(x)
		r.Frame(&pipeline.Frame{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCumulate: the buckets of Prometheus add up.
func TestCumulate(t *testing.T) {
	bounds := []float64{1, 2, 4}
	in := make([]uint64, len(bounds)+1)
	for _, v := range []float64{0, 1, 1.5, 2, 3, 5, 100} {
		in[bucket(bounds, v)]++
	}
	total, got := cumulate(bounds, in)
	want := map[float64]uint64{1: 2, 2: 4, 4: 5}
	if total != 7 || len(got) != len(want) {
		t.Fatalf("%d, %v", total, got)
	}
	for b, n := range want {
		if got[b] != n {
			t.Errorf("up to %v: %d, want %d", b, got[b], n)
		}
	}
	if len(latencyBounds) != latencyBuckets-1 || len(outstandingBounds) != outstandingBuckets-1 {
		t.Error("a histogram has one bucket more than bounds")
	}
}

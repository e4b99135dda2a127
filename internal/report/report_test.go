package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/trace"
)

var update = flag.Bool("update", false, "write the golden files")

const captures = "../../testdata/pcaps/"

// both passes everything to the rules and to another sink.
type both struct {
	*conformance.Engine
	next pipeline.Sink
}

func (b *both) PDU(p *trace.PDU)                 { b.next.PDU(p); b.Engine.PDU(p) }
func (b *both) Gap(g *trace.GapEvent)            { b.next.Gap(g); b.Engine.Gap(g) }
func (b *both) Transaction(t *trace.Transaction) { b.next.Transaction(t) }
func (b *both) Frame(f *pipeline.Frame)          { b.next.Frame(f) }

// over runs over a capture.
func over(t testing.TB, path string, opt pipeline.Options, sink pipeline.Sink) *pipeline.Run {
	t.Helper()
	src, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	run := pipeline.New(opt, sink)
	_ = run.Read(src) // what is damaged may end early
	return run
}

// captured is what the page has of a capture, with a closer look at n connections.
func captured(t testing.TB, place int, path string, n int) *Capture {
	t.Helper()
	c, _ := capturedIn(t, place, path, n, Room)
	return c
}

// capturedIn is captured with so much room in the first reading. It reports whether there was a
// second one.
func capturedIn(t testing.TB, place int, path string, n, room int) (c *Capture, again bool) {
	t.Helper()
	s := NewSurvey()
	d := NewDetails(place, render.FollowOptions{}, nil, room)
	run := over(t, path, pipeline.Options{Brief: true, Sums: true, Marks: true, Outlines: true},
		&both{conformance.New(conformance.Options{OnFinding: d.Finding}, s), d})
	cs, totals := run.Finish(), run.Totals()
	s.Summary.Capture(&totals, run.Others())
	chosen := s.Choose(n, cs)
	c = s.Capture(place, &totals, cs, chosen)
	c.File, c.Format = filepath.Base(path), "pcap"
	if again, _ = d.Choose(s, cs, chosen); again {
		over(t, path, pipeline.Options{Sums: true, Outlines: true}, &both{conformance.New(conformance.Options{OnFinding: d.Finding}, nil), d}).Finish()
	}
	c.Details = d.All(cs)
	return c, again
}

// generated writes the trace of a scenario.
func generated(t testing.TB, s *scenario.Scenario) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, s.Script(false)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trace.pcapng")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// written is the trace of a scenario in YAML.
func written(t testing.TB, yaml string) string {
	t.Helper()
	s, err := scenario.Parse("test", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return generated(t, s)
}

// TestModel_Golden: what the page shows of real captures, and of the one of the demonstration.
func TestModel_Golden(t *testing.T) {
	demo, ok := scenario.Find("demo")
	if !ok {
		t.Fatal("there is no scenario demo")
	}
	for name, path := range map[string]string{
		"term-wbadkey": captures + "term-wbadkey.pcap",
		"rping":        captures + "lo-rping-crc.pcap",
		"nvme":         captures + "ulp-nvme-rdma-crc-cut.pcap",
		"demo":         generated(t, demo),
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			if err := e.Encode(captured(t, 0, path, 3)); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
				t.Errorf("%s (-want +got):\n%s", golden, d)
			}
		})
	}
}

// TestDetails_Readings: what is drawn is the same whether the first reading gathered it or the
// second one.
func TestDetails_Readings(t *testing.T) {
	once := 0
	for _, f := range tracetest.Captures(t, "../..") {
		first, again := capturedIn(t, 0, f, 5, Room)
		if !again {
			once++
		}
		second, _ := capturedIn(t, 0, f, 5, 0)
		if d := cmp.Diff(second, first, cmpopts.IgnoreUnexported(Step{})); d != "" {
			t.Errorf("%s (-second reading +first reading):\n%s", f, d)
		}
	}
	if once < 10 {
		t.Errorf("%d captures were read once", once)
	}
}

// TestDetails_Evidence: what is drawn of the demonstration is what happened in it.
func TestDetails_Evidence(t *testing.T) {
	demo, _ := scenario.Find("demo")
	c := captured(t, 0, generated(t, demo), 3)
	if len(c.Details) != 3 || c.Details[0].Conn != 2 || c.Details[0].Level != "error" || c.Details[1].Conn != 1 {
		t.Fatalf("%d details, the first of connection %d", len(c.Details), c.Details[0].Conn)
	}
	broken, lossy := c.Details[0], c.Details[1]
	if len(broken.Findings) != 1 || broken.Findings[0].Rule != "DDP-STAG-02" || !strings.Contains(broken.Findings[0].Source, "RFC 5041") {
		t.Errorf("findings: %+v", broken.Findings)
	}
	if len(broken.Exhibits) == 0 || !strings.Contains(broken.Exhibits[0].Text, "deadbeef") || !strings.Contains(broken.Exhibits[0].Text, "<--") ||
		!strings.Contains(broken.Exhibits[0].Text, "0x0000  ") {
		t.Errorf("the PDU of the finding has no mark or no octets: %+v", broken.Exhibits)
	}
	var again, linked, paused int
	for _, s := range lossy.Ladder.Rows {
		if s.Again {
			again++
		}
		if strings.HasSuffix(s.Still, "nothing") {
			paused++
		}
	}
	for _, s := range broken.Ladder.Rows {
		if s.Link != "" {
			linked++
		}
		if strings.HasPrefix(s.Text, "warning ") == s.Sent && s.Still == "" { // a finding is no packet
			t.Errorf("sent: %t, %s", s.Sent, s.Text)
		}
	}
	if again != 3 || linked == 0 || paused != 1 {
		t.Errorf("%d retransmissions, %d pauses, %d links of rows to PDUs", again, paused, linked)
	}
	var sum uint64
	for _, v := range lossy.Rates.Again {
		for _, n := range v {
			sum += n
		}
	}
	if sum != 3 {
		t.Errorf("%d retransmissions over time", sum)
	}
	if len(lossy.Depths) != 1 || lossy.Depths[0].Top != 4 || lossy.Depths[0].Limit != 4 || !lossy.Depths[0].Known {
		t.Errorf("depths: %+v", lossy.Depths)
	}
	if len(lossy.Latencies) != 1 || lossy.Latencies[0].Count != 8 {
		t.Errorf("latencies: %+v", lossy.Latencies)
	}
	var messages uint64
	for _, s := range lossy.Sizes {
		for _, b := range s.Bins {
			messages += b.Count
		}
	}
	if messages != 17 { // a Write, 8 requests, 8 responses
		t.Errorf("%d messages by size", messages)
	}
}

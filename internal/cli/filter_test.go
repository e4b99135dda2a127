package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/processor"
	"github.com/iwdissect/iwdissect/trace"
)

// told runs a command over a capture and returns its standard output.
func told(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Run(&IOStreams{Out: &out, Err: &errs}, args); code == exitUsage {
		t.Fatalf("%v: %s", args, &errs)
	}
	return out.String()
}

// record is what the tests look at in a record.
type record struct {
	Record string
	Frame  uint64
	PDU    uint64
	Conn   uint64
	Kind   string
	Dir    string
	Length int64
	Fields map[string]any
	Notes  []string
	PDUs   []uint64
	// Of a transaction.
	Request   uint64   `json:"request_pdu"`
	Responses []uint64 `json:"response_pdus"`
	Latency   int64    `json:"latency_ns"`
}

func recordsOf(t testing.TB, text string) (all []record) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// someCaptures are captures of every sort.
func someCaptures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/pcaps/*.pcap*")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../testdata/pcaps/generated/*.pcap*")
	if err != nil || len(files) < 30 || len(more) < 30 {
		t.Fatal("captures are missing")
	}
	for i := 0; i < len(more); i += 3 {
		files = append(files, more[i])
	}
	return files
}

// TestFilter_PDUs: a filter leaves just the PDUs whose records say what it asks for.
func TestFilter_PDUs(t *testing.T) {
	tracetest.UnlessRaced(t)
	has := func(name string) func(*record) bool {
		return func(r *record) bool { return r.Fields[name] != nil }
	}
	pdus := func(file string, args ...string) []record {
		args = append([]string{"dissect", "--no-findings", "--format", "ndjson", "--records", "pdu"}, args...)
		return recordsOf(t, told(t, append(args, file)...))
	}
	files, all := someCaptures(t), map[string][]record{}
	for _, file := range files {
		all[file] = pdus(file)
	}
	for _, f := range []struct {
		filter string
		want   func(*record) bool
	}{
		{"iwarp_rdma.opcode == 3", func(r *record) bool { return r.Fields["iwarp_rdma.opcode"] == "0x03" }},
		{"iwarp_rdma.opcode in {1..2, 7} and iwarp_mpa", func(r *record) bool {
			return slices.Contains([]any{"0x01", "0x02", "0x07"}, r.Fields["iwarp_rdma.opcode"]) && r.Fields["iwarp_mpa.ulpdulength"] != nil
		}},
		{"iwarp_ddp.stag", has("iwarp_ddp.stag")},
		{"iwarp_ddp.last_flag == 0", func(r *record) bool { return r.Fields["iwarp_ddp.last_flag"] == false }},
		{"iwd.crc.status == \"ok\" && iwarp_mpa.ulpdulength > 40", func(r *record) bool {
			n, _ := r.Fields["iwarp_mpa.ulpdulength"].(float64)
			return r.Fields["iwd.crc.status"] == "ok" && n > 40
		}},
		{"iwarp_mpa.rev >= 1 && !iwarp_mpa.key.rep", func(r *record) bool {
			rev, _ := r.Fields["iwarp_mpa.rev"].(float64)
			return rev >= 1 && r.Fields["iwarp_mpa.key.rep"] == nil
		}},
		{"iwd.term.name", has("iwd.term.name")},
		{"iwarp_rdma.term_layer == 1", func(r *record) bool { return r.Fields["iwarp_rdma.term_layer"] == "0x01" }},
		{"iwd.kind == fpdu && iwd.dir == r2i", func(r *record) bool { return r.Kind == "fpdu" && r.Dir == "r2i" }},
		{"iwd.length < 30 || iwd.conn == 1", func(r *record) bool { return r.Length < 30 || r.Conn == 1 }},
		{"iwd.captured == partial", func(r *record) bool { return r.Fields["iwd.captured"] == "partial" }},
		{"iwd.pdu == 5", func(r *record) bool { return r.PDU == 5 }},
		{"iwarp_ddp.msn > 1 && iwd.sctp.ssn", func(r *record) bool {
			n, _ := r.Fields["iwarp_ddp.msn"].(float64)
			return n > 1 && r.Fields["iwd.sctp.ssn"] != nil
		}},
	} {
		t.Run(f.filter, func(t *testing.T) {
			some := false
			for i, file := range files {
				var want []uint64
				for _, r := range all[file] {
					if f.want(&r) {
						want = append(want, r.PDU)
					}
				}
				// The second filter is decided only with the frame, the third one with its headers.
				filters := []string{f.filter, "(" + f.filter + ") && !(iwd.latency == -1)", "(" + f.filter + ") && !(iwd.tunnel == \"none\")"}
				if !tracetest.Campaign() {
					filters = filters[i%len(filters):][:1]
				}
				for _, filter := range filters {
					var got []uint64
					for _, r := range pdus(file, "-Y", filter) {
						got = append(got, r.PDU)
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s: %s: PDUs %v, want %v", file, filter, got, want)
					}
				}
				some = some || len(want) > 0
			}
			if !some {
				t.Error("no capture has any")
			}
		})
	}
}

// TestFilter_All: a filter that all match changes nothing of what is shown, in whatever form,
// decided at once or with the frame.
func TestFilter_All(t *testing.T) {
	tracetest.UnlessRaced(t)
	files := someCaptures(t)
	for i := 0; i < len(files); i += 3 {
		file := files[i]
		for _, form := range [][]string{nil, {"-V"}, {"-x"}, {"--format", "ndjson"}, {"--no-findings"}} {
			want := told(t, append([]string{"dissect", file}, form...)...)
			filters := []string{"!(iwarp_rdma.opcode == 0xff)", "!(iwd.latency == -1)", "!(ip.ttl == 0 && iwarp_mpa)", ""}
			if !tracetest.Campaign() {
				filters = filters[i%len(filters):][:1]
			}
			for _, filter := range filters {
				if got := told(t, append([]string{"dissect", file, "-Y", filter}, form...)...); got != want {
					t.Errorf("%s %v: with %s other lines are shown:\n%s\nwant\n%s", file, form, filter, firstOther(got, want), firstOther(want, got))
				}
			}
		}
	}
}

// firstOther is the first line of a that b does not have in its place.
func firstOther(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return x[i]
		}
	}
	return ""
}

// TestFilter_Latency: with -2 a filter knows the latency of a request and of the last
// answer, else of the last answer alone.
func TestFilter_Latency(t *testing.T) {
	tracetest.UnlessRaced(t)
	some := 0
	for _, file := range someCaptures(t) {
		ends, both := map[uint64]bool{}, map[uint64]bool{}
		var last uint64
		// Without a limit on the list of answers the last one is in it.
		for _, r := range recordsOf(t, told(t, "dissect", "--no-findings", "--format", "ndjson", "--records", "transaction", file)) {
			if n := len(r.Responses); n > 0 && r.Latency > 100_000 {
				last = r.Responses[n-1]
				ends[last], both[last], both[r.Request] = true, true, true
			}
		}
		for _, c := range []struct {
			want map[uint64]bool
			args []string
		}{{ends, nil}, {both, []string{"-2"}}} {
			args := append([]string{"dissect", "--no-findings", "--format", "ndjson", "--records", "pdu", "-Y", "iwd.latency > 100us"}, c.args...)
			got := map[uint64]bool{}
			for _, r := range recordsOf(t, told(t, append(args, file)...)) {
				got[r.PDU] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s %v: PDUs %v, want %v", file, c.args, got, c.want)
			}
			some += len(got)
		}
	}
	if some < 100 {
		t.Errorf("only %d PDUs were found", some)
	}
}

// TestFilter_Findings: every finding has a rule, so that a filter for that leaves all of
// them, those that only the end of a connection proves included, and in another one for
// its id.
func TestFilter_Findings(t *testing.T) {
	tracetest.UnlessRaced(t)
	findings := func(args ...string) []string {
		var doc struct {
			Captures []struct {
				Findings []json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(told(t, append([]string{"check", "--format", "json"}, args...)...)), &doc); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range doc.Captures[0].Findings {
			all = append(all, string(f))
		}
		return all
	}
	some := 0
	for _, file := range someCaptures(t) {
		want := findings(file)
		some += len(want)
		if got := findings("-Y", "iwd.rule", file); !slices.Equal(got, want) {
			t.Errorf("%s: %d findings, want %d", file, len(got), len(want))
		}
		for _, f := range want[:min(len(want), 3)] {
			var one struct{ Rule string }
			if err := json.Unmarshal([]byte(f), &one); err != nil {
				t.Fatal(err)
			}
			if got := findings("-Y", `iwd.rule == "`+one.Rule+`"`, file); !slices.Contains(got, f) {
				t.Errorf("%s: a finding of %s is not found by its rule", file, one.Rule)
			}
		}
	}
	if some < 100 {
		t.Errorf("only %d findings", some)
	}
}

// TestFilter_Frames: a frame is shown if one of its PDUs is, or if it has none and matches
// itself.
func TestFilter_Frames(t *testing.T) {
	tracetest.UnlessRaced(t)
	for _, file := range someCaptures(t) {
		all := recordsOf(t, told(t, "dissect", "--no-findings", "--format", "ndjson", "--records", "frame,pdu", file))
		completed := map[uint64]bool{}
		var frame uint64
		for _, r := range all {
			switch r.Record {
			case "frame":
				frame = r.Frame
			case "pdu": // it became known with the frame before it, which need not be its own
				completed[frame] = true
			}
		}
		var want []uint64
		for _, r := range all {
			// Behind the last frame stands what the end of the capture decided.
			if r.Record == "frame" && !completed[r.Frame] && r.Frame != frame {
				want = append(want, r.Frame)
			}
		}
		var got []uint64
		for _, r := range recordsOf(t, told(t, "dissect", "--no-findings", "--format", "ndjson", "--records", "frame", "-Y", "!iwd.pdu", file)) {
			if r.Frame != frame {
				got = append(got, r.Frame)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: frames without a PDU are %v, want %v", file, got, want)
		}
	}
}

// source has the frames of a capture in memory.
func framesOf(t testing.TB, file string) (frames []capture.Frame) {
	t.Helper()
	src, err := capture.Open(file, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var f capture.Frame
	for src.Next(&f) == nil {
		own := f
		own.Data = slices.Clone(f.Data)
		frames = append(frames, own)
	}
	return frames
}

// nothing is a sink that does nothing.
type nothing struct{}

func (nothing) PDU(*trace.PDU)                 {}
func (nothing) Gap(*trace.GapEvent)            {}
func (nothing) Transaction(*trace.Transaction) {}
func (nothing) Frame(*pipeline.Frame)          {}

// gated is a gate, and a PDU for it with its frame.
func gated(t testing.TB, filter string) (g *gate, p *trace.PDU) {
	t.Helper()
	o := filterFlags{display: filter}
	if err := o.compile(); err != nil {
		t.Fatal(err)
	}
	g = o.gate(nothing{}, foresight{}, false)
	k := &keeping{number: 20}
	run := pipeline.New(pipeline.Options{}, k)
	frames := framesOf(t, "../../testdata/pcaps/rping-rev2-crc.pcap")
	for i := range frames {
		run.Frame(&frames[i])
	}
	run.Finish()
	if k.pdu == nil {
		t.Fatal("no PDU")
	}
	return g, k.pdu
}

// keeping keeps a PDU.
type keeping struct {
	nothing
	number uint64
	pdu    *trace.PDU
}

func (k *keeping) PDU(p *trace.PDU) {
	if p.Number == k.number {
		k.pdu = p.Clone()
	}
}

var gateFilters = []string{
	"iwarp_rdma.opcode == 7",
	"iwarp_rdma.opcode in {1, 3..5} && iwd.crc.status == \"ok\"",
	"iwarp_ddp.msn > 100 || iwarp_mpa.ulpdulength < 100",
}

// TestGate_Allocs: a filter whose values come with the PDU allocates nothing.
func TestGate_Allocs(t *testing.T) {
	for _, filter := range gateFilters {
		g, p := gated(t, filter)
		g.PDU(p)
		if n := testing.AllocsPerRun(1000, func() { g.PDU(p) }); n != 0 {
			t.Errorf("%s: %v allocations for a PDU", filter, n)
		}
	}
}

// BenchmarkGate is the time that a filter takes for a PDU.
func BenchmarkGate(b *testing.B) {
	for _, filter := range gateFilters {
		b.Run(filter, func(b *testing.B) {
			g, p := gated(b, filter)
			b.ReportAllocs()
			for b.Loop() {
				g.PDU(p)
			}
		})
	}
}

// shown keeps the numbers of the PDUs that are passed on.
type shown struct {
	nothing
	pdus []uint64
}

func (s *shown) PDU(p *trace.PDU) { s.pdus = append(s.pdus, p.Number) }

// TestGate_Held: of PDUs that are held back, those are passed on that a finding is about, which
// may come behind other PDUs. At the end of a capture there may be very many of them: to look
// through them all for each one took hours.
func TestGate_Held(t *testing.T) {
	g, p := gated(t, "iwd.rule == \"MPA-CRC-01\"")
	var passed shown
	g.next = &passed
	const n = 50_000
	for i := range uint64(n) {
		own := *p
		own.Number = i
		g.PDU(&own)
	}
	rule := &conformance.Entry{ID: "MPA-CRC-01"}
	for _, pdu := range []uint64{n - 1, 7, 7, 30_000} {
		g.Finding(&conformance.Finding{Rule: rule, Conn: p.Conn, Frame: p.Frame, PDU: pdu, HasPDU: true})
	}
	g.Finding(&conformance.Finding{Rule: &conformance.Entry{ID: "MPA-CRC-02"}, Conn: p.Conn, Frame: p.Frame, PDU: 8, HasPDU: true})
	if took := processor.Time(g.end); took > 3*time.Second {
		t.Errorf("%d PDUs take %v", n, took)
	}
	if d := cmp.Diff([]uint64{7, 30_000, n - 1}, passed.pdus); d != "" {
		t.Error(d)
	}
}

// TestLive_Filter: what live shows of a filter is what dissect shows for the same frames,
// also where a value becomes known with the frame; connections without a match are left out.
func TestLive_Filter(t *testing.T) {
	const file = "../../testdata/pcaps/cmtime-20conn-crc.pcap"
	for _, filter := range []string{"iwarp_mpa.rep", "iwd.latency > 1ms", "tcp.flags.syn == 1", "iwd.conn == 3", "frame.number == 92 || iwd.rule"} {
		for _, records := range []string{"frame,pdu,transaction,finding", "connection"} {
			var out bytes.Buffer
			var slept time.Duration
			f := &feed{}
			f.add(0, framesOf(t, file))
			if err := f.run(t, &IOStreams{Out: &out, Err: io.Discard}, &slept, "--format", "ndjson", "--records", records, "-Y", filter); err != nil {
				t.Fatal(err)
			}
			// Connections are shown as they end.
			got, want := sortedLines(out.String()), sortedLines(told(t, "dissect", "--format", "ndjson", "--records", records, "-Y", filter, file))
			if len(want) == 0 || got != want {
				t.Errorf("%s, %s:\n got %s\nwant %s", filter, records, got, want)
			}
		}
	}
	var out bytes.Buffer
	var slept time.Duration
	f := &feed{}
	f.add(0, framesOf(t, file))
	if err := f.run(t, &IOStreams{Out: &out, Err: io.Discard}, &slept, "--summary-only", "-Y", "iwd.conn in {3, 5}"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "10.1.0.1:"); n == 0 || strings.Contains(out.String(), "\n4  ") || !strings.Contains(out.String(), "\n3  ") {
		t.Errorf("the tables have other connections than 3 and 5:\n%s", &out)
	}
}

func sortedLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestBits: what was added is there until there is too much.
func TestBits(t *testing.T) {
	var b bits
	for _, n := range []uint64{0, 1, 63, 64, 70_000, 1 << 40} {
		if b.has(n) {
			t.Errorf("%d is there before it was added", n)
		}
		b.add(n)
		if !b.has(n) || b.has(n+2) {
			t.Errorf("%d is not there, or %d is", n, n+2)
		}
	}
	for i := range uint64(mostChunks) {
		b.add(1<<41 + i*chunkBits)
	}
	if b.has(0) || !b.has(1<<41) || len(b.chunks) != mostChunks {
		t.Errorf("%d chunks are kept", len(b.chunks))
	}
}

package merge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/schematest"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// judged takes what the rules find.
type judged struct {
	*conformance.Engine
	w        *dataset.Writer
	findings []conformance.Finding
	tally    conformance.Tally
	summary  diagnose.Summary
}

func (j *judged) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	j.findings = append(j.findings, fs...)
	j.tally.Add(vs)
	j.summary.Connection(c, fs, vs)
}
func (j *judged) PDU(p *trace.PDU)                 { j.w.PDU(p); j.Engine.PDU(p) }
func (j *judged) Transaction(t *trace.Transaction) { j.w.Transaction(t) }
func (*judged) Frame(*pipeline.Frame)              {}

// write writes the tables of a capture, and returns what they were made of.
func write(t testing.TB, dir, point, file string, shard dataset.Shard, code int) (*judged, []*trace.Connection, pipeline.Totals) {
	t.Helper()
	w, err := dataset.Create(dataset.Program{Version: "1"}, dir, point, shard, dataset.Inputs([]string{file}), dataset.Connections, dataset.Findings, dataset.Transactions, dataset.Diagnoses)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	j := &judged{w: w}
	j.Engine = conformance.New(conformance.Options{}, j)
	part := packet.Shard{K: uint32(shard.Index), N: uint32(shard.Of)}
	if !part.All() {
		j.Partial()
	}
	src, err := capture.Open(filepath.Join("../../testdata/pcaps", file), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	run := pipeline.New(pipeline.Options{Sums: true, Brief: true, Shard: part}, j)
	if err := run.Read(src); err != nil {
		t.Fatal(err)
	}
	cs := run.Finish().Collect()
	counts := map[string]int64{}
	for i := range j.findings {
		f := &j.findings[i]
		w.Finding(f, dataset.Decided{})
		counts[f.Severity.String()] += int64(1 + f.Further())
	}
	w.Connections(slices.Values(cs), map[uint64]*dataset.Counts{})
	w.Diagnoses(j.summary.List())
	totals := run.Totals()
	m := &dataset.Manifest{
		Version: "0", Command: "analyze", ExitCode: code, Counters: dataset.Count(&totals),
		Findings: counts, Verdicts: dataset.NewVerdicts(&j.tally, j.Rules()),
	}
	if err := w.Commit(m); err != nil {
		t.Fatal(err)
	}
	return j, cs, totals
}

// summed puts folders together.
func summed(t testing.TB, opt Options, level string, dirs ...string) *Summary {
	t.Helper()
	results, errs := dataset.Results(dirs)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s := New(level)
	for i := range results {
		if err := s.Add(&results[i], opt); err != nil {
			t.Fatal(err)
		}
	}
	severity, _ := conformance.ParseSeverity(level)
	s.End(severity, false)
	return s
}

const broken, clean = "term-wbadkey.pcap", "lo-rping-crc.pcap"

// TestSummary: sums are those of the connections and findings of the captures.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	want := Totals{ReadLatency: &ReadLatency{}}
	rules := map[string]int64{}
	for i, file := range []string{broken, clean, "rping-p2p-read-crc.pcap", broken} {
		j, cs, totals := write(t, dir, fmt.Sprintf("tap%d", i), file, dataset.Shard{}, 0)
		want.Points++
		want.Frames += totals.Frames
		want.Octets += totals.Octets
		want.PDUs += totals.PDUs
		for _, c := range cs {
			want.Connections++
			for d := range c.Flow {
				want.FPDUs += int64(c.Flow[d].FPDUs)
				want.Retransmissions += int64(c.Flow[d].Rare().Retransmitted)
			}
			if l := c.ReadLatency; l != nil {
				want.Reads += int64(l.Count)
				want.readSum += int64(l.Sum)
				want.ReadMaxNS = max(want.ReadMaxNS, int64(l.Max))
			}
		}
		for i := range j.findings {
			rules[j.findings[i].Rule.ID]++
			*want.Findings.Of(j.findings[i].Severity)++
		}
	}
	s := summed(t, Options{}, "error", dir)
	got := s.Totals
	if got.Points != want.Points || got.Frames != want.Frames || got.Octets != want.Octets || got.PDUs != want.PDUs || got.Connections != want.Connections ||
		got.FPDUs != want.FPDUs || got.Retransmissions != want.Retransmissions || got.Reads != want.Reads || got.ReadMaxNS != want.ReadMaxNS ||
		got.ReadMeanNS != want.readSum/max(want.Reads, 1) || got.Findings != want.Findings || want.Reads == 0 || want.Findings.Errors == 0 {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	found := map[string]int64{}
	for _, r := range s.Rules {
		found[r.ID] += r.Findings
	}
	if d := cmp.Diff(rules, found); d != "" {
		t.Error(d)
	}
	if d := s.Diagnoses[0]; d.Of != 2 || d.Connections != 2 || cmp.Diff([]string{"tap0", "tap3"}, d.Points) != "" {
		t.Errorf("%+v", d)
	}
	if s.Gate.ExitCode != 1 {
		t.Errorf("exit code %d", s.Gate.ExitCode)
	}
	if text, err := json.Marshal(s); err != nil || schematest.As("merge", text) != nil {
		t.Errorf("%v %v", err, schematest.As("merge", text))
	}
}

// TestTotals_NoRead: the mean of nothing is not 0, it is not there; that of Reads is.
func TestTotals_NoRead(t *testing.T) {
	for file, want := range map[string]int{clean: 2, "term-send-norecv.pcap": 0} {
		dir := t.TempDir()
		write(t, dir, "tap", file, dataset.Shard{}, 0)
		all, err := json.Marshal(summed(t, Options{}, "error", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"read_mean_ns", "read_max_ns", "read_p99_worst_ns"} {
			if n := strings.Count(string(all), name); n != want { // in the sums, and of the point
				t.Errorf("%s: %s %d times, want %d", file, name, n, want)
			}
		}
	}
}

// TestGate: the exit code follows the level, the rules that are chosen, and what could not be
// read.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tap1", broken, dataset.Shard{}, 0)
	write(t, dir, "tap2", clean, dataset.Shard{}, 0)
	without := func(id string) Options {
		return Options{Enabled: func(e *conformance.Entry) bool { return e.ID != id }}
	}
	if c := summed(t, without("RDMAP-TERM-RSVD-01"), "error", dir).Gate.ExitCode; c != 0 {
		t.Errorf("without the only error: %d", c)
	}
	if c := summed(t, without("RDMAP-TERM-RSVD-01"), "warning", dir).Gate.ExitCode; c != 1 {
		t.Errorf("with warnings: %d", c)
	}
	write(t, dir, "tap3", clean, dataset.Shard{}, 3)
	if c := summed(t, Options{}, "error", dir).Gate.ExitCode; c != 3 {
		t.Errorf("with a point that was not read: %d", c)
	}
	s := New("error")
	s.Missing = []string{"tap4"}
	if s.End(conformance.Error, false); s.Gate.ExitCode != 3 {
		t.Errorf("with a point without a result: %d", s.Gate.ExitCode)
	}
}

// TestShards: the shards of a point make what the whole makes.
func TestShards(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	const file = "pt-lat-crc.pcap"
	source := "../../testdata/pcaps/" + file
	if _, err := os.Stat(source); err != nil {
		t.Fatal(err)
	}
	write(t, whole, "tap1", file, dataset.Shard{}, 0)
	for i := range 3 {
		write(t, parts, "tap1", file, dataset.Shard{Index: i, Of: 3}, 0)
	}
	one, three := summed(t, Options{}, "error", whole), summed(t, Options{}, "error", parts)
	if !reflect.DeepEqual(one.Totals, three.Totals) || one.Totals.Connections < 3 {
		t.Errorf("%+v\n%+v", one.Totals, three.Totals)
	}
	if three.Points[0].Shards != 3 || one.Points[0].Failed != three.Points[0].Failed || one.Points[0].Passed != three.Points[0].Passed {
		t.Errorf("%+v\n%+v", one.Points[0], three.Points[0])
	}
}

// TestKeep: reports get the findings as check has them.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := write(t, dir, "tap1", broken, dataset.Shard{}, 0)
	var got []render.Finding
	var tally conformance.Tally
	summed(t, Options{Keep: func(c *render.Checked) error {
		got, tally = c.Findings, c.Tally
		return nil
	}}, "error", dir)
	if len(got) != len(j.findings) || len(got) == 0 {
		t.Fatalf("%d findings, want %d", len(got), len(j.findings))
	}
	for i := range got {
		g, w := &got[i].Finding, &j.findings[i]
		if g.Rule != w.Rule || g.Severity != w.Severity || g.Conn.Number != w.Conn.Number || g.Conn.Side[0].Addr != w.Conn.Side[0].Addr || g.Dir != w.Dir ||
			g.HasDir != w.HasDir || g.Frame != w.Frame || g.PDU != w.PDU || g.HasPDU != w.HasPDU || g.Offset != w.Offset || g.Message != w.Message ||
			g.Observed != w.Observed || g.Expected != w.Expected {
			t.Errorf("%+v\nwant %+v", g, w)
		}
	}
	if d := cmp.Diff(ids(j.tally.Judgements()), ids(tally.Judgements())); d != "" {
		t.Error(d)
	}
}

func ids(js []conformance.Judgement) (all []string) {
	for _, j := range js {
		all = append(all, fmt.Sprint(j.Rule.ID, " ", j.Verdict, " ", j.Gate))
	}
	return all
}

// TestFleet puts very many small points together: what is in memory does not grow with them. The
// long form has a thousand.
func TestFleet(t *testing.T) {
	points := tracetest.Count(30, 400, 1000)
	dir, samples := t.TempDir(), t.TempDir()
	names := []string{broken, clean, "rping-p2p-read-crc.pcap"}
	for i, file := range names {
		write(t, samples, fmt.Sprintf("s%d", i), file, dataset.Shard{}, 0)
	}
	single := summed(t, Options{}, "error", samples)
	for i := range points {
		copyPoint(t, samples, fmt.Sprintf("s%d", i%len(names)), dir, fmt.Sprintf("tap%04d", i))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, most := time.Now(), uint64(0)
	results, errs := dataset.Results([]string{dir})
	if len(errs) > 0 || len(results) != points {
		t.Fatalf("%d results, %v", len(results), errs)
	}
	s := New("error")
	for i := range results {
		if err := s.Add(&results[i], Options{}); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 {
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapInuse-min(before.HeapInuse, after.HeapInuse))
		}
	}
	s.End(conformance.Error, false)
	var text bytes.Buffer
	if err := s.Text(&text, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d points in %v, %d MB", points, time.Since(start), most>>20)
	if most > uint64(40+points/3)<<20 {
		t.Errorf("%d MB in memory", most>>20)
	}
	rounds := uint64(points / len(names))
	var want uint64
	for i, p := range single.Points {
		n := rounds
		if i < points%len(names) {
			n++
		}
		want += n * p.Frames
	}
	if s.Totals.Frames != want || s.Totals.Points != points || s.Rules[0].Points != (points+2)/3 {
		t.Errorf("%+v, want %d frames", s.Totals, want)
	}
	if !strings.Contains(text.String(), fmt.Sprintf("%s at tap0000, tap0003, tap0006, tap0009, tap0012 and ", diagnose.Counted(uint64((points+2)/3), "connection", "connections"))) {
		t.Errorf("%.3000s", text.String())
	}
}

// copyPoint copies the results of a point under another name.
func copyPoint(t *testing.T, from, point, to, name string) {
	t.Helper()
	err := filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || filepath.Base(filepath.Dir(path)) != "point="+point {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content = bytes.Replace(content, []byte(`"point": "`+point+`"`), []byte(`"point": "`+name+`"`), 1)
		target := filepath.Join(to, filepath.Base(filepath.Dir(filepath.Dir(path))), "point="+name, filepath.Base(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestText_Escaped: names and texts of results do not reach the terminal as they are.
func TestText_Escaped(t *testing.T) {
	s := New("error")
	s.Rules = append(s.Rules, &Rule{ID: "X\x1b[31m", Example: Place{Message: "a\nb\x1b]0;x\a"}})
	s.Diagnoses = append(s.Diagnoses, &Diagnosis{Title: "t\x1b[2J", Text: "x\x07\u009b2J", Points: []string{"p"}, Of: 1, Severity: "err\x1bor"})
	s.Points = append(s.Points, &Point{Name: "p\x1b", Errors: []string{"e\x1b"}})
	s.Missing = []string{"m\x1b"}
	var b bytes.Buffer
	if err := s.Text(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.JSON(&b); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\u009b") || !json.Valid(b.Bytes()[bytes.IndexByte(b.Bytes(), '{'):]) {
		t.Errorf("%q", b.String())
	}
}

// TestDiagnosis_Counts: a connection with a problem in both directions is not two connections, and a point
// with several shards is one, also behind those that are listed.
func TestDiagnosis_Counts(t *testing.T) {
	s := New("error")
	for i := range mostPoints + 5 {
		name := fmt.Sprintf("p%d", i)
		for _, dir := range []string{"i2r", "r2i"} {
			for range 2 { // shards
				s.diagnosis(name, &dataset.Diagnosis{Kind: "rule", Severity: "note", Title: "t", Dir: dir, Connections: 1})
			}
		}
	}
	if len(s.Diagnoses) != 2 {
		t.Fatalf("%d diagnoses", len(s.Diagnoses))
	}
	for _, d := range s.Diagnoses {
		if d.Of != mostPoints+5 || len(d.Points) != mostPoints || d.Connections != 2*(mostPoints+5) {
			t.Errorf("%d points, %d listed, %d connections", d.Of, len(d.Points), d.Connections)
		}
	}
}

package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

var update = flag.Bool("update", false, "write the golden files")

// schemas are those of the tables.
func schemas() map[Table]*parquet.Schema {
	return map[Table]*parquet.Schema{
		Connections: parquet.SchemaOf(Connection{}), Findings: parquet.SchemaOf(Finding{}), Transactions: parquet.SchemaOf(Transaction{}),
		PDUs: parquet.SchemaOf(PDU{}), Diagnoses: parquet.SchemaOf(Diagnosis{}),
	}
}

// TestSchema: the columns are a promise. A change here is one of [Schema], unless it only adds.
func TestSchema(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", Schema)
	for _, table := range Tables {
		fmt.Fprintf(&b, "\n%s\n%s\n", table, schemas()[table])
	}
	const golden = "testdata/schema.txt"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("the schema of the tables changed (-update writes it):\n%s", d)
	}
}

// direction is what the columns of a direction begin with; the documentation has them once.
var direction = regexp.MustCompile(`^(i2r|r2i)_`)

// TestSchema_Documented: docs/parquet.md has each column below the heading of its table, and none
// that there is not.
func TestSchema_Documented(t *testing.T) {
	text, err := os.ReadFile("../../docs/parquet.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	word := regexp.MustCompile("`([^`]+)`")
	for _, table := range Tables {
		_, section, ok := strings.Cut(string(text), "\n## "+string(table)+"\n")
		if !ok {
			t.Errorf("docs/parquet.md has no section %s", table)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var documented, columns []string
		for _, r := range row.FindAllStringSubmatch(section, -1) {
			for _, w := range word.FindAllStringSubmatch(r[1], -1) {
				documented = append(documented, w[1])
			}
		}
		for _, path := range schemas()[table].Columns() {
			name := direction.ReplaceAllString(strings.Join(path, "."), "DIR_")
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
		slices.Sort(documented)
		slices.Sort(columns)
		if d := cmp.Diff(columns, documented); d != "" {
			t.Errorf("%s: columns and what is documented of them differ:\n%s", table, d)
		}
	}
}

// run is what a test writes of a capture.
type run struct {
	*Writer
	pdus     []trace.PDU
	findings []conformance.Finding
	summary  diagnose.Summary
	conns    []*trace.Connection
	totals   pipeline.Totals
}

func (r *run) PDU(p *trace.PDU) {
	r.pdus = append(r.pdus, *p.Clone())
	r.Writer.PDU(p)
}

func (r *run) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	r.findings = append(r.findings, fs...)
	r.summary.Connection(c, fs, vs)
}

// program is what writes the tables.
var program = Program{Version: "1.2.3", Build: "revision abc"}

// judging has the rules judge before the tables are written.
type judging struct {
	*conformance.Engine
	next pipeline.Sink
}

func (j judging) PDU(p *trace.PDU)                 { j.next.PDU(p); j.Engine.PDU(p) }
func (j judging) Transaction(t *trace.Transaction) { j.next.Transaction(t) }
func (j judging) Frame(*pipeline.Frame)            {}

// write writes all tables of a capture.
func write(t testing.TB, dir, point string, shard Shard, file string) *run {
	t.Helper()
	w, err := Create(program, dir, point, shard, Inputs([]string{file}), Tables...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	r := &run{Writer: w}
	src, err := capture.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	p := pipeline.New(pipeline.Options{Sums: true, Brief: true}, judging{conformance.New(conformance.Options{}, r), r})
	if err := p.Read(src); err != nil {
		t.Fatal(err)
	}
	r.conns, r.totals = p.Finish().Collect(), p.Totals()
	for i := range r.findings {
		w.Finding(&r.findings[i], Decided{})
	}
	w.Connections(slices.Values(r.conns), map[uint64]*Counts{})
	w.Diagnoses(r.summary.List())
	m := &Manifest{Command: "test", Counters: Count(&r.totals)}
	if err := w.Commit(m); err != nil {
		t.Fatal(err)
	}
	return r
}

const broken = "../../testdata/pcaps/term-wbadkey.pcap"

func collect[Row any](t *testing.T, p *Part, table Table) (all []Row) {
	t.Helper()
	for r, err := range Rows[Row](p, table) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *r)
	}
	return all
}

// TestTables: what is read of the tables is what was written.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	r := write(t, dir, "tap1", Shard{}, broken)
	results, errs := Results([]string{dir})
	if len(errs) > 0 || len(results) != 1 || len(results[0].Parts) != 1 {
		t.Fatalf("%v %+v", errs, results)
	}
	p := &results[0].Parts[0]
	pdus := collect[PDU](t, p, PDUs)
	if len(pdus) != len(r.pdus) || len(pdus) < 6 {
		t.Fatalf("%d PDUs, want %d", len(pdus), len(r.pdus))
	}
	for i := range pdus {
		got, want := pdus[i], &r.pdus[i]
		if got.PDU != int64(want.Number) || got.Frame != int64(want.Frame) || got.Time != want.Time || got.Kind != want.Kind.String() ||
			got.Dir != want.Dir.String() || got.Length != want.Length || (got.Offset != nil) != want.HasOffset {
			t.Errorf("row %d: %+v, want %+v", i, got, want)
		}
		if s := want.Segment; s == nil {
			if got.Opcode != "" || got.Last != nil || got.STag != nil || got.MSN != nil {
				t.Errorf("row %d has a segment: %+v", i, got)
			}
		} else if got.Opcode != want.Control.Opcode.String() || *got.Last != s.Last ||
			s.Tagged && (*got.STag != int64(s.STag) || *got.TO != s.TO || got.QN != nil) ||
			!s.Tagged && (*got.MSN != int64(s.MSN) || *got.QN != int64(s.QN) || got.TO != nil) {
			t.Errorf("row %d: %+v, want %+v", i, got, s)
		}
	}
	findings := collect[Finding](t, p, Findings)
	if len(findings) != len(r.findings) || len(findings) != 3 {
		t.Fatalf("%d findings, want %d", len(findings), len(r.findings))
	}
	for i, f := range findings {
		want := &r.findings[i]
		if f.Rule != want.Rule.ID || f.Message != want.Message || f.Frame != int64(want.Frame) || f.Severity != want.Severity.String() ||
			f.Initiator != "10.1.0.1" || f.ResponderPort != 7200 {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
	conns := collect[Connection](t, p, Connections)
	c := r.conns[0]
	if len(conns) != 1 || conns[0].FlowI2R.FPDUs != int64(c.Flow[0].FPDUs) || conns[0].FlowR2I.FPDUs != 1 || conns[0].End != "rst" ||
		conns[0].TerminateR2I != "DDP/tagged: Invalid STag" || *conns[0].DepthI2R != 4 || conns[0].FirstTime != c.FirstTime || *conns[0].CRC != true {
		t.Errorf("connection: %+v", conns)
	}
	if ts := collect[Transaction](t, p, Transactions); len(ts) != 1 || ts[0].Kind != "startup" || *ts[0].Last != c.StartupLatency || ts[0].Time == 0 || ts[0].Dir != "i2r" {
		t.Errorf("transactions: %+v", ts)
	}
	if ds := collect[Diagnosis](t, p, Diagnoses); len(ds) != 1 || ds[0].Text != r.summary.List()[0].Sentences() || *ds[0].Conn != 0 {
		t.Errorf("diagnoses: %+v", ds)
	}
}

// files are those below a folder.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTwice: a task that runs twice writes the same files, and its manifest once.
func TestTwice(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tap1", Shard{}, broken)
	once := files(t, dir)
	write(t, dir, "tap1", Shard{}, broken)
	if d := cmp.Diff(once, files(t, dir)); d != "" || len(once) != len(Tables)+1 {
		t.Errorf("the second run wrote other files:\n%s", d)
	}
}

// TestHalf: of a task that did not come to its end nothing counts, and what was there before
// still does.
func TestHalf(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(program, dir, "tap1", Shard{}, nil, Tables...)
	if err != nil {
		t.Fatal(err)
	}
	if results, errs := Results([]string{dir}); len(results) != 0 || len(errs) != 0 {
		t.Errorf("a task that runs has a result: %v %v", results, errs)
	}
	for _, f := range files(t, dir) {
		if !strings.HasPrefix(filepath.Base(f), ".") {
			t.Errorf("%s has its name before it is written", f)
		}
	}
	w.Discard()
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	write(t, dir, "tap1", Shard{}, broken)
	time.Sleep(time.Millisecond) // so that the next one is newer
	write(t, dir, "tap1", Shard{}, "../../testdata/pcaps/lo-rping-crc.pcap")
	results, _ := Results([]string{dir})
	newest := results[0].Parts[0]
	if results[0].Older != 0 || len(results[0].Others) != 1 || newest.Inputs[0].Name != "../../testdata/pcaps/lo-rping-crc.pcap" {
		t.Errorf("%+v", results)
	}
	path := newest.path(dir, newest.file(PDUs))
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	results, errs := Results([]string{dir})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "not complete") || results[0].Parts[0].Inputs[0].Name != broken || results[0].Older != 0 {
		t.Errorf("%v %+v", errs, results)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, errs = Results([]string{dir}); len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) {
		t.Errorf("%v", errs)
	}
}

// TestCreatedBy: a file names the program as Parquet wants it.
func TestCreatedBy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tap1", Shard{}, broken)
	for _, name := range files(t, dir) {
		if !strings.HasSuffix(name, ".parquet") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Metadata().CreatedBy; got != "iwdissect version 1.2.3(build revision abc)" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestManifest_Covers: a result stands for another one of the same files, whatever their names, and of what they
// were before they grew.
func TestManifest_Covers(t *testing.T) {
	small, large := Input{Name: "a", Size: 100, Head: "x", HeadSize: 100}, Input{Name: "b", Size: 100_000, Head: "y", HeadSize: headSize}
	with := func(in Input, change func(*Input)) Input { change(&in); return in }
	first := func(at int64, in ...Input) *Manifest { return &Manifest{Inputs: in, Counters: Counters{FirstTime: at}} }
	pipe := Input{Name: "-"}
	for name, test := range map[string]struct {
		newer, older *Manifest
		want         bool
	}{
		"the same":        {first(1, small, large), first(1, small, large), true},
		"moved":           {first(1, with(small, func(in *Input) { in.Name = "c" })), first(1, small), true},
		"one more":        {first(1, small, large), first(1, large), true},
		"one less":        {first(1, small), first(1, small, large), false},
		"another":         {first(1, with(small, func(in *Input) { in.Head = "z" })), first(1, small), false},
		"grown":           {first(1, with(large, func(in *Input) { in.Size++ })), first(1, large), true},
		"cut":             {first(1, with(large, func(in *Input) { in.Size-- })), first(1, large), false},
		"small and grown": {first(1, with(small, func(in *Input) { in.Size, in.HeadSize = 101, 101 })), first(1, small), false},
		"a pipe":          {first(1, pipe), first(1, pipe), true},
		"another pipe":    {first(2, pipe), first(1, pipe), false},
		"a pipe, a file":  {first(1, small), first(1, pipe), false},
		"nothing":         {first(1), first(1), true},
	} {
		if got := test.newer.covers(test.older); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestResults_Others: a result of another capture under the name of a point is told, and a folder that is named
// twice, or was copied, is read once.
func TestResults_Others(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	write(t, dir, "tap1", Shard{}, broken)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	results, errs := Results([]string{dir, copied, dir})
	if r := results[0]; len(errs) != 0 || len(r.Parts) != 1 || r.Older != 0 || len(r.Others) != 0 {
		t.Errorf("%+v, %v", r, errs)
	}
	time.Sleep(time.Millisecond) // so that the next one is newer
	again := t.TempDir()
	write(t, again, "tap1", Shard{}, broken)
	results, _ = Results([]string{dir, again})
	if r := results[0]; len(r.Parts) != 1 || r.Older != 1 || len(r.Others) != 0 {
		t.Errorf("the same capture once more: %+v", r)
	}
	write(t, dir, "tap1", Shard{}, "../../testdata/pcaps/lo-rping-crc.pcap")
	results, _ = Results([]string{dir, again})
	if r := results[0]; len(r.Parts) != 1 || r.Older != 0 || !slices.Equal(r.Others, []string{broken}) {
		t.Errorf("another capture: %+v", r)
	}
	// A shard of another capture is none of this one.
	parts := t.TempDir()
	write(t, parts, "tap1", Shard{0, 2}, broken)
	time.Sleep(time.Millisecond)
	write(t, parts, "tap1", Shard{1, 2}, "../../testdata/pcaps/lo-rping-crc.pcap")
	results, _ = Results([]string{parts})
	if r := results[0]; len(r.Parts) != 1 || len(r.Missing) != 1 || len(r.Others) != 1 {
		t.Errorf("shards of two captures: %+v", r)
	}
}

// TestRows_Damaged: of a file that is damaged no row counts, wherever the damage is.
func TestRows_Damaged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tap1", Shard{}, broken)
	results, _ := Results([]string{dir})
	p := &results[0].Parts[0]
	path := p.path(dir, p.file(Findings))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 97 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range Rows[Finding](p, Findings) {
			if n++; r != nil || !errors.Is(err, errDamaged) {
				t.Fatalf("octet %d: %v %v", at, r, err)
			}
		}
		if n != 1 {
			t.Fatalf("octet %d: no error", at)
		}
	}
}

// TestRows_Forged: a file with the hash that its manifest says is read without taking more memory than
// it may, whatever it says.
func TestRows_Forged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tap1", Shard{}, broken)
	results, _ := Results([]string{dir})
	p := &results[0].Parts[0]
	step := tracetest.Count(211, 53, 1)
	refused := 0
	for _, table := range []Table{Findings, Connections, Diagnoses} {
		as := p.file(table)
		path := p.path(dir, as)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += step {
			b := bytes.Clone(whole)
			b[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(b)
			as.SHA256 = hex.EncodeToString(sum[:])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := all(p, table); err != nil {
				refused++
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%s, octet %d: %d octets were taken", table, at, n)
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was seen")
	}
}

// FuzzRows: whatever a forged table says, reading it ends, with as many rows as its manifest says or
// with an error, and takes no more memory than it may.
func FuzzRows(f *testing.F) {
	dir := f.TempDir()
	write(f, dir, "tap1", Shard{}, broken)
	results, _ := Results([]string{dir})
	p := &results[0].Parts[0]
	as := p.file(Findings)
	path := p.path(dir, as)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		as.SHA256, as.Size = hex.EncodeToString(sum[:]), int64(len(b))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := int64(0)
		for _, err := range Rows[Finding](p, Findings) {
			if n++; err != nil {
				n = as.Rows
			}
		}
		runtime.ReadMemStats(&after)
		if n != as.Rows {
			t.Errorf("%d rows", n)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 2*mostRoom {
			t.Errorf("%d octets were taken", n)
		}
	})
}

// all reads a table, and returns the error of it.
func all(p *Part, table Table) (failed error) {
	switch table {
	case Findings:
		for _, err := range Rows[Finding](p, table) {
			failed = errors.Join(failed, err)
		}
	case Connections:
		for _, err := range Rows[Connection](p, table) {
			failed = errors.Join(failed, err)
		}
	case Diagnoses:
		for _, err := range Rows[Diagnosis](p, table) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// TestRows_Many: a table of several row groups, with long texts that differ, is within all bounds.
func TestRows_Many(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	dir := t.TempDir()
	f, err := newTable[Finding](program, Findings, dir, "tap1")
	if err != nil {
		t.Fatal(err)
	}
	const rows = groupRows + 5000
	for i := range rows {
		f.add(Finding{
			Conn: int64(i), Rule: "R", Severity: "error", Frame: int64(i), Times: 1,
			Message:  fmt.Sprintf("%d is a message that is told of this connection and of no other one, %d", i, i*i),
			Observed: strings.Repeat("0123456789abcdef", 1+i%40), PDU: new(int64),
		})
	}
	as, err := f.commit(Shard{})
	if err != nil {
		t.Fatal(err)
	}
	p := &Part{Manifest: Manifest{Point: "tap1", Files: []File{as}}, Dir: dir}
	n := 0
	for _, err := range Rows[Finding](p, Findings) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != rows {
		t.Errorf("%d rows", n)
	}
}

// TestShards: the shards of a point are one result, and a missing one is told.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tap1", Shard{}, broken)
	time.Sleep(time.Millisecond)
	write(t, dir, "tap1", Shard{0, 3}, broken)
	write(t, dir, "tap1", Shard{2, 3}, broken)
	results, errs := Results([]string{dir})
	if len(errs) > 0 || len(results) != 1 {
		t.Fatal(errs)
	}
	r := results[0]
	if len(r.Parts) != 2 || r.Parts[1].Shard != (Shard{2, 3}) || r.Older != 1 {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]Shard{{1, 3}}, r.Missing); d != "" {
		t.Error(d)
	}
}

// TestManifest_Hostile: a manifest names no file outside of its table.
func TestManifest_Hostile(t *testing.T) {
	for _, f := range []File{
		{Table: PDUs, Name: "../../../etc/passwd"}, {Table: "../x", Name: "y"}, {Table: PDUs, Name: ".."}, {Table: PDUs, Name: ""},
	} {
		m := Manifest{Point: "tap1", Files: []File{f}}
		if err := m.complete(t.TempDir()); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// TestRows_Older: a table of diagnoses from before the columns about what is known is read, and nothing is known of it.
func TestRows_Older(t *testing.T) {
	type older struct {
		Shard       int32  `parquet:"shard,dict"`
		Kind        string `parquet:"kind,dict"`
		Severity    string `parquet:"severity,dict"`
		Dir         string `parquet:"dir,optional,dict"`
		Conn        *int64 `parquet:"conn,optional"`
		Connections int64  `parquet:"connections"`
		Frame       *int64 `parquet:"frame,optional"`
		Title       string `parquet:"title"`
		Text        string `parquet:"text"`
		Advice      string `parquet:"advice,optional"`
		Rules       string `parquet:"rules,optional"`
	}
	path := filepath.Join(t.TempDir(), "older.parquet")
	if err := parquet.WriteFile(path, []older{{Kind: "crc", Title: "wrong CRC", Rules: "MPA-CRC-VALUE-01"}}, parquet.Compression(&zstd.Codec{})); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	next, done, err := reader[Diagnosis](file)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	rows := make([]Diagnosis, 2)
	n, err := next(rows)
	if n != 1 || rows[0].Rules != "MPA-CRC-VALUE-01" || rows[0].Decided != "" || rows[0].Known {
		t.Errorf("%d rows, %v: %+v", n, err, rows[0])
	}
}

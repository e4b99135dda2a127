package dataset

import (
	"iter"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Writer writes the tables of a point, or of a shard of it. Its PDUs and transactions come as to
// a [pipeline.Sink].
type Writer struct {
	by     Program
	shard  Shard
	point  string
	inputs []Input
	tables []written // those that are written, in the order of Tables
	// The manifests go to folder.
	folder *outfile.Folder

	connections  *table[Connection]
	findings     *table[Finding]
	transactions *table[Transaction]
	pdus         *table[PDU]
	diagnoses    *table[Diagnosis]

	values values
	last   lastPDU
}

// lastPDU is what a transaction is told by the PDU before it, which completed it.
type lastPDU struct {
	conn, frame uint64
	time        int64
	dir         trace.Dir
	any         bool
}

// Program is what writes tables, as their files name it.
type Program struct{ Version, Build string }

// Create begins the tables of a point, which is made of the inputs. Its folders are made; files get their names with
// [Writer.Commit].
func Create(by Program, dir, point string, shard Shard, inputs []Input, tables ...Table) (w *Writer, err error) {
	w = &Writer{by: by, shard: shard, point: point, inputs: inputs}
	w.values.shard = int32(shard.Index) //nolint:gosec // there are few
	for _, kind := range tables {
		if err == nil {
			err = w.begin(kind, dir, point)
		}
	}
	if err == nil {
		w.folder, err = outfile.OpenFolder(partition(dir, manifests, point))
	}
	if err != nil {
		w.Discard()
		return nil, err
	}
	return w, nil
}

func (w *Writer) begin(kind Table, dir, point string) error {
	switch kind {
	case Connections:
		return begin(w, &w.connections, kind, dir, point)
	case Findings:
		return begin(w, &w.findings, kind, dir, point)
	case Transactions:
		return begin(w, &w.transactions, kind, dir, point)
	case PDUs:
		return begin(w, &w.pdus, kind, dir, point)
	case Diagnoses:
		return begin(w, &w.diagnoses, kind, dir, point)
	}
	return nil
}

func begin[Row any](w *Writer, at **table[Row], kind Table, dir, point string) (err error) {
	if *at, err = newTable[Row](w.by, kind, dir, point); err == nil {
		w.tables = append(w.tables, *at)
	}
	return err
}

// PDU implements [trace.Sink].
func (w *Writer) PDU(p *trace.PDU) {
	w.last = lastPDU{p.Conn.Number, p.Frame, p.Time, p.Dir, true}
	if w.pdus != nil {
		w.pdus.add(w.values.pdu(p, len(w.pdus.rows)))
	}
}

// Transaction implements [trace.Sink].
func (w *Writer) Transaction(t *trace.Transaction) {
	if w.transactions == nil {
		return
	}
	r := Transaction{
		Shard: w.values.shard,
		Conn:  signed(t.Conn.Number), Kind: t.Kind.String(), Frame: signed(t.Frame), Request: signed(t.Request),
		Responses: signed(uint64(len(t.Responses)) + t.Omitted), Bytes: signed(t.Bytes),
	}
	if w.last.any && w.last.frame == t.Frame {
		r.Time = w.last.time
		if w.last.conn == t.Conn.Number {
			r.Dir = (1 - w.last.dir).String() // the PDU answers it
		}
	}
	if t.Last >= 0 {
		r.First, r.Last = pointer(t.First), pointer(t.Last)
	}
	w.transactions.add(r)
}

// Gap implements [trace.Sink].
func (*Writer) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (*Writer) Frame(*pipeline.Frame) {}

// Connections writes the connections. found counts the findings of each; nil: no rules were asked.
func (w *Writer) Connections(cs iter.Seq[*trace.Connection], found map[uint64]*Counts) {
	if w.connections == nil {
		return
	}
	for c := range cs {
		var counts *Counts
		if found != nil {
			if counts = found[c.Number]; counts == nil {
				counts = new(Counts)
			}
		}
		r := connection(c, counts)
		r.Shard = w.values.shard
		w.connections.add(r)
	}
}

// Decided is what is known of a finding besides itself.
type Decided struct {
	Known       bool
	Suppressed  string // the reason, "" if it is not
	SourceFile  string // "": the capture is one file
	SourceFrame uint64
}

// Finding writes a finding.
func (w *Writer) Finding(f *conformance.Finding, d Decided) {
	if w.findings != nil {
		r := finding(f, d)
		r.Shard = w.values.shard
		w.findings.add(r)
	}
}

func finding(f *conformance.Finding, d Decided) Finding {
	r := Finding{
		Conn: signed(f.Conn.Number), Rule: f.Rule.ID, Severity: f.Severity.String(), Layer: f.Rule.Layer, Spec: f.Rule.Spec, Section: f.Rule.Section,
		Frame: signed(f.Frame), Transport: f.Conn.Transport.String(), Message: text(f.Message), Observed: text(f.Observed), Expected: text(f.Expected),
		Times: int64(1 + f.Further()), Known: d.Known, Suppressed: text(d.Suppressed), SourceFile: text(d.SourceFile),
	}
	r.Initiator, r.InitiatorPort = endpoint(f.Conn, trace.I2R)
	r.Responder, r.ResponderPort = endpoint(f.Conn, trace.R2I)
	if f.HasDir {
		r.Dir = f.Dir.String()
	}
	if f.HasPDU {
		r.PDU = pointer(signed(f.PDU))
	}
	if f.HasOffset {
		r.Offset = pointer(f.Offset)
	}
	if d.SourceFile != "" {
		r.SourceFrame = pointer(signed(d.SourceFrame))
	}
	return r
}

// Diagnoses writes what went wrong.
func (w *Writer) Diagnoses(list []*diagnose.Diagnosis) {
	if w.diagnoses == nil {
		return
	}
	for _, d := range list {
		r := diagnosis(d)
		r.Shard = w.values.shard
		w.diagnoses.add(r)
	}
}

func diagnosis(d *diagnose.Diagnosis) Diagnosis {
	r := Diagnosis{
		Kind: string(d.Kind), Severity: d.Severity.String(), Connections: int64(d.Of), Title: text(d.Title), Text: text(d.Sentences()),
		Advice: text(d.Advice), Rules: words(d.Rules), Decided: words(d.Decided), Known: d.AllDecided,
	}
	if d.HasDir {
		r.Dir = d.Dir.String()
	}
	if d.Conn != nil {
		r.Conn = pointer(signed(d.Conn.Number))
	}
	if len(d.Frames) > 0 {
		r.Frame = pointer(signed(d.Frames[0]))
	}
	return r
}

// words are some words with spaces between them.
func words(list []string) (s string) {
	for i, w := range list {
		if i > 0 {
			s += " "
		}
		s += w
	}
	return s
}

// Commit gives the files their names and then writes the manifest, which lacks only what is about
// them. With an error there is no manifest, and what was written does not count.
func (w *Writer) Commit(m *Manifest) error {
	defer w.Discard()
	m.Point, m.Inputs = w.point, w.inputs
	m.Schema, m.Shard, m.Catalogue = Schema, Shard{w.shard.Index, w.shard.Count()}, CatalogueHash()
	for len(w.tables) > 0 {
		t := w.tables[0]
		w.tables = w.tables[1:]
		f, err := t.commit(w.shard)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, f)
	}
	slices.SortFunc(m.Files, func(a, b File) int { return slices.Index(Tables, a.Table) - slices.Index(Tables, b.Table) })
	m.Finished = time.Now().UTC()
	return m.write(w.folder)
}

// Discard removes what has no name yet, and ends the use of the folders.
func (w *Writer) Discard() {
	for _, t := range w.tables {
		t.discard()
	}
	w.tables = nil
	if w.folder != nil {
		_ = w.folder.Close()
		w.folder = nil
	}
}

// Prepare makes the folders of a point.
func Prepare(dir, point string, tables ...Table) error {
	for _, t := range append(slices.Clone(tables), manifests) {
		if err := outfile.MakeFolder(partition(dir, string(t), point)); err != nil {
			return err
		}
	}
	return nil
}

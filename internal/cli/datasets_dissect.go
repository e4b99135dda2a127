package cli

import (
	"iter"
	"strings"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// pduTables writes what dissect shows as tables. Until a capture is begun, and if it cannot be,
// it takes nothing.
type pduTables struct {
	d *datasets
	w *dataset.Writer
}

// parquet takes -o and --records as --format parquet means them.
func (o *dissectOptions) parquet(set *pflag.FlagSet) error {
	if o.format != parquetFormat {
		return o.noted(set, o.format)
	}
	for i, v := range o.preferences {
		if !strings.Contains(v, ":") && o.dir == "" {
			o.dir = v
			o.preferences = append(o.preferences[:i:i], o.preferences[i+1:]...)
			break
		}
	}
	if o.tree || o.hex || o.wanted() {
		return usagef("-V, -x and -z go with other formats than parquet")
	}
	if o.records == "" {
		o.records = "pdu,transaction"
	}
	sel, err := selection(o.records)
	if err != nil {
		return err
	}
	if sel.Frames || sel.Findings {
		return usagef("%w", errPDUTables)
	}
	return o.noted(set, o.format)
}

// pduTables prepares the tables of the captures.
func (o *dissectOptions) pduTables(files []string) (*pduTables, error) {
	sel, err := selection(o.records)
	if err != nil {
		return nil, err
	}
	var tables []dataset.Table
	for _, t := range []struct {
		wanted bool
		table  dataset.Table
	}{{sel.PDUs, dataset.PDUs}, {sel.Transactions, dataset.Transactions}, {sel.Connections, dataset.Connections}} {
		if t.wanted {
			tables = append(tables, t.table)
		}
	}
	d, err := o.datasets(o.s, &o.input, files, "dissect", tables...)
	return &pduTables{d: d}, err
}

// begin begins the tables of a capture.
func (t *pduTables) begin(u *unit) (err error) {
	t.w, err = t.d.create(u)
	return err
}

// beginTables begins the tables of a capture, if the sink writes some. ok: it can be shown.
func beginTables(sink dissectSink, u *unit, tell func(error)) (t *pduTables, ok bool) {
	if t, ok = sink.(*pduTables); ok {
		if err := t.begin(u); err != nil {
			tell(err)
			return t, false
		}
	}
	return t, true
}

// end ends them, if there are any.
func (t *pduTables) end(run *pipeline.Run, errs []error) error {
	if t == nil || t.w == nil {
		return nil
	}
	w := t.w
	t.w = nil
	return t.d.commit(w, &outcome{totals: run.Totals(), errs: errs, code: exitOf(len(errs) > 0, false)})
}

// discard gives them up, if there are any.
func (t *pduTables) discard() {
	if t != nil && t.w != nil {
		t.w.Discard()
		t.w = nil
	}
}

// PDU implements [trace.Sink].
func (t *pduTables) PDU(p *trace.PDU) {
	if t.w != nil {
		t.w.PDU(p)
	}
}

// Transaction implements [trace.Sink].
func (t *pduTables) Transaction(x *trace.Transaction) {
	if t.w != nil {
		t.w.Transaction(x)
	}
}

// Connections writes the connections of a capture.
func (t *pduTables) Connections(cs iter.Seq[*trace.Connection]) {
	if t.w != nil {
		t.w.Connections(cs, nil)
	}
}

// What is not in tables.

func (*pduTables) Gap(*trace.GapEvent)          {}
func (*pduTables) Frame(*pipeline.Frame)        {}
func (*pduTables) Finding(*conformance.Finding) {}
func (*pduTables) Capture(_, _ string)          {}

// Beside and Close make it a sink of dissect: tables are written as they come.
func (*pduTables) Beside()      {}
func (*pduTables) Close() error { return nil }

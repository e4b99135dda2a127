package render

import (
	"io"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Schema names the shape of the JSON documents.
const Schema = "iwdissect/1"

// Analysis writes the JSON document of analyze. Transactions are written as
// they come, so that memory does not grow with them; what is known of
// connections at their end follows.
type Analysis struct {
	out output
	obj object
	// selected is how many connections are, if hasSelected.
	selected    int
	hasSelected bool
	// statistics writes the JSON of those of the capture at hand, nil for none.
	statistics func(io.Writer) error
}

// NewAnalysis writes to w.
func NewAnalysis(w io.Writer) *Analysis {
	a := &Analysis{out: output{w: w}}
	a.obj.open()
	a.obj.str("schema", Schema)
	a.obj.key("captures")
	a.obj.openList()
	return a
}

// Entry returns what writes the entry of one capture to w, from Begin to
// EndChecked, for one who puts the entries of several in order behind what was
// written so far. The first one follows on no other.
func (a *Analysis) Entry(w io.Writer, first bool) *Analysis {
	if first {
		a.flush()
	}
	e := &Analysis{out: output{w: w}}
	e.obj.comma = !first
	return e
}

// flush hands on all that is written so far.
func (a *Analysis) flush() {
	a.out.b = append(a.out.b, a.obj.b...)
	a.obj.b = a.obj.b[:0]
	a.out.flush()
}

// Begin starts the entry of a capture.
func (a *Analysis) Begin(file string) { a.BeginPoint("", file) }

// BeginPoint starts the entry of the capture of a point, unless that is "".
func (a *Analysis) BeginPoint(point, file string) {
	o := &a.obj
	if o.comma {
		o.sep()
	}
	o.b = append(o.b, '\n')
	o.comma = false
	o.open()
	if point != "" {
		o.str("point", point)
	}
	o.str("file", file)
	o.key("transactions")
	o.openList()
}

// PDU implements [trace.Sink].
func (a *Analysis) PDU(*trace.PDU) {}

// Gap implements [trace.Sink].
func (a *Analysis) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (a *Analysis) Frame(*pipeline.Frame) {}

// Transaction implements [trace.Sink].
func (a *Analysis) Transaction(t *trace.Transaction) {
	o := &a.obj
	o.sep()
	o.b = append(o.b, '\n')
	o.open()
	o.str("record", "transaction")
	transactionMembers(o, t)
	o.close()
	a.spill()
}

// spill hands on what is written so far.
func (a *Analysis) spill() {
	if len(a.obj.b) < flushAt {
		return
	}
	a.flush()
}

// Selected says of the capture at hand that only part of it is shown, and how many
// connections that are.
func (a *Analysis) Selected(connections int) { a.selected, a.hasSelected = connections, true }

// Statistics sets what writes the statistics of the capture at hand, a JSON list; nil for none.
func (a *Analysis) Statistics(list func(io.Writer) error) { a.statistics = list }

// End ends the entry of a capture. Failure says why it could not be read to its
// end, if it could not.
func (a *Analysis) End(t *pipeline.Totals, format string, cs *ended.List, findings []Finding, ds *diagnose.Summary, failure string) {
	a.end(t, format, cs, findings, ds, failure, nil)
}

// EndChecked ends the entry of a capture that was checked, with the verdicts.
func (a *Analysis) EndChecked(c *Checked) {
	a.end(&c.Totals, c.Format, c.Connections, c.Findings, c.Diagnoses(), c.Failure, c)
	a.flush()
}

func (a *Analysis) end(
	t *pipeline.Totals, format string, cs *ended.List, findings []Finding, ds *diagnose.Summary, failure string, checked *Checked,
) {
	o := &a.obj
	o.closeList()
	a.diagnoses(ds)
	o.key("connections")
	o.openList()
	for c := range cs.Each() {
		o.sep()
		o.b = append(o.b, '\n')
		o.open()
		o.str("record", "connection")
		connectionMembers(o, c)
		o.close()
		a.spill()
	}
	o.closeList()
	o.key("findings")
	o.openList()
	for i := range findings {
		o.sep()
		o.b = append(o.b, '\n')
		o.open()
		o.str("record", "finding")
		checkedMembers(o, &findings[i])
		o.close()
		a.spill()
	}
	o.closeList()
	if checked != nil {
		o.key("verdicts")
		o.openList()
		checked.eachVerdict(func(conn uint64, v *conformance.Judgement) {
			o.sep()
			o.b = append(o.b, '\n')
			o.open()
			verdictMembers(o, conn, v)
			o.close()
			a.spill()
		})
		o.closeList()
	}
	if a.statistics != nil {
		o.key("statistics")
		a.flush()
		a.out.take(a.statistics)
		a.statistics, o.comma = nil, true
	}
	o.key("summary")
	o.open()
	if a.hasSelected {
		o.int("selected_connections", int64(a.selected))
		a.hasSelected = false
	}
	summaryMembers(o, t, format, failure, checked)
	o.close()
}

func summaryMembers(o *object, t *pipeline.Totals, format, failure string, checked *Checked) {
	o.str("format", format)
	o.uint("frames", t.Frames)
	o.uint("octets", t.Octets)
	o.uint("captured_octets", t.Captured)
	o.uint("tcp_frames", t.TCP)
	o.uint("sctp_frames", t.SCTP)
	o.uint("other_frames", t.Other)
	o.uint("ip_fragments", t.Fragments)
	if t.Duplicates > 0 {
		o.uint("duplicate_frames", t.Duplicates)
	}
	if t.Copies > 0 {
		o.uint("copied_frames", t.Copies)
	}
	if t.Lost.Any() {
		o.uint("lost_by_interface", t.Lost.Interface)
		o.uint("lost_by_system", t.Lost.System)
	}
	o.uint("malformed_frames", t.Malformed)
	o.uint("truncated_frames", t.Truncated)
	o.uint("cut_frames", t.Cut)
	o.uint("sctp_unreadable_frames", t.Unread)
	o.uint("sctp_damaged_frames", t.Damaged)
	o.uint("connections", t.Connections)
	o.uint("sctp_sessions", t.Sessions)
	o.uint("iwarp_connections", t.IWARP)
	o.uint("pdus", t.PDUs)
	o.uint("connections_ended_early", t.Evicted)
	o.uint("directions_starved", t.Starved)
	if t.GapsGivenUp > 0 {
		o.uint("gaps_given_up", t.GapsGivenUp)
	}
	if t.RequestsForgotten > 0 {
		o.uint("requests_forgotten", t.RequestsForgotten)
	}
	o.uint("connection_records_dropped", t.RecordsDropped)
	if t.FindingsUnlisted > 0 {
		o.uint("findings_not_listed", t.FindingsUnlisted)
	}
	o.uint("errors", t.Errors)
	if t.FirstTime != 0 && t.LastTime != 0 {
		o.time("first_time", t.FirstTime)
		o.time("last_time", t.LastTime)
	}
	if checked != nil {
		pass, fail, open := checked.Tally.Count(conformance.Pass), checked.Tally.Count(conformance.Fail), checked.Tally.Count(conformance.NotJudged)
		o.int("rules_passed", int64(pass))
		o.int("rules_failed", int64(fail))
		o.int("rules_not_judged", int64(open))
		o.int("rules_not_applicable", int64(checked.Rules-pass-fail-open))
	}
	if failure != "" {
		o.str("incomplete", failure)
	}
	if checked != nil && checked.TooFew != "" {
		o.str("too_few_connections", checked.TooFew)
	}
	o.close()
}

// Close writes what is left.
func (a *Analysis) Close() error {
	a.obj.closeList()
	a.obj.close()
	a.obj.b = append(a.obj.b, '\n')
	a.flush()
	return a.out.err
}

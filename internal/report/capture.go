package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// Capture makes the part of the page that is about a capture. place is its number among those of
// the page, chosen are the connections with details. It may be called once.
func (s *Survey) Capture(place int, totals *pipeline.Totals, cs *ended.List, chosen []uint64) *Capture {
	c := &Capture{Facts: factsOf(totals, cs), Operations: allOperations(cs)}
	s.diagnoses(c, place, chosen)
	c.Connections = s.rows(cs, chosen)
	if n := cs.Len() - len(c.Connections); n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("The table of connections leaves out %s of %s, those with the least trouble.",
			diagnose.Number(uint64(n)), diagnose.Number(cs.Count())))
	}
	return c
}

// at is the place of a connection in the page, atPDU that of a PDU.
func at(place int, conn uint64) string {
	return "c" + strconv.Itoa(place) + "n" + strconv.FormatUint(conn, 10)
}

func atPDU(place int, pdu uint64) string {
	return "c" + strconv.Itoa(place) + "p" + strconv.FormatUint(pdu, 10)
}

// factsOf are the totals of a capture.
func factsOf(t *pipeline.Totals, cs *ended.List) []Fact {
	count := func(name string, n uint64) Fact { return Fact{name, diagnose.Number(n)} }
	facts := []Fact{
		count("Frames", t.Frames),
		{"Octets", render.Size(t.Octets)},
		{"Duration", diagnose.Span(t.FirstTime, t.LastTime)},
		count("iWARP connections", t.IWARP),
		count("PDUs", t.PDUs),
	}
	if t.FirstTime != 0 {
		facts = append(facts, Fact{"First frame", clock(t.FirstTime)})
	}
	var sum struct{ ok, bad, open, off, again, gaps uint64 }
	for c := range cs.Each() {
		for d := range c.Flow {
			f := &c.Flow[d]
			sum.ok, sum.bad, sum.open, sum.off = sum.ok+f.CRCGood, sum.bad+f.CRCBad, sum.open+f.Rare().CRCUnverifiable, sum.off+f.CRCOff
			sum.again, sum.gaps = sum.again+f.Rare().Retransmitted, sum.gaps+f.Rare().Gaps
		}
	}
	facts = append(facts, count("CRCs right", sum.ok), count("CRCs wrong", sum.bad), count("Retransmissions", sum.again), count("Gaps of the capture", sum.gaps))
	for _, f := range []struct {
		name string
		n    uint64
	}{
		{"CRCs not verifiable", sum.open},
		{"FPDUs without CRC", sum.off},
		{"Frames cut by the snap length", t.Cut},
		{"Malformed frames", t.Malformed},
		{"Other frames", t.Other},
		{"Damage in the file", t.Errors},
		{"Connections that made room for others", t.Evicted},
		{"of them without a record", t.RecordsDropped},
	} {
		if f.n > 0 {
			facts = append(facts, count(f.name, f.n))
		}
	}
	return facts
}

// allOperations sums up the operations of all connections.
func allOperations(cs *ended.List) []Operation {
	var sum [2][rdmap.Opcodes]trace.Ops
	for c := range cs.Each() {
		for d := range c.Flow {
			for op, o := range c.Flow[d].Ops {
				if op < rdmap.Opcodes {
					add(&sum[d][op], &o)
				}
			}
		}
	}
	return append(operations(trace.I2R, sum[0][:]), operations(trace.R2I, sum[1][:])...)
}

func add(to, o *trace.Ops) {
	if o.Messages > 0 && (to.Messages == 0 || o.Least < to.Least) {
		to.Least = o.Least
	}
	to.Most = max(to.Most, o.Most)
	to.Segments += o.Segments
	to.Messages += o.Messages
	to.Octets += o.Octets
	to.Whole += o.Whole
}

// operations are the counts of a direction that are not 0.
func operations(d trace.Dir, ops []trace.Ops) (all []Operation) {
	for op := range ops {
		o := &ops[op]
		if o.Segments == 0 {
			continue
		}
		x := Operation{Dir: d.String(), Name: rdmap.Opcode(op).String(), Messages: o.Messages, Segments: o.Segments, Octets: o.Octets}
		if o.Messages > 0 {
			x.Least, x.Mean, x.Most = o.Least, o.Whole/o.Messages, o.Most
		}
		all = append(all, x)
	}
	return all
}

// diagnoses lists what went wrong, the worst first.
func (s *Survey) diagnoses(c *Capture, place int, chosen []uint64) {
	list := s.List()
	for _, d := range list[:min(len(list), mostDiagnoses)] {
		means, _ := diagnose.Explain(string(d.Kind))
		rules := d.BrokenRules()
		x := Diagnosis{
			Level: d.Severity.String(), Kind: string(d.Kind), Means: means, Title: d.Title, Text: d.Text, Also: d.Also, Advice: d.Advice, Of: d.Of,
			Frames: d.Frames[:min(len(d.Frames), mostConns)], Rules: rules[:min(len(rules), mostRules)],
		}
		conns := d.Conns
		if len(conns) == 0 && d.Conn != nil {
			conns = []uint64{d.Conn.Number}
		}
		for _, n := range conns[:min(len(conns), mostConns)] {
			l := Link{Conn: n}
			if slices.Contains(chosen, n) {
				l.At = at(place, n)
			}
			x.Conns = append(x.Conns, l)
		}
		c.Diagnoses = append(c.Diagnoses, x)
	}
	if n := len(list) - len(c.Diagnoses) + s.Dropped; n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s more that are less bad are left out; iwdissect analyze lists more.",
			diagnose.Counted(uint64(n), "diagnosis", "diagnoses")))
	}
}

// rows are the connections for the table: all in their order, or the worst if there are too many.
func (s *Survey) rows(cs *ended.List, chosen []uint64) []Row {
	detailed := make(map[uint64]bool, len(chosen))
	for _, n := range chosen {
		detailed[n] = true
	}
	var rows []Row
	worst := func() {
		if len(rows) <= mostRows {
			return
		}
		slices.SortFunc(rows, func(a, b Row) int {
			if a.Detailed != b.Detailed {
				return cmp.Compare(b2i(b.Detailed), b2i(a.Detailed))
			}
			return s.of(a.Conn).compare(s.of(b.Conn))
		})
		rows = rows[:mostRows]
	}
	for c := range cs.Each() {
		if rows = append(rows, s.row(c, detailed[c.Number])); len(rows) == 2*mostRows {
			worst()
		}
	}
	worst()
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Conn, b.Conn) })
	return rows
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// row is a connection in the table.
func (s *Survey) row(c *trace.Connection, detailed bool) Row {
	lasted, known := c.Lasted()
	if !known {
		lasted = -1
	}
	r := Row{
		Conn: c.Number, Initiator: c.Side[0].Addr.String(), Responder: c.Side[1].Addr.String(), Transport: c.Transport.String(),
		Startup: c.Outcome.String(), Ending: c.Ending.String(), Lasted: lasted, Detailed: detailed,
	}
	if c.Upper != nil {
		r.Carries = c.Upper.Protocol
	}
	for d := range c.Flow {
		f := &c.Flow[d]
		r.FPDUs += f.FPDUs + f.Rare().Chunks
		r.Octets += f.Octets
		r.Retransmitted += f.Rare().Retransmitted
		r.Gaps += f.Rare().Gaps
	}
	if l := c.ReadLatency; l != nil && l.Count > 0 {
		r.Slow = int64(l.Quantile(.99)) //nolint:gosec // was a duration
	}
	if t := s.seen[c.Number]; t != nil {
		r.Errors, r.Warnings, r.Notes = t.findings[conformance.Error], t.findings[conformance.Warning], t.findings[conformance.Note]
	}
	return r
}

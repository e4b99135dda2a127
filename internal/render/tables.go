package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Summary is all that the tables show of a capture.
type Summary struct {
	File        string
	Format      string
	Totals      pipeline.Totals
	Connections []*trace.Connection
	// Found are the findings; nil if the rules were not asked.
	Found *Found
	// Diagnoses say what went wrong, before the tables; nil if nobody asked for them.
	Diagnoses *diagnose.Summary
	// Most is the number of connections shown, 0 for all.
	Most int
	// Bad paints what is wrong; it may be nil.
	Bad func(string) string
}

// Tables writes a summary as tables for a person.
func Tables(w io.Writer, s *Summary) error {
	if s.Bad == nil {
		s.Bad = func(v string) string { return v }
	}
	t := &s.Totals
	v := Verdict{File: s.File, Totals: t, Diagnoses: s.Diagnoses, All: s.Most == 0, Bad: s.Bad}
	if s.Found != nil {
		v.Tally = &s.Found.tally
	}
	if s.Diagnoses != nil {
		if err := v.Write(w); err != nil {
			return err
		}
	}
	tcp, sessions := t.Connections-t.Sessions, ""
	if t.SCTP > 0 {
		sessions = fmt.Sprintf(", %d DDP %s over SCTP", t.Sessions, plural(t.Sessions, "session", "sessions"))
	}
	fmt.Fprintf(w, "\nCapture: %s, %d frames, %s, %d TCP %s%s, %d with iWARP, %d PDUs\n",
		s.Format, t.Frames, size(t.Octets), tcp, plural(tcp, "connection", "connections"), sessions, t.IWARP, t.PDUs)
	shown := s.Connections
	if s.Most > 0 && len(shown) > s.Most {
		shown = shown[:s.Most]
	}
	if len(shown) == 0 {
		fmt.Fprintln(w, "No iWARP connection found.")
		return s.totals(w)
	}
	if err := beside(w, shown, s.connections, s.operations, s.latency, s.health); err != nil {
		return err
	}
	if n := len(s.Connections) - len(shown); n > 0 {
		fmt.Fprintf(w, "\n%d further connections are not shown (--all shows them).\n", n)
	}
	s.problems(w)
	if err := s.findings(w); err != nil {
		return err
	}
	return s.totals(w)
}

// beside writes parts that know nothing of each other. Laying out a table takes some
// milliseconds, so each is laid out in a goroutine of its own.
func beside(w io.Writer, cs []*trace.Connection, parts ...func(io.Writer, []*trace.Connection) error) error {
	var all sync.WaitGroup
	out, errs := make([]bytes.Buffer, len(parts)), make([]error, len(parts))
	for i, part := range parts {
		all.Go(func() { errs[i] = part(&out[i], cs) })
	}
	all.Wait()
	for i := range out {
		if _, err := out[i].WriteTo(w); err != nil || errs[i] != nil {
			return errors.Join(errs[i], err)
		}
	}
	return nil
}

// uncached ends the memory of widths that all tables share: to wait for each other to
// look one up takes longer than to add up a few letters.
var uncached = sync.OnceFunc(func() { twwidth.SetCacheCapacity(0) })

// table writes a table whose first columns are aligned to the left.
func table(w io.Writer, title string, header []string, rows [][]string, left int) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", title)
	uncached()
	align := make([]tw.Align, len(header))
	for i := range align {
		align[i] = tw.AlignRight
		if i < left {
			align[i] = tw.AlignLeft
		}
	}
	lines := newColumns()
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(lines),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithPadding(tw.Padding{Right: gutter, Overwrite: true}),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	t.Header(header)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	return errors.Join(t.Render(), lines.err)
}

func (s *Summary) connections(w io.Writer, cs []*trace.Connection) error {
	rows := make([][]string, 0, len(cs))
	for _, c := range cs {
		end := c.Ending.String()
		if c.Ending != trace.Open {
			end += " by " + c.EndedBy.Sender()
		}
		roles := ""
		if !c.RolesKnown {
			roles = " (roles inferred)"
		}
		rows = append(rows, []string{
			strconv.FormatUint(c.Number, 10),
			c.Side[0].Addr.String() + " > " + c.Side[1].Addr.String() + roles,
			carrier(c), depth(c), rtr(c), s.rnics(c), s.outcome(c), end,
			duration(uint64(max(c.LastTime-c.FirstTime, 0))),
		})
	}
	what := "MPA"
	if anySCTP(cs) {
		what = "MPA or SCTP"
	}
	return table(w, "Connections", []string{"conn", "initiator > responder", what, "IRD/ORD", "RTR", "RNICs", "startup", "end", "time"}, rows, 8)
}

// rnics names the kinds of both RNICs, once if they are the same.
func (s *Summary) rnics(c *trace.Connection) string {
	r := conformance.Classify(c)
	switch {
	case r == (conformance.RNICs{}):
		return "-"
	case r.Initiator == r.Responder:
		return r.Initiator.String()
	}
	v := r.Initiator.String() + " > " + r.Responder.String()
	if r.Works == mpa.No {
		return s.Bad(v)
	}
	return v
}

func (s *Summary) outcome(c *trace.Connection) string {
	v := c.Outcome.String()
	if c.Outcome == trace.Rejected || c.Outcome == trace.Incomplete || c.Outcome == trace.Refused {
		return s.Bad(v)
	}
	return v
}

// carrier says what was negotiated below DDP.
func carrier(c *trace.Connection) string {
	if c.Transport == trace.SCTP {
		return session(c)
	}
	return negotiated(c)
}

func negotiated(c *trace.Connection) string {
	v := "?"
	switch {
	case c.Side[1].HasStartup:
		v = "rev " + strconv.Itoa(int(c.Side[1].Startup.Rev))
	case c.Side[0].HasStartup:
		v = "rev " + strconv.Itoa(int(c.Side[0].Startup.Rev))
	}
	switch c.CRC {
	case mpa.Yes:
		v += " CRC"
	case mpa.No:
		v += " no CRC"
	case mpa.Unknown:
	}
	switch {
	case c.Markers[0] == mpa.Yes && c.Markers[1] == mpa.Yes:
		v += " markers"
	case c.Markers[0] == mpa.Yes:
		v += " markers i2r"
	case c.Markers[1] == mpa.Yes:
		v += " markers r2i"
	}
	if c.Layout != mpa.LayoutRFC6581 {
		v += " " + c.Layout.String()
	}
	return v
}

// depth shows IRD and ORD of both sides, and how many reads may be outstanding
// each way where that follows from them.
func depth(c *trace.Connection) string {
	if !c.Side[0].HasEnhanced && !c.Side[1].HasEnhanced {
		return "-"
	}
	one := func(s *trace.Side) string {
		if !s.HasEnhanced {
			return "-"
		}
		return strconv.Itoa(int(s.Enhanced.IRD)) + "/" + strconv.Itoa(int(s.Enhanced.ORD))
	}
	v := one(&c.Side[0]) + " " + one(&c.Side[1])
	a, ok := c.Depth(trace.I2R)
	b, ok2 := c.Depth(trace.R2I)
	if ok && ok2 {
		v += fmt.Sprintf(" (depth %d, %d)", a, b)
	}
	return v
}

func rtr(c *trace.Connection) string {
	switch {
	case c.RTRSent != "":
		return c.RTRSent
	case c.RTRExpected != 0:
		return "none of " + c.RTRExpected.String()
	}
	return "-"
}

func (s *Summary) operations(w io.Writer, cs []*trace.Connection) error {
	var rows [][]string
	for _, c := range cs {
		for d := range c.Flow {
			f := &c.Flow[d]
			if f.Ops == nil {
				continue
			}
			for op := range f.Ops {
				n := &f.Ops[op]
				if n.Segments == 0 {
					continue
				}
				smallest, mean, largest := "-", "-", "-"
				if n.Messages > 0 {
					smallest, largest = size(n.Least), size(n.Most)
					mean = size(n.Whole / n.Messages)
				}
				rows = append(rows, []string{
					strconv.FormatUint(c.Number, 10), trace.Dir(d).String(),
					rdmap.Opcode(op).String(),
					strconv.FormatUint(n.Messages, 10), strconv.FormatUint(n.Segments, 10), size(n.Octets), smallest, mean, largest,
				})
			}
		}
	}
	return table(w, "Operations", []string{"conn", "dir", "operation", "messages", "segments", "octets", "min", "mean", "max"}, rows, 3)
}

func (s *Summary) latency(w io.Writer, cs []*trace.Connection) error {
	var rows [][]string
	for _, c := range cs {
		if c.HasStartupLatency {
			v := duration(uint64(max(c.StartupLatency, 0)))
			rows = append(rows, []string{strconv.FormatUint(c.Number, 10), "startup", "1", v, v, v, v, v, "-"})
		}
		for _, k := range []struct {
			name string
			l    *trace.Latency
		}{{"read", c.ReadLatency}, {"atomic", c.AtomicLatency}} {
			if k.l == nil || k.l.Count == 0 {
				continue
			}
			most := "-"
			if a, b := c.Flow[0].MostOutstanding, c.Flow[1].MostOutstanding; a+b > 0 {
				most = fmt.Sprintf("%d, %d", a, b)
			}
			rows = append(rows, []string{
				strconv.FormatUint(c.Number, 10), k.name, strconv.FormatUint(k.l.Count, 10),
				duration(k.l.Min), duration(k.l.Sum / k.l.Count), about(k.l, 0.5), about(k.l, 0.99), duration(k.l.Max), most,
			})
		}
	}
	return table(w, "Latency", []string{"conn", "request", "count", "min", "mean", "median", "p99", "max", "most outstanding i2r, r2i"}, rows, 2)
}

// about shows a quantile, which is known to a thirty-second part of it.
func about(l *trace.Latency, q float64) string {
	v := l.Quantile(q)
	if v == l.Min || v == l.Max {
		return duration(v)
	}
	return "~" + duration(v)
}

func (s *Summary) health(w io.Writer, cs []*trace.Connection) error {
	var rows [][]string
	num := func(v uint64, bad bool) string {
		t := strconv.FormatUint(v, 10)
		if bad && v > 0 {
			return s.Bad(t)
		}
		return t
	}
	for _, c := range cs {
		for d := range c.Flow {
			f := &c.Flow[d]
			crc := "-"
			switch {
			case c.Transport == trace.SCTP:
				crc = s.checksums(c.Side[d].SCTP)
			case f.FPDUs == 0:
			case c.CRC != mpa.Yes:
				crc = "off"
			default:
				crc = num(f.CRCGood, false) + " ok " + num(f.CRCBad, true) + " bad"
				if f.CRCUnverifiable > 0 {
					crc += " " + num(f.CRCUnverifiable, false) + " unverifiable"
				}
			}
			k := f.Faults()
			marks := "-"
			if f.Markers > 0 {
				marks = num(f.Markers, false) + " (" + num(k.MarkersBad, true) + " bad)"
			}
			rows = append(rows, []string{
				strconv.FormatUint(c.Number, 10), trace.Dir(d).String(),
				num(f.FPDUs+f.Chunks, false), crc, marks, num(f.Frames, false), size(f.Octets),
				num(f.Retransmitted, false), num(f.Reordered, false), num(f.Gaps, true),
				num(k.Resyncs[1]+k.Resyncs[2]+k.Resyncs[3], false),
			})
		}
	}
	what := "FPDUs"
	if anySCTP(cs) {
		what = "FPDUs, chunks"
	}
	return table(w, "Health", []string{"conn", "dir", what, "CRC", "markers", "packets", "octets", "retransmitted", "reordered", "gaps", "resyncs"}, rows, 2)
}

// mostProblems is the number of problems shown without --all.
const mostProblems = 200

// problems lists what is wrong, of all connections, shown or not.
func (s *Summary) problems(w io.Writer) {
	n := 0
	for _, c := range s.Connections {
		for _, p := range diagnose.Problems(c) {
			if n == 0 {
				fmt.Fprintln(w, "\nWhat stands out")
			}
			if n++; s.Most == 0 || n <= mostProblems {
				fmt.Fprintf(w, "conn %d: %s\n", c.Number, s.Bad(p))
			}
		}
	}
	if s.Most > 0 && n > mostProblems {
		fmt.Fprintf(w, "%d more (--all shows them)\n", n-mostProblems)
	}
}

func (s *Summary) totals(w io.Writer) error {
	t := &s.Totals
	var fpdus, chunks, good, bad, off, unverifiable, gaps, reads uint64
	for _, c := range s.Connections {
		for d := range c.Flow {
			f := &c.Flow[d]
			fpdus += f.FPDUs
			chunks += f.Chunks
			good += f.CRCGood
			bad += f.CRCBad
			off += f.CRCOff
			unverifiable += f.CRCUnverifiable
			gaps += f.Gaps
			reads += f.Answered
		}
	}
	over := ""
	if t.SCTP > 0 {
		over = fmt.Sprintf(", %d DDP %s over SCTP", chunks, plural(chunks, "segment", "segments"))
	}
	_, err := fmt.Fprintf(w, "\nTotal: %d FPDUs (CRC %d ok, %d bad, %d off, %d unverifiable)%s, %d %s answered, %d %s; %d TCP, %d SCTP, %d other frames, %d malformed, %d cut before the transport header\n",
		fpdus, good, bad, off, unverifiable, over, reads, plural(reads, "request", "requests"), gaps, plural(gaps, "gap", "gaps"),
		t.TCP, t.SCTP, t.Other, t.Malformed, t.Truncated)
	if t.Unread > 0 {
		fmt.Fprintf(w, "%d SCTP packets have chunks that cannot be read\n", t.Unread)
	}
	if t.Damaged > 0 {
		fmt.Fprintf(w, "%d SCTP packets are damaged: their checksum is wrong and that of others of the sender is right\n", t.Damaged)
	}
	if t.Cut > 0 {
		fmt.Fprintf(w, "The snap length cut %d frames: %s of %s were captured\n", t.Cut, size(t.Captured), size(t.Octets))
	}
	if t.Evicted > 0 {
		fmt.Fprintf(w, "%d connections were ended early to bound memory (--max-connections)\n", t.Evicted)
	}
	if t.Starved > 0 {
		fmt.Fprintf(w, "%d times a direction lost its place to bound memory\n", t.Starved)
	}
	if t.RecordsDropped > 0 {
		fmt.Fprintf(w, "%d connections are not listed: too many of them\n", t.RecordsDropped)
	}
	return err
}

// printable keeps octets of a file name from steering a terminal.
func printable(s string) string {
	for _, r := range s {
		if r < 0x20 || r == 0x7f {
			return strconv.Quote(s)
		}
	}
	return s
}

// size shows a number of octets.
func size(n uint64) string {
	switch {
	case n < 1_000_000:
		return strconv.FormatUint(n, 10) + " B"
	case n < 10_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	case n < 10_000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
}

// duration shows nanoseconds to three or four digits.
func duration(ns uint64) string {
	d := time.Duration(ns) //nolint:gosec // a difference of capture times
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d >= time.Microsecond:
		return d.Round(10 * time.Nanosecond).String()
	}
	return d.String()
}

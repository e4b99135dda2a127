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
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Summary is all that the tables show of a capture.
type Summary struct {
	File        string
	Format      string
	Totals      pipeline.Totals
	Connections *ended.List
	// Found are the findings; nil if the rules were not asked.
	Found *Found
	// Diagnoses say what went wrong, before the tables.
	Diagnoses *diagnose.Summary
	// Cut says that the capture could not be read to its end.
	Cut bool
	// Brief leaves the tables out.
	Brief bool
	// Most is the number of connections shown, 0 for all.
	Most int
	// Selected says how much of the capture is shown, if that is not all.
	Selected string
	// Width is how wide the output may be, 0 for any width.
	Width int
	// Bad paints what is wrong; it may be nil.
	Bad func(string) string

	// seen is what a reading of all connections gave.
	seen overview
	read sync.Once
}

// Tables writes a summary as tables for a person.
func Tables(w io.Writer, s *Summary) error {
	if s.Bad == nil {
		s.Bad = func(v string) string { return v }
	}
	v := Verdict{File: s.File, Totals: &s.Totals, Diagnoses: s.Diagnoses, All: s.Most == 0, Cut: s.Cut, Width: s.Width, Bad: s.Bad}
	v.Selected, v.Conns = s.Selected != "", s.Connections.Count()
	if s.Found != nil {
		v.Tally = &s.Found.tally
	}
	if s.Diagnoses != nil {
		if err := v.Write(w); err != nil {
			return err
		}
		if s.Brief {
			return nil
		}
		fmt.Fprintln(w)
	}
	s.heading(w)
	if s.Selected != "" {
		fmt.Fprintf(w, "Selected: %s\n", s.Selected)
	}
	shown := s.overview().shown
	if len(shown) == 0 {
		if s.Selected == "" || s.Totals.IWARP == 0 {
			fmt.Fprintln(w, "No iWARP connection found.")
		}
		return s.totals(w)
	}
	if err := beside(w, shown, s.connections, s.operations, s.latency, s.upperLayers, s.health); err != nil {
		return err
	}
	s.further(w, len(shown))
	s.problems(w)
	if err := s.findings(w); err != nil {
		return err
	}
	return s.totals(w)
}

// heading says what the capture is and holds.
func (s *Summary) heading(w io.Writer) {
	t := &s.Totals
	tcp, sessions := t.Connections-t.Sessions, ""
	if t.SCTP > 0 {
		sessions = ", " + diagnose.Counted(t.Sessions, "DDP session", "DDP sessions") + " over SCTP"
	}
	s.say(w, "Capture: %s, %s, %s, %s%s, %s with iWARP, %s",
		s.Format, diagnose.Counted(t.Frames, "frame", "frames"), size(t.Octets), diagnose.Counted(tcp, "TCP connection", "TCP connections"), sessions,
		diagnose.Number(t.IWARP), diagnose.Counted(t.PDUs, "PDU", "PDUs"))
}

// say writes a sentence as wide as the output may be. An error shows with the tables,
// or with the last line.
func (s *Summary) say(w io.Writer, format string, args ...any) {
	wrap(w, s.Width, 4, fmt.Sprintf(format, args...)) //nolint:errcheck // see above
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
// look one up takes longer than to add up a few letters. It is called before any width
// is asked for, since the package does not guard the change against readers.
var uncached = sync.OnceFunc(func() { twwidth.SetCacheCapacity(0) })

// Prepare gives back what tables need no more than a program that begins to read a capture does.
func Prepare() { uncached() }

// table writes a table. left are the columns that are aligned to the left; under is
// what stands below the header and each row, nil for nothing.
func table(w io.Writer, title string, header []string, rows [][]string, left []bool, under []string) error {
	fmt.Fprintf(w, "\n%s\n", title)
	uncached()
	align := make([]tw.Align, len(header))
	for i := range align {
		align[i] = tw.AlignRight
		if left[i] {
			align[i] = tw.AlignLeft
		}
	}
	lines := newColumns(under)
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
	return errors.Join(t.Render(), lines.end())
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
			carrier(c), depths(c), readDepth(c), rtr(c), s.rnics(c), s.outcome(c), end,
			lasted(c),
		})
	}
	what := "MPA"
	if anySCTP(cs) {
		what = "MPA or SCTP"
	}
	return (&grid{title: "Connections", rows: rows, cols: []column{
		{name: "conn"},
		{name: "initiator > responder", fold: true, leave: 3},
		{name: what, leave: 4},
		{name: "IRD/ORD", leave: 5},
		{name: "read depth", leave: 6},
		{name: "RTR", leave: 8},
		{name: "RNICs", leave: 9},
		{name: "startup", leave: 2},
		{name: "end", leave: 1},
		{name: "time", right: true, leave: 7},
	}}).write(w, s.Width)
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

// depths shows IRD and ORD of both sides, the initiator's first.
func depths(c *trace.Connection) string {
	if !c.Side[0].HasEnhanced && !c.Side[1].HasEnhanced {
		return "-"
	}
	one := func(s *trace.Side) string {
		if !s.HasEnhanced {
			return "-"
		}
		return strconv.Itoa(int(s.Enhanced.IRD)) + "/" + strconv.Itoa(int(s.Enhanced.ORD))
	}
	return one(&c.Side[0]) + " > " + one(&c.Side[1])
}

// readDepth shows how many reads may be outstanding each way, where that follows from
// the depths.
func readDepth(c *trace.Connection) string {
	a, ok := c.Depth(trace.I2R)
	b, ok2 := c.Depth(trace.R2I)
	if !ok || !ok2 {
		return "-"
	}
	return fmt.Sprintf("i2r %d, r2i %d", a, b)
}

func rtr(c *trace.Connection) string {
	switch {
	case c.RTRSent != trace.NoRTR:
		return c.RTRSent.String()
	case c.RTRExpected != 0:
		return "none of " + c.RTRExpected.String()
	}
	return "-"
}

// mostProblems is the number of problems shown without --all.
const mostProblems = 200

// listsProblems reports whether what stands out is listed; else the diagnoses and findings say it.
func (s *Summary) listsProblems() bool { return s.Most == 0 || s.Found == nil }

// problems lists what is wrong, of all connections, shown or not.
func (s *Summary) problems(w io.Writer) {
	o := s.overview()
	if o.problemCount > 0 {
		fmt.Fprintln(w, "\nWhat stands out")
	}
	for _, p := range o.problems {
		s.say(w, "conn %d: %s", p.conn, s.Bad(p.text))
	}
	if n := o.problemCount; n > len(o.problems) {
		fmt.Fprintf(w, "%s more (--all shows them)\n", diagnose.Number(uint64(n-len(o.problems)))) //nolint:gosec // a number of them
	}
}

func (s *Summary) totals(w io.Writer) error {
	t, f := &s.Totals, trace.Flow{}
	for d := range s.sum().Flow {
		addFlow(&f, &s.sum().Flow[d])
	}
	n := diagnose.Number
	over := ""
	if t.SCTP > 0 {
		over = ", " + diagnose.Counted(f.Rare().Chunks, "DDP segment", "DDP segments") + " over SCTP"
	}
	fmt.Fprintln(w)
	err := wrap(w, s.Width, 4, fmt.Sprintf(
		"Total: %s (CRC %s ok, %s bad, %s off, %s unverifiable)%s, %s answered, %s; %s TCP, %s SCTP, %s, %s malformed, %s cut before the transport header",
		diagnose.Counted(f.FPDUs, "FPDU", "FPDUs"), n(f.CRCGood), n(f.CRCBad), n(f.CRCOff), n(f.Rare().CRCUnverifiable), over,
		diagnose.Counted(f.Answered, "request", "requests"), diagnose.Counted(f.Rare().Gaps, "gap", "gaps"),
		n(t.TCP), n(t.SCTP), diagnose.Counted(t.Other, "other frame", "other frames"), n(t.Malformed), n(t.Truncated)))
	if t.Unread > 0 {
		s.say(w, "%s chunks that cannot be read", diagnose.Counted(t.Unread, "SCTP packet has", "SCTP packets have"))
	}
	if t.Damaged > 0 {
		s.say(w, "%s damaged: the checksum is wrong and that of others of the sender is right", diagnose.Counted(t.Damaged, "SCTP packet is", "SCTP packets are"))
	}
	if t.Duplicates > 0 {
		s.say(w, "Another file has %s as well: they count once", diagnose.Counted(t.Duplicates, "packet", "packets"))
	}
	if t.Lost.Any() {
		s.say(w, "%s", diagnose.LostPackets(t))
	}
	if t.Cut > 0 {
		s.say(w, "The snap length cut %s: %s of %s were captured", diagnose.Counted(t.Cut, "frame", "frames"), size(t.Captured), size(t.Octets))
	}
	for _, what := range GivenUp(t) {
		s.say(w, "To bound memory, %s", what)
	}
	return err
}

// Size shows a number of octets, as tables do.
func Size(n uint64) string { return size(n) }

// size shows a number of octets.
func size(n uint64) string {
	switch {
	case n < 1_000_000:
		return diagnose.Number(n) + " B"
	case n < 10_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	case n < 10_000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
}

// lasted is how long a connection was seen, "-" if that is not known.
func lasted(c *trace.Connection) string {
	ns, known := c.Lasted()
	if !known {
		return "-"
	}
	return duration(uint64(ns)) //nolint:gosec // not negative
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

package merge

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// TextOptions choose what the text looks like.
type TextOptions struct {
	// All lists all points and all diagnoses, and not the worst only.
	All bool
	// Paint marks errors; it may be nil.
	Paint func(string) string
}

const (
	// mostShown is how many points are listed, mostTold how many diagnoses are told, and
	// mostNamed how many points of one are named, without All.
	mostShown, mostTold, mostNamed = 50, 20, 5
)

// page is a text that is written at once.
type page struct {
	bytes.Buffer
	TextOptions
}

// Text writes the summary for people.
func (s *Summary) Text(w io.Writer, opt TextOptions) error {
	p := &page{TextOptions: opt}
	p.head(s)
	p.told(s)
	p.points(s)
	p.rules(s)
	p.foot(s)
	_, err := p.WriteTo(w)
	return err
}

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", visible.Args(args)...)
}

// number writes a count.
func number(n int64) string { return diagnose.Number(unsigned(n)) }

func count(n int64, one, many string) string { return diagnose.Counted(unsigned(n), one, many) }

func (p *page) head(s *Summary) {
	t := &s.Totals
	p.line("%s: %s in %s, %s, %s", count(int64(t.Points), "point", "points"), count(t.Connections, "iWARP connection", "iWARP connections"),
		diagnose.Counted(t.Frames, "frame", "frames"), diagnose.Counted(t.PDUs, "PDU", "PDUs"), counts(&t.Findings))
	if len(s.Missing) > 0 {
		list := s.Missing
		more := ""
		if n := len(list) - mostNamed; n > 0 && !p.All {
			list, more = list[:mostNamed], fmt.Sprintf(" and %d more", n)
		}
		p.line("No result: %s%s", strings.Join(list, ", "), more)
	}
	for _, point := range s.Points {
		for _, e := range point.Errors {
			p.line("%s: %s", point.Name, e)
		}
	}
}

// counts names findings by severity.
func counts(c *Counts) string {
	text := fmt.Sprintf("%s, %s, %s", count(c.Errors, "error", "errors"), count(c.Warnings, "warning", "warnings"), count(c.Notes, "note", "notes"))
	if c.Decided > 0 {
		text += fmt.Sprintf(" (%s known or suppressed)", number(c.Decided))
	}
	return text
}

// told writes the diagnoses.
func (p *page) told(s *Summary) {
	list, left := s.Diagnoses, 0
	if n := len(list) - mostTold; n > 0 && !p.All {
		list, left = list[:mostTold], n
	}
	for _, d := range list {
		level := fmt.Sprintf("%-8s", strings.ToUpper(severity(d.Severity).String()))
		switch {
		case d.Known:
			level = fmt.Sprintf("%-8s", "KNOWN")
		case d.Severity == "error" && p.Paint != nil:
			level = p.Paint(level)
		}
		named := d.Points[:min(len(d.Points), mostNamed)]
		where := strings.Join(named, ", ")
		if n := d.Of - len(named); n > 0 {
			where += fmt.Sprintf(" and %d more", n)
		}
		of := ""
		if d.Connections > 0 {
			of = count(d.Connections, "connection", "connections") + " at "
		}
		fmt.Fprintf(p, "\n%s ", level)
		p.line("%s%s  %s", of, where, d.Title)
		p.line("         %s: %s", d.Points[0], d.Text)
		if d.Decided != "" {
			p.line("         Known or suppressed: %s.", strings.ReplaceAll(d.Decided, " ", ", "))
		}
		if d.Advice != "" {
			p.line("         Try: %s", d.Advice)
		}
	}
	if left += s.Omitted; left > 0 {
		p.line("\nand %s (--all lists all that are kept)", count(int64(left), "more diagnosis", "more diagnoses"))
	}
}

// table writes a table with a title; the first columns are to the left.
func (p *page) table(title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.line("\n%s", title)
	w := tabwriter.NewWriter(&p.Buffer, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, visible.Text(cell))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
}

// points writes the worst points first.
func (p *page) points(s *Summary) {
	all := s.Worst()
	title := "Points"
	if n := len(all); n > mostShown && !p.All {
		all, title = all[:mostShown], fmt.Sprintf("Points, the worst %d of %s (--all lists all)", mostShown, number(int64(n)))
	}
	rows := make([][]string, 0, len(all))
	for _, a := range all {
		reads := "-"
		if a.ReadLatency != nil {
			reads = fmt.Sprintf("%s, %s, %s", duration(a.ReadMeanNS), duration(a.ReadP99NS), duration(a.ReadMaxNS))
		}
		findings := fmt.Sprintf("%s/%s/%s", number(a.Findings.Errors), number(a.Findings.Warnings), number(a.Findings.Notes))
		if !a.Judged {
			findings = "not judged"
		}
		rows = append(rows, []string{
			a.Name, fmt.Sprint(a.Exit), findings, number(a.Connections), number(a.FPDUs), number(a.BadCRCs), number(a.Gaps), number(a.Retransmissions),
			number(a.Stalls) + stalled(a.StalledNS), number(a.SendOctets), number(a.WriteOctets), number(a.ReadOctets), reads,
		})
	}
	p.table(title, []string{"point", "exit of task", "errors/warnings/notes", "connections", "FPDUs", "bad CRCs", "gaps", "retransmitted", "stalls", "sent", "written", "read", "read latency mean, worst p99, max"}, rows)
}

func stalled(ns int64) string {
	if ns == 0 {
		return ""
	}
	return " (" + duration(ns) + ")"
}

// duration is a time with three digits or so.
func duration(ns int64) string {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// rules writes what was broken, and where most.
func (p *page) rules(s *Summary) {
	rows := make([][]string, 0, len(s.Rules))
	for _, r := range s.Rules {
		rows = append(rows, []string{
			r.Severity, r.ID, number(r.Findings), number(int64(r.Points)), fmt.Sprintf("%s (%s)", r.Worst, number(r.WorstCount)),
			fmt.Sprintf("%s conn %d frame %d", r.Example.Point, r.Example.Conn, r.Example.Frame), r.Example.Message,
		})
	}
	p.table("Findings", []string{"level", "rule", "count", "points", "most at", "first", "what"}, rows)
}

// foot writes the verdict.
func (p *page) foot(s *Summary) {
	unjudged, unread, partly := 0, 0, 0
	for _, a := range s.Points {
		if !a.Judged {
			unjudged++
		}
		if a.Exit == 3 {
			unread++
		}
		if a.unread {
			partly++
		}
	}
	text := counts(&s.Totals.Findings) + " in " + count(int64(s.Totals.Points), "point", "points")
	lacks := func(n int, one, many string) {
		if n > 0 {
			text += "; " + count(int64(n), one, many)
		}
	}
	lacks(unread, "point is incomplete", "points are incomplete")
	lacks(partly, "point has a table that could not be read", "points have tables that could not be read")
	lacks(len(s.Missing), "result is missing", "results are missing")
	lacks(unjudged, "point was not judged", "points were not judged")
	p.line("\n%s: exit code %d (--fail-on %s)", text, s.Gate.ExitCode, s.Gate.FailOn)
}

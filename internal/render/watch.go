package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Watch knows the connections of a capture that goes on: it sums up their findings, and keeps
// those that have ended, the worst ones if there are too many. It implements
// [conformance.Sink], and [pipeline.Sink] for a capture of which nothing else is shown.
type Watch struct {
	most    int
	ended   []watched
	at      map[uint64]int // where in ended, by number
	dropped uint64
	tally   conformance.Tally
	// diagnoses are those of all connections that have ended.
	diagnoses diagnose.Summary
	// pending are those of single connections that wait for another connection.
	pending diagnose.Pending
	// total counts all findings by severity; open sums up those on connections that have not
	// ended, by number.
	total [conformance.Error + 1]uint64
	open  map[uint64]*watched
}

// watched is a connection with what was found on it.
type watched struct {
	conn  *trace.Connection
	count [conformance.Error + 1]uint64
	worst string // the first of the findings that are worst
	level conformance.Severity
	rows  []foundRow
	// diagnoses are those that say more than that a rule was broken, trouble counts them.
	diagnoses []diagnose.Diagnosis
	trouble   [conformance.Error + 1]int
	// rules counts the verdicts, if it was judged.
	rules  [conformance.NotJudged + 1]int
	judged bool
}

// NewWatch keeps at most so many connections that have ended.
func NewWatch(most int) *Watch {
	return &Watch{most: most, at: map[uint64]int{}, open: map[uint64]*watched{}}
}

// PDU implements [trace.Sink].
func (w *Watch) PDU(*trace.PDU) {}

// Gap implements [trace.Sink].
func (w *Watch) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (w *Watch) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (w *Watch) Frame(*pipeline.Frame) {}

// Finding notes a finding as soon as it is certain.
func (w *Watch) Finding(f *conformance.Finding) {
	w.total[f.Severity]++
	o := w.open[f.Conn.Number]
	if o == nil {
		o = &watched{}
		w.open[f.Conn.Number] = o
	}
	o.found(f, 1)
}

func (o *watched) found(f *conformance.Finding, times int) {
	o.count[f.Severity] += uint64(times) //nolint:gosec // a count
	if f.Severity > o.level || o.worst == "" {
		o.worst, o.level = f.Rule.ID+": "+f.Message, f.Severity
	}
}

// Connection implements [conformance.Sink]: a connection has ended, or was compared with
// others afterwards.
func (w *Watch) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	w.tally.Add(diagnose.Judged(c, vs))
	e, _ := w.entry(c)
	if w.diagnoses.Connection(c, fs, vs); !e.judged {
		w.diagnose(e, fs, vs)
	}
	e.judged = true
	var sum Found
	sum.Connection(c, fs, nil)
	e.rows = append(e.rows, sum.rows...)
	for i := range fs {
		e.found(&fs[i], 1+fs[i].Further())
	}
	for i := range vs {
		e.rules[vs[i].Verdict]++
	}
}

// Ended notes that a connection has ended, if no rule was asked about it.
func (w *Watch) Ended(c *trace.Connection) {
	if e, fresh := w.entry(c); fresh {
		w.diagnoses.Connection(c, nil, nil)
		w.diagnose(e, nil, nil)
	}
}

// Capture gets what else the capture holds, at its end.
func (w *Watch) Capture(t *pipeline.Totals, o *pipeline.Others) {
	w.diagnoses.Live = true
	w.diagnoses.Capture(t, o)
}

// Reply takes an MPA Reply: a diagnosis of another connection may wait for it.
func (w *Watch) Reply(p *trace.PDU) { w.pending.Reply(p) }

// Settled returns the diagnoses that waited for another connection, and wait no more at the time now.
func (w *Watch) Settled(now int64) []diagnose.Diagnosis {
	ds := w.pending.Settled(now)
	for i := range ds {
		if at, ok := w.at[ds[i].Conn.Number]; ok {
			w.ended[at].say(&ds[i])
		}
	}
	return ds
}

// diagnose keeps what is to be said of the connection besides its findings.
func (w *Watch) diagnose(o *watched, fs []conformance.Finding, vs []conformance.Judgement) {
	w.pending.Ended(o.conn)
	ds := w.pending.Hold(diagnose.Connection(o.conn, fs, vs))
	for i := range ds {
		if ds[i].Kind != diagnose.Rule {
			o.say(&ds[i])
		}
	}
}

func (o *watched) say(d *diagnose.Diagnosis) {
	o.diagnoses = append(o.diagnoses, *d)
	o.trouble[d.Severity]++
}

// entry is what is kept of a connection that has ended. One that was dropped gets another.
func (w *Watch) entry(c *trace.Connection) (e *watched, fresh bool) {
	delete(w.open, c.Number)
	if i, ok := w.at[c.Number]; ok {
		return &w.ended[i], false
	}
	if len(w.ended) >= 2*w.most {
		w.prune()
	}
	w.at[c.Number] = len(w.ended)
	w.ended = append(w.ended, watched{conn: c})
	return &w.ended[len(w.ended)-1], true
}

// prune keeps the worst.
func (w *Watch) prune() {
	if len(w.ended) <= w.most {
		return
	}
	slices.SortStableFunc(w.ended, worse)
	w.dropped += uint64(len(w.ended) - w.most) //nolint:gosec // positive
	clear(w.ended[w.most:])
	w.ended = w.ended[:w.most]
	clear(w.at)
	for i := range w.ended {
		w.at[w.ended[i].conn.Number] = i
	}
}

// worse sorts the worst connection first, and of those alike the latest.
func worse(a, b watched) int {
	for s := conformance.Error; s > conformance.None; s-- {
		if d := cmp.Or(cmp.Compare(b.count[s], a.count[s]), cmp.Compare(b.trouble[s], a.trouble[s])); d != 0 {
			return d
		}
	}
	return cmp.Or(cmp.Compare(b.conn.LastTime, a.conn.LastTime), cmp.Compare(b.conn.Number, a.conn.Number))
}

// Fill gives a summary the connections that have ended, by number, with their findings if
// the rules were asked.
func (w *Watch) Fill(s *Summary, judged bool) {
	w.prune()
	slices.SortFunc(w.ended, func(a, b watched) int { return cmp.Compare(a.conn.Number, b.conn.Number) })
	found, all := &Found{tally: w.tally}, new(ended.List)
	for i := range w.ended {
		all.Add(w.ended[i].conn, 0)
		found.rows = append(found.rows, w.ended[i].rows...)
	}
	s.Connections = all
	s.Totals.RecordsDropped += w.dropped
	s.Diagnoses = &w.diagnoses
	if judged {
		s.Found = found
	}
}

// verdict says in a few words how a connection ended and what was found.
func (o *watched) verdict() string {
	pdus, octets := carried(o.conn)
	s := fmt.Sprintf("%s, %d %s, %s", ending(o.conn), pdus, plural(pdus, "segment", "segments"), size(octets))
	if !o.judged {
		return s
	}
	none := true
	for _, l := range []struct {
		level     conformance.Severity
		one, many string
	}{{conformance.Error, "error", "errors"}, {conformance.Warning, "warning", "warnings"}, {conformance.Note, "note", "notes"}} {
		if n := o.count[l.level]; n > 0 {
			none = false
			s += fmt.Sprintf(", %d %s", n, plural(n, l.one, l.many))
		}
	}
	if none {
		s += ", no findings"
	}
	return s + fmt.Sprintf("; rules: %d passed, %d failed, %d not judged",
		o.rules[conformance.Pass], o.rules[conformance.Fail], o.rules[conformance.NotJudged])
}

// carried counts the DDP segments of a connection, and its octets.
func carried(c *trace.Connection) (segments, octets uint64) {
	for d := range c.Flow {
		segments += c.Flow[d].FPDUs + c.Flow[d].Rare().Chunks
		octets += c.Flow[d].Octets
	}
	return segments, octets
}

// ending is how a connection ended.
func ending(c *trace.Connection) string {
	if c.Ending == trace.Open {
		return "open"
	}
	return c.Ending.String() + " by " + c.EndedBy.Sender()
}

// sentence says in a line what a diagnosis says.
func sentence(d *diagnose.Diagnosis) string {
	level := d.Severity.String()
	if d.AllDecided {
		level = "known"
	}
	s := level + ": " + d.Title + ". " + d.Sentences()
	if d.Advice != "" {
		s += " Try: " + d.Advice
	}
	return s
}

// Verdict writes the line of a connection that has ended, with what stands out. The watch
// was told of it.
func (l *Lines) Verdict(c *trace.Connection, w *Watch) {
	b := append(l.ofEnded(c), " ended: "...)
	e, _ := w.entry(c)
	b = append(b, e.verdict()...)
	b = append(b, '\n')
	for i := range e.diagnoses {
		if l.once.Again(&e.diagnoses[i]) {
			continue
		}
		b = append(b, "    "...)
		b = append(b, sentence(&e.diagnoses[i])...)
		b = append(b, '\n')
	}
	l.out.b = b
	l.out.done()
}

// Belated writes what was not known when the line of its connection was written.
func (l *Lines) Belated(d *diagnose.Diagnosis) {
	b := append(l.ofEnded(d.Conn), ": "...)
	l.out.b = append(append(b, sentence(d)...), '\n')
	l.out.done()
}

// ofEnded begins a line about a connection that has ended.
func (l *Lines) ofEnded(c *trace.Connection) []byte {
	b := l.times.append(l.out.b, c.LastTime)
	b = appendUint(b, c.LastFrame)
	b = append(b, l.ends.of(c, trace.I2R)...)
	return appendNumber(b, "-- conn ", c.Number)
}

// Open is a run's connections that have not ended.
type Open func(func(*trace.Connection))

// Board is the state of a capture that goes on, as a person watches it.
type Board struct {
	// Head is the line above all.
	Head          string
	Totals        pipeline.Totals
	Open          Open
	Width, Height int
	Bad           func(string) string
}

// Lines are the lines of a board: the worst connections, those that have ended and those that
// have not. It has no more than Height of them, of at most Width letters each.
func (w *Watch) Lines(b *Board) []string {
	if b.Bad == nil {
		b.Bad = func(s string) string { return s }
	}
	// Those that have ended are few after prune; of the open ones only the worst are sorted.
	room := max(b.Height-boardHead, 1)
	rows := slices.Clone(w.ended)
	open := 0
	b.Open(func(c *trace.Connection) {
		open++
		o := watched{conn: c}
		if x := w.open[c.Number]; x != nil {
			o.count, o.worst, o.level = x.count, x.worst, x.level
		}
		rows = append(rows, o)
		if len(rows) >= 2*(room+len(w.ended)) {
			slices.SortStableFunc(rows, worse)
			rows = rows[:room]
		}
	})
	slices.SortStableFunc(rows, worse)
	more := w.dropped + uint64(len(w.ended)+open)
	rows = rows[:min(room, len(rows))]
	more -= uint64(len(rows))
	out := []string{clip(b.Head, b.Width), clip(w.counts(b, open), b.Width), ""}
	if len(rows) == 0 {
		return append(out, "no iWARP connection so far")
	}
	cells := [][]string{{"conn", "end", "err", "warn", "segments", "octets", "initiator > responder", "worst"}}
	for i := range rows {
		cells = append(cells, rows[i].cells())
	}
	for i, l := range aligned(cells) {
		if l = clip(l, b.Width); i > 0 && rows[i-1].count[conformance.Error] > 0 {
			l = b.Bad(l)
		}
		out = append(out, l)
	}
	if more > 0 {
		out = append(out, clip(fmt.Sprintf("%d more", more), b.Width))
	}
	return out
}

// boardHead is how many lines of a board are no connections.
const boardHead = 5

func (w *Watch) counts(b *Board, open int) string {
	t := &b.Totals
	count := diagnose.Counted
	return fmt.Sprintf("%s, %s; %s, %d iWARP ended, %d open; %s; %s, %s, %s",
		count(t.Frames, "frame", "frames"), size(t.Octets), count(t.Connections-t.Sessions, "TCP connection", "TCP connections"), t.IWARP, open,
		count(t.PDUs, "PDU", "PDUs"), count(uint64(w.total[conformance.Error]), "error", "errors"),
		count(uint64(w.total[conformance.Warning]), "warning", "warnings"), count(uint64(w.total[conformance.Note]), "note", "notes"))
}

func (o *watched) cells() []string {
	c := o.conn
	segments, octets := carried(c)
	what := o.worst
	level := o.level
	for i := range o.diagnoses {
		if d := &o.diagnoses[i]; d.Severity > level || what == o.worst && d.Severity == level {
			what, level = d.Title, d.Severity
		}
	}
	return []string{
		strconv.FormatUint(c.Number, 10), c.Ending.String(),
		strconv.FormatUint(o.count[conformance.Error], 10), strconv.FormatUint(o.count[conformance.Warning], 10),
		strconv.FormatUint(segments, 10), size(octets), c.Side[0].Addr.String() + " > " + c.Side[1].Addr.String(), what,
	}
}

// aligned makes lines of cells.
func aligned(rows [][]string) []string {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, s := range r {
			width[i] = max(width[i], len(s))
		}
	}
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		var b strings.Builder
		for i, s := range r {
			if i > 0 {
				b.WriteString("  ")
			}
			if left := i == 1 || i >= len(r)-2; left {
				fmt.Fprintf(&b, "%-*s", width[i], s)
			} else {
				fmt.Fprintf(&b, "%*s", width[i], s)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// clip cuts a line to a number of letters. What comes from a capture was escaped before.
func clip(s string, width int) string {
	if r := []rune(s); width > 0 && len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}

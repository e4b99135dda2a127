package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// selectFlags are the flags that say which part of a capture is shown.
type selectFlags struct {
	conns, frames string
	after, before string
	worst         int
	filterFlags
	// chosen is what they say, without --worst.
	chosen pipeline.Selection
	there  *presence
}

// aboutSelection explains the flags, in the help of each command that has them.
const aboutSelection = `
--conn, --frames, --after, --before and --worst select what is shown: connections,
frames by number or time, or the N connections with the most problems. What is
selected is counted in tables and findings, and decides the exit code of check. The
whole capture is still analysed, so that what came before is known. Frames and times
select the PDUs that these frames completed, the findings in them, and the connections
that were open then, with the numbers of their whole life. The worst connections are
those with the most errors, then warnings, notes, and retransmissions and gaps; among
equals, those that came first.

TIME is a time of RFC 3339, a date and time or a time of day in UTC as dissect shows
them, or seconds since the first frame, such as +1.5 or 1.5s. A number without + and s
that is larger than ten years of seconds counts from 1970, as dissect -t e shows times.
Frames without a time are never selected by time.`

func (o *selectFlags) flags(f *pflag.FlagSet) {
	f.Var(&filled{&o.conns}, "conn", "show only the connections `N[,M...]`, also ranges such as 3,7-9; -5 is 0-5")
	f.Var(&filled{&o.frames}, "frames", "show only the frames `A-B`, also lists such as 4,10-20")
	f.Var(&filled{&o.after}, "after", "show only frames at `TIME` or later")
	f.Var(&filled{&o.before}, "before", "show only frames at `TIME` or earlier")
	o.filterFlags.flags(f)
	f.IntVar(&o.worst, "worst", 0, "show only the `N` connections with the most problems")
}

// filled is text of a flag that may be left out, but not be empty: what a script has for an unset
// variable would select everything.
type filled struct{ to *string }

func (v *filled) String() string {
	if v.to == nil { // pflag asks the zero value
		return ""
	}
	return *v.to
}
func (*filled) Type() string { return "string" }

func (v *filled) Set(s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	*v.to = s
	return nil
}

// choose reads the flags.
func (o *selectFlags) choose() (err error) {
	if o.there == nil {
		o.there = new(presence)
	}
	c := &o.chosen
	if c.Conns, err = spans("--conn", o.conns, 0); err != nil {
		return err
	}
	if c.Frames, err = spans("--frames", o.frames, 1); err != nil {
		return err
	}
	if c.After, err = moment("--after", o.after); err != nil {
		return err
	}
	if c.Before, err = moment("--before", o.before); err != nil {
		return err
	}
	if a, b := c.After, c.Before; a != nil && b != nil && a.Kind == b.Kind && a.At > b.At {
		return usagef("--after %s is later than --before %s", o.after, o.before)
	}
	if o.worst < 0 {
		return usagef("--worst takes a number of connections, not %d", o.worst)
	}
	return o.compile()
}

// any reports whether something may be left out.
func (o *selectFlags) any() bool { return !o.chosen.All() || o.worst > 0 || o.filters() }

// spans reads numbers and ranges of them; least is the first number there is. It returns
// nil for nothing.
func spans(flag, list string, least uint64) (all []pipeline.Span, err error) {
	if list == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		s := pipeline.Span{From: least, To: 1<<64 - 1}
		ok := first != "" || last != ""
		if first != "" {
			s.From, err = strconv.ParseUint(first, 10, 64)
			ok = ok && err == nil && s.From >= least
		}
		if !isRange {
			s.To = s.From
		} else if last != "" {
			s.To, err = strconv.ParseUint(last, 10, 64)
			ok = ok && err == nil && s.To >= s.From
		}
		if !ok {
			return nil, usagef("%s takes numbers from %d and ranges such as 3,7-9, not %q", flag, least, list)
		}
		all = append(all, s)
	}
	return all, nil
}

// The forms of TIME, besides seconds.
var (
	dateForms = []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, time.DateOnly}
	dayForms  = []string{time.TimeOnly, "15:04"}
)

// sinceEpoch is the length beyond which a number alone is of seconds since 1970, as dissect -t e shows them, and not of
// seconds since the first frame: no capture is that long.
const sinceEpoch = 10 * 365 * 24 * time.Hour

// moment reads a TIME. It returns nil for nothing.
func moment(flag, text string) (*pipeline.Moment, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, text); err == nil {
			return &pipeline.Moment{At: t.UnixNano()}, nil
		}
	}
	for _, form := range dayForms {
		if t, err := time.Parse(form, text); err == nil {
			since := t.Sub(t.Truncate(24 * time.Hour))
			return &pipeline.Moment{At: int64(since), Kind: pipeline.TimeOfDay}, nil
		}
	}
	length, signed := strings.CutPrefix(text, "+")
	_, err := strconv.ParseFloat(length, 64)
	number := err == nil
	if number {
		length += "s"
	}
	if d, err := time.ParseDuration(length); err == nil && d >= 0 {
		if number && !signed && d > sinceEpoch {
			return &pipeline.Moment{At: int64(d)}, nil
		}
		return &pipeline.Moment{At: int64(d), Kind: pipeline.SinceFirst}, nil
	}
	return nil, usagef("%s takes a time such as 2026-01-31T12:00:00Z, \"2026-01-31 12:00:00\", 12:00:00.5, 1769860800.5, +1.5 or 1.5s, not %q", flag, text)
}

// selection is the selection of one run: it follows the frames of the run.
func (o *selectFlags) selection(opt *pipeline.Options) *pipeline.Selection {
	s := o.chosen.Fresh()
	if s.Timed() {
		opt.Saw = both(opt.Saw, s.Saw)
	}
	return s
}

// both calls two functions; either may be nil.
func both(f, g func(uint64, int64)) func(uint64, int64) {
	if f == nil {
		return g
	}
	return func(n uint64, ns int64) { f(n, ns); g(n, ns) }
}

// selected are the connections that a selection has.
func selected(s *pipeline.Selection, cs *ended.List) *ended.List {
	if s.All() {
		return cs
	}
	return cs.Only(s.Has)
}

// picks are those of some connections that a selection has.
func picks(s *pipeline.Selection, cs []*trace.Connection) []*trace.Connection {
	if s.All() {
		return cs
	}
	var some []*trace.Connection
	for _, c := range cs {
		if s.Has(c) {
			some = append(some, c)
		}
	}
	return some
}

// hasFinding reports whether a selection has a finding.
func hasFinding(s *pipeline.Selection, f *conformance.Finding) bool {
	if f.HasPDU {
		return s.Conn(f.Conn.Number) && s.Finding(f.Frame, f.PDU)
	}
	return s.Conn(f.Conn.Number) && s.Frame(f.Frame)
}

// selectedFindings are the findings that a selection has. They stay in their array.
func selectedFindings(s *pipeline.Selection, fs []render.Finding) []render.Finding {
	if s.All() {
		return fs
	}
	some := fs[:0]
	for _, f := range fs {
		if hasFinding(s, &f.Finding) {
			some = append(some, f)
		}
	}
	return some
}

// pick passes on what is selected.
type pick struct {
	next pipeline.Sink
	sel  *pipeline.Selection
	// frame says that a PDU of that frame was passed on, pending that something was
	// for which no frame came yet.
	frame   uint64
	pending bool
	passed  bool
}

// picked puts a selection before a sink.
func picked(s *pipeline.Selection, next pipeline.Sink) pipeline.Sink {
	if s.All() || next == nil {
		return next
	}
	p := &pick{next: next, sel: s}
	if _, ok := next.(interface{ Finding(*conformance.Finding) }); !ok {
		return struct{ pipeline.Sink }{p} // nobody need judge for it
	}
	return p
}

// ofSelected passes on what is selected to a sink of findings, which may be nil.
func ofSelected(s *pipeline.Selection, next conformance.Sink) conformance.Sink {
	if s.All() || next == nil {
		return next
	}
	return &pickFindings{next, s}
}

// pickFindings passes on what is selected.
type pickFindings struct {
	next conformance.Sink
	sel  *pipeline.Selection
}

// Connection implements [conformance.Sink].
func (p *pickFindings) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	if !p.sel.Has(c) {
		return
	}
	some := slices.DeleteFunc(slices.Clone(fs), func(f conformance.Finding) bool { return !hasFinding(p.sel, &f) })
	p.next.Connection(c, some, vs)
}

// PDU implements [trace.Sink].
func (p *pick) PDU(u *trace.PDU) {
	if p.sel.Conn(u.Conn.Number) && p.sel.Frame(u.Frame) {
		p.pending, p.passed, p.frame = true, true, u.Frame
		p.next.PDU(u)
	} else {
		p.Skipped(u)
	}
}

// Skipped passes on a PDU that is not shown.
func (p *pick) Skipped(u *trace.PDU) { skip(p.next, u) }

// LeftOut passes on that a frame is not shown.
func (p *pick) LeftOut() {
	if p.pending {
		leaveOut(p.next)
	}
	p.pending = false
}

// skip tells a sink that counts PDUs of one that is not shown.
func skip(s pipeline.Sink, u *trace.PDU) {
	if c, ok := s.(interface{ Skipped(*trace.PDU) }); ok {
		c.Skipped(u)
	}
}

// leaveOut tells a sink that what became known with a frame comes without it.
func leaveOut(s pipeline.Sink) {
	if l, ok := s.(interface{ LeftOut() }); ok {
		l.LeftOut()
	}
}

// Gap implements [trace.Sink].
func (p *pick) Gap(g *trace.GapEvent) {
	if p.sel.Conn(g.Conn.Number) && p.sel.Frame(g.Frame) {
		p.pending, p.passed = true, true
		p.next.Gap(g)
	}
}

// Transaction implements [trace.Sink].
func (p *pick) Transaction(t *trace.Transaction) {
	if p.sel.Conn(t.Conn.Number) && p.sel.Frame(t.Frame) {
		p.pending, p.passed = true, true
		p.next.Transaction(t)
	}
}

// Finding passes on a finding, if the sink takes them.
func (p *pick) Finding(f *conformance.Finding) {
	if s, ok := p.next.(interface{ Finding(*conformance.Finding) }); ok && hasFinding(p.sel, f) {
		p.pending, p.passed = true, true
		s.Finding(f)
	}
}

// Frame implements [pipeline.Sink]. A frame with chunks of several sessions belongs to
// the first of them, but is shown for any. Where a frame is left out, what became known
// with it is written nevertheless.
func (p *pick) Frame(f *pipeline.Frame) {
	mine := !p.sel.ByConn() || f.Conn != nil && p.sel.Conn(f.Conn.Number)
	if p.sel.Frame(f.Number) && (mine || p.pending && p.frame == f.Number) {
		p.passed = true
		p.next.Frame(f)
		p.pending = false
	} else {
		p.LeftOut()
	}
}

// untimed says that --after or --before has nothing to select by, or that times say nothing of how
// long things took; nil if neither is so.
func (o *selectFlags) untimed(name string, t *pipeline.Totals) error {
	switch last := t.LastTime; {
	case t.Clamped > 0 && (t.Clamped < t.Frames || t.FirstTime != last):
		return fmt.Errorf("%s: the %s not within 1677 to 2262 (first: frame %d): the end of that range stands there, and how long things took with them is not known",
			name, clamped(t.Clamped), t.FirstClamped)
	case t.PDUs == 0 || t.FirstTime != last:
	case last == pipeline.Epoch:
		return fmt.Errorf("%s: all frames have the time 0: nothing is known of how long anything took", name)
	case last == math.MaxInt64, last == math.MinInt64:
		return fmt.Errorf("%s: times are not within 1677 to 2262, and stand as the end of that range: nothing is known of how long anything took", name)
	}
	if !o.chosen.Timed() || t.Frames == 0 || t.FirstTime != 0 {
		return nil
	}
	return fmt.Errorf("%s: no frame has a time, so --after and --before select nothing: use --frames", name)
}

// clamped says how many frames have times that are out of range.
func clamped(n uint64) string {
	if n == 1 {
		return "time of 1 frame is"
	}
	return fmt.Sprintf("times of %d frames are", n)
}

// noneSelected says that no frame of a capture is selected, nil if one is.
func noneSelected(sel *pipeline.Selection, name string, t *pipeline.Totals) error {
	if t.Frames == 0 || sel.Leaves(t.Frames) {
		return nil
	}
	return nothingSelected(name, t)
}

func nothingSelected(name string, t *pipeline.Totals) error {
	return fmt.Errorf("%s: nothing of %s is selected", name, countPDUs(t))
}

// notShown says that nothing of a capture is selected, or which part of that has no line.
func (o *selectFlags) notShown(s *IOStreams, name string, p pipeline.Sink, g *gate, t *pipeline.Totals) {
	k, ok := p.(*pick)
	switch {
	case t.PDUs == 0 && (g == nil || g.lonely == 0):
	case g != nil && g.passed && g.lonely > 0 && !(ok && !k.passed):
		s.say("%s: besides the PDUs that match -Y, %s: -T tabs and --format ndjson show all frames", name, framesDo(g.lonely))
	case !(ok && !k.passed) && (g == nil || g.passed):
	case g != nil && !g.passed && g.lonely > 0:
		s.say("%s: none of %d PDUs matches -Y, but %s: -T tabs and --format ndjson show all frames", name, t.PDUs, framesDo(g.lonely))
	case g != nil && !g.passed && !g.watched && g.c.OfFrames():
		s.say("%s: none of %d PDUs matches -Y; -T tabs and --format ndjson show frames without a PDU too", name, t.PDUs)
	case g != nil && !g.passed:
		s.say("%s: none of %s matches -Y", name, countPDUs(t))
	default:
		s.remarked(nothingSelected(name, t))
	}
}

// countFrames says how many frames a capture has, countPDUs its PDUs and frames.
func countFrames(t *pipeline.Totals) string { return diagnose.Counted(t.Frames, "frame", "frames") }

func countPDUs(t *pipeline.Totals) string {
	return diagnose.Counted(t.PDUs, "PDU", "PDUs") + " in " + countFrames(t)
}

// framesDo counts frames without a PDU.
func framesDo(n uint64) string {
	if n == 1 {
		return "one frame without a PDU does"
	}
	return strconv.FormatUint(n, 10) + " frames without a PDU do"
}

package statistics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// makeExpert reads "[severity][,filter]". The severity is the least that is shown; tshark's
// words are taken as well.
func makeExpert(s *spec, args string) error {
	word, rest, _ := cut(args)
	least, ok := conformance.Note, true
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "error", "errors":
		least = conformance.Error
	case "warn", "warning", "warnings":
		least = conformance.Warning
	case "note", "notes", "chat", "comment":
	default:
		ok = false
	}
	if !ok {
		rest = args
	}
	s.taps = func(s *spec) []tap {
		x := &expert{filter: s.filter, least: least, rules: map[*conformance.Entry]*found{}}
		return []tap{x}
	}
	return s.only(rest)
}

// found counts the findings of a rule.
type found struct {
	rule         *conformance.Entry
	severity     conformance.Severity
	count, first uint64 // first is a frame
}

// expert counts findings by rule.
type expert struct {
	filter string
	least  conformance.Severity
	rules  map[*conformance.Entry]*found
	order  []*found
	// frames are those that the filter matched, nil without one. further are findings that
	// are counted but not listed, so that their frames are not known.
	// forgotten are those in frames too long ago.
	frames             *frameSet
	further, forgotten uint64
	room               *room
}

func (x *expert) keepsIn(r *room) { x.room = r }

// limited has only findings in frames count that matched is told of.
func (x *expert) limited() { x.frames = &frameSet{room: x.room, most: maxWords} }

// matched takes note of a frame that the filter matches.
func (x *expert) matched(frame uint64) {
	if x.frames != nil {
		x.frames.add(frame)
	}
}

func (x *expert) finding(f *conformance.Finding) {
	if f.Severity < x.least {
		return
	}
	if x.frames != nil && !x.frames.has(f.Frame) {
		if f.Frame < x.frames.from {
			x.forgotten++
		}
		return
	}
	n := uint64(1)
	if further := uint64(f.Further()); x.frames == nil { //nolint:gosec // not negative
		n += further
	} else {
		x.further += further
	}
	x.count(f, n)
}

func (x *expert) count(f *conformance.Finding, times uint64) {
	n := x.rules[f.Rule]
	if n == nil {
		n = &found{rule: f.Rule, severity: f.Severity, first: f.Frame}
		x.rules[f.Rule] = n
		x.order = append(x.order, n)
	}
	n.severity = max(n.severity, f.Severity)
	n.first = min(n.first, f.Frame)
	n.count += times
}

// group is the kind of a rule as a word: the one behind the protocol in its name.
func group(rule *conformance.Entry) string {
	if parts := strings.Split(rule.ID, "-"); len(parts) > 2 {
		return parts[1]
	}
	return rule.Level
}

func (x *expert) report() *Report {
	list := slices.Clone(x.order)
	slices.SortStableFunc(list, func(a, b *found) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(a.first, b.first), cmp.Compare(a.rule.ID, b.rule.ID))
	})
	r := &Report{Name: "expert", Filter: x.filter, Title: "Expert"}
	t := Table{Key: "findings", Columns: []Column{
		{"severity", "severity", Plain},
		{"count", "count", Count},
		{"group", "group", Plain},
		{"protocol", "protocol", Plain},
		{"rule", "rule", Plain},
		{"summary", "summary", Plain},
		{"first_frame", "first frame", Count},
	}}
	for _, n := range list {
		t.add(n.severity.String(), n.count, group(n.rule), n.rule.Layer, n.rule.ID, n.rule.Statement, n.first)
	}
	r.Tables = []Table{t}
	if x.further > 0 {
		r.note(fmt.Sprintf("%d more findings are left out: it is not known in which frames they are", x.further))
	}
	if x.forgotten > 0 {
		r.note(fmt.Sprintf("%d findings are left out: they came long after their frames", x.forgotten))
	}
	r.text = func(w *textWriter, r *Report) { expertText(w, r, list) }
	return r
}

// expertText writes findings as tshark does: a list for each severity, with the number of
// findings in its heading.
func expertText(w *textWriter, r *Report, list []*found) {
	for _, s := range []struct {
		severity conformance.Severity
		name     string
	}{{conformance.Error, "Errors"}, {conformance.Warning, "Warns"}, {conformance.Note, "Notes"}} {
		sum := uint64(0)
		for _, n := range list {
			if n.severity == s.severity {
				sum += n.count
			}
		}
		if sum == 0 {
			continue
		}
		w.printf("\n%s (%d)\n=============\n   Frequency      Group           Protocol  Summary\n", s.name, sum)
		for _, n := range list {
			if n.severity == s.severity {
				w.printf("%12d %10s %18s  %s\n", n.count, group(n.rule), strings.ToUpper(n.rule.Layer), n.rule.ID+": "+n.rule.Statement)
			}
		}
	}
	if len(list) == 0 {
		w.printf("\nNo findings\n")
	}
	for _, n := range r.Notes {
		w.printf("Note: %s\n", n)
	}
}

// frameSet is a set of the latest frames, a bit for each.
type frameSet struct {
	bits []uint64
	from uint64 // the frame of the first bit, a multiple of 64
	most uint64 // how many words there may be
	room *room
}

// maxWords bounds a set: 16 MB for 128 million frames. Without room a set does not grow, but has
// leastWords at least. A word weighs as much as two: a slice that grows has room for more.
const (
	maxWords   = 1 << 21
	leastWords = 1 << 10
	wordWeight = 16
)

// add adds a frame; they come in rising order. Old ones are forgotten.
func (s *frameSet) add(n uint64) {
	if n < s.from {
		return
	}
	i := (n - s.from) / 64
	if more := int(min(i, s.most)) + 1 - len(s.bits); more > 0 && i < s.most && !s.room.take(more*wordWeight) { //nolint:gosec // at most maxWords
		s.most = max(uint64(len(s.bits)), leastWords)
	}
	if i >= s.most {
		drop := min(i-s.most/2, uint64(len(s.bits)))
		s.bits = s.bits[:copy(s.bits, s.bits[drop:])]
		if s.from += drop * 64; len(s.bits) == 0 {
			s.from = n / 64 * 64
		}
		i = (n - s.from) / 64
	}
	if i >= uint64(len(s.bits)) {
		s.bits = append(s.bits, make([]uint64, int(i)+1-len(s.bits))...) //nolint:gosec // an index of what is in memory
	}
	s.bits[i] |= 1 << (n % 64)
}

func (s *frameSet) has(n uint64) bool {
	if n < s.from {
		return false
	}
	i := (n - s.from) / 64
	return i < uint64(len(s.bits)) && s.bits[i]>>(n%64)&1 == 1
}

package catalogue

import (
	"strings"
	"sync"
)

// The catalogue: every normative statement of the RFCs and drafts, and interop
// advice, each with how it is checked. It is the only source of what a rule is
// called, says and weighs. It is kept in YAML and written as Go, so that a start
// of the program costs nothing.
//
//go:generate go run ../internal/gencatalogue ..

// Kind says what is made of an entry.
type Kind string

// The kinds.
const (
	// KindCheck may raise findings, KindInfo is for the report, KindAlias is
	// reported under other ids, KindTool binds this tool, KindUnobservable cannot
	// be seen in a capture.
	KindCheck        Kind = "check"
	KindInfo         Kind = "info"
	KindAlias        Kind = "alias"
	KindTool         Kind = "tool"
	KindUnobservable Kind = "unobservable"
)

// Entry is an entry of the catalogue.
type Entry struct {
	ID, Spec, Section string
	// Level is the keyword of the source; RULE is a rule without one.
	Level string
	Layer string
	// Who has to keep it.
	Who string
	// Statement is what the source demands, in other words; of advice it is the
	// title.
	Statement string
	// Matters tells what goes wrong when it is not kept; advice has Failure.
	Matters string
	// Check is the algorithm, Example a violation.
	Check, Example string
	// Observable is yes, partly or no, and Why tells why.
	Observable, Why string
	Kind            Kind
	// Severity of a plain finding.
	Severity Severity
	// Wireshark tells whether its dissectors flag it: yes, no or unknown.
	Wireshark string
	// YieldsTo are entries that take precedence over this one, ReportedAs those
	// under which an alias shows.
	YieldsTo, ReportedAs []string
	// Advice marks what no RFC demands; what follows is for it alone.
	Advice          bool
	Message, Source string
	// Failure is what, seen on the same connection, makes a note a warning.
	Failure string
	// Explains are entries that often break with it.
	Explains []string

	place int
}

// Place is where the entry stands in the catalogue, from 0.
func (e *Entry) Place() int { return e.place }

// Page is the page of docs/rules that explains the entry, under its id.
func (e *Entry) Page() string { return e.Layer + ".md" }

// HelpURI is where that is to be read.
func (e *Entry) HelpURI() string {
	return "https://github.com/iwdissect/iwdissect/blob/main/docs/rules/" + e.Page() + "#" + strings.ToLower(e.ID)
}

// Evidence is a gate in words.
type Evidence struct{ Gate, Text string }

// Book is the catalogue, in the order of its source.
type Book struct {
	Entries  []*Entry
	Evidence []Evidence
	byID     map[string]*Entry
}

// Find returns the entry with the id.
func (b *Book) Find(id string) (*Entry, bool) {
	e, ok := b.byID[id]
	return e, ok
}

// Load returns the catalogue. It is shared.
var Load = sync.OnceValue(func() *Book {
	b := &Book{Entries: make([]*Entry, 0, len(entries)), Evidence: evidence[:], byID: make(map[string]*Entry, len(entries))}
	for i := range entries {
		e := &entries[i]
		e.place = i
		b.Entries = append(b.Entries, e)
		b.byID[e.ID] = e
	}
	return b
})

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

// Kind says how this module treats an entry.
type Kind string

// The kinds.
const (
	// KindCheck may raise findings. KindInfo is shown with the connection, and is not a
	// fault. KindAlias is reported under other ids, those of ReportedAs. KindTool binds a
	// decoder such as this module. KindUnobservable cannot be seen in a capture.
	KindCheck        Kind = "check"
	KindInfo         Kind = "info"
	KindAlias        Kind = "alias"
	KindTool         Kind = "tool"
	KindUnobservable Kind = "unobservable"
)

// Entry is an entry of the catalogue: a rule of an RFC or a draft, or a piece of
// advice.
type Entry struct {
	// ID names the entry for good, such as MPA-CRC-VALUE-01. Spec is the document that
	// it comes from, such as RFC 5044, and Section the section there.
	ID, Spec, Section string
	// Level is the keyword of the document (RFC 2119), such as MUST; RULE means that it has
	// none.
	Level string
	// Layer is mpa, mpa-enhanced, ddp, rdmap, rdmap-ext, sctp-ddp, tcp or rnic-interop,
	// and interop for advice.
	Layer string
	// Who has to keep it, in words.
	Who string
	// Statement is what the source demands, in other words; of advice it is the
	// title.
	Statement string
	// Matters says what goes wrong when the statement is violated; advice has Failure.
	Matters string
	// Check says how it is checked, Example how it is violated.
	Check, Example string
	// Observable says whether a capture shows it: yes, partly or no; Why gives the reason.
	Observable, Why string
	// Kind says how it is treated.
	Kind Kind
	// Severity is that of a finding, where nothing makes it another one.
	Severity Severity
	// Wireshark says whether its dissectors flag it: yes, no or unknown.
	Wireshark string
	// ReportedAs are the entries under which an alias shows.
	ReportedAs []string
	// Advice marks what no RFC demands; what follows is for it alone. Message is what a
	// finding says, Source where the advice comes from.
	Advice          bool
	Message, Source string
	// Failure is what, seen on the same connection, makes a note a warning.
	Failure string
	// Explains are entries that are often violated together with it.
	Explains []string

	place int
}

// Place is the position of the entry in the catalogue, from 0.
func (e *Entry) Place() int { return e.place }

// Page is the page of docs/rules that explains the entry, under its id.
func (e *Entry) Page() string { return e.Layer + ".md" }

// HelpURI is the address of that page.
func (e *Entry) HelpURI() string {
	return "https://github.com/iwdissect/iwdissect/blob/main/docs/rules/" + e.Page() + "#" + strings.ToLower(e.ID)
}

// Evidence is a [Gate] in words.
type Evidence struct {
	// Gate is the name, such as G-FULL, and Text its description.
	Gate, Text string
}

// Book is the catalogue.
type Book struct {
	// Entries are the rules and the advice, in the order of their source.
	Entries []*Entry
	// Evidence are the gates.
	Evidence []Evidence
	byID     map[string]*Entry
}

// Find returns the entry with the id.
func (b *Book) Find(id string) (*Entry, bool) {
	e, ok := b.byID[id]
	return e, ok
}

// Load returns the catalogue. It is shared, and must not be changed.
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

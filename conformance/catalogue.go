package conformance

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// The catalogue: every normative statement of the RFCs and drafts, and interop
// advice, each with how it is checked. It is the only source of what a rule is
// called, says and weighs.
//
//go:embed requirements.yaml
var requirementsYAML []byte

//go:embed advisories.yaml
var advisoriesYAML []byte

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
	// Check is the algorithm, Example a violation.
	Check, Example string
	// Observable is yes, partly or no, and Why tells why.
	Observable, Why string
	Kind            Kind
	// Severity of a plain finding.
	Severity Severity
	// YieldsTo are entries that take precedence over this one, ReportedAs those
	// under which an alias shows.
	YieldsTo, ReportedAs []string
	// Advice marks what no RFC demands; Message and Source are for it alone, and so
	// are Failure, what raises it to a warning where it is seen too, and Explains,
	// the entries of which it tells what usually lies behind.
	Advice                   bool
	Message, Source, Failure string
	Explains                 []string
}

type yamlEntry struct {
	ID         string   `yaml:"id"`
	Spec       string   `yaml:"spec"`
	Section    string   `yaml:"section"`
	Level      string   `yaml:"level"`
	Layer      string   `yaml:"layer"`
	Who        string   `yaml:"who"`
	Statement  string   `yaml:"statement"`
	Title      string   `yaml:"title"`
	Check      string   `yaml:"check"`
	Example    string   `yaml:"example_violation"`
	Observable string   `yaml:"observable"`
	Why        string   `yaml:"observable_why"`
	Kind       string   `yaml:"kind"`
	Severity   string   `yaml:"severity"`
	YieldsTo   []string `yaml:"yields_to"`
	ReportedAs []string `yaml:"reported_as"`
	Message    string   `yaml:"message"`
	Source     string   `yaml:"source"`
	Failure    string   `yaml:"failure"`
	Explains   []string `yaml:"explains"`
}

// Book is the catalogue, in the order of its source.
type Book struct {
	Entries []*Entry
	byID    map[string]*Entry
}

// Find returns the entry with the id.
func (b *Book) Find(id string) (*Entry, bool) {
	e, ok := b.byID[id]
	return e, ok
}

// Catalogue returns the catalogue. It is read once, and shared.
var Catalogue = sync.OnceValue(func() *Book {
	b, err := readBook(requirementsYAML, advisoriesYAML)
	if err != nil {
		// It is in the program: a test reads it before the program is built.
		panic(err)
	}
	return b
})

func readBook(requirements, advisories []byte) (*Book, error) {
	var r struct {
		Requirements []yamlEntry `yaml:"requirements"`
	}
	if err := yaml.Unmarshal(requirements, &r); err != nil {
		return nil, fmt.Errorf("requirements: %w", err)
	}
	var a struct {
		Advisories []yamlEntry `yaml:"advisories"`
	}
	if err := yaml.Unmarshal(advisories, &a); err != nil {
		return nil, fmt.Errorf("advisories: %w", err)
	}
	b := &Book{byID: map[string]*Entry{}}
	for i := range r.Requirements {
		y := &r.Requirements[i]
		if err := b.add(y, y.Statement, Kind(y.Kind), y.Severity, false); err != nil {
			return nil, err
		}
	}
	for i := range a.Advisories {
		y := &a.Advisories[i]
		if err := b.add(y, y.Title, KindCheck, y.Level, true); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// oneLine is a text without the line breaks of its source.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (b *Book) add(y *yamlEntry, statement string, k Kind, severity string, advice bool) error {
	e := &Entry{
		ID: y.ID, Spec: y.Spec, Section: y.Section, Level: y.Level, Layer: y.Layer, Who: y.Who, Statement: oneLine(statement),
		Check: oneLine(y.Check), Example: oneLine(y.Example), Observable: y.Observable, Why: oneLine(y.Why), Kind: k,
		YieldsTo: y.YieldsTo, ReportedAs: y.ReportedAs, Advice: advice, Message: oneLine(y.Message), Source: y.Source,
		Failure: oneLine(y.Failure), Explains: y.Explains,
	}
	s, ok := ParseSeverity(severity)
	if !ok {
		return fmt.Errorf("%s: severity %q", y.ID, severity)
	}
	e.Severity = s
	if advice {
		e.Spec, e.Level, e.Layer = "interop advice", "ADVICE", "interop"
	}
	if b.byID[e.ID] != nil || e.ID == "" {
		return fmt.Errorf("%q: twice, or without an id", e.ID)
	}
	b.Entries = append(b.Entries, e)
	b.byID[e.ID] = e
	return nil
}

package conformance

import "github.com/iwdissect/iwdissect/conformance/catalogue"

// What the catalogue defines, under the names by which findings and verdicts speak of
// it.
type (
	// Entry is an entry of the catalogue.
	Entry = catalogue.Entry
	// Kind says how an entry is treated.
	Kind = catalogue.Kind
	// Book is the catalogue.
	Book = catalogue.Book
	// Evidence is a gate in words.
	Evidence = catalogue.Evidence
	// Severity of a finding.
	Severity = catalogue.Severity
	// Variant is one of the ways to break a rule.
	Variant = catalogue.Variant
	// Gate is a set of conditions without which a rule cannot be judged.
	Gate = catalogue.Gate
)

// The kinds of entries.
const (
	KindCheck        = catalogue.KindCheck
	KindInfo         = catalogue.KindInfo
	KindAlias        = catalogue.KindAlias
	KindTool         = catalogue.KindTool
	KindUnobservable = catalogue.KindUnobservable
)

// The severities of findings.
const (
	None    = catalogue.None
	Note    = catalogue.Note
	Warning = catalogue.Warning
	Error   = catalogue.Error
)

// The variants of findings.
const (
	SwappedOctets = catalogue.SwappedOctets
	OtherQueue    = catalogue.OtherQueue
	CountsMore    = catalogue.CountsMore
	AnotherBegins = catalogue.AnotherBegins
	WentOn        = catalogue.WentOn
	ZeroField     = catalogue.ZeroField
	PlainCRC32    = catalogue.PlainCRC32
)

// The gates.
const (
	Start    = catalogue.Start
	Contig   = catalogue.Contig
	Full     = catalogue.Full
	Bidir    = catalogue.Bidir
	Causal   = catalogue.Causal
	Sum      = catalogue.Sum
	Neg      = catalogue.Neg
	Sync     = catalogue.Sync
	MsgSync  = catalogue.MsgSync
	ReadSync = catalogue.ReadSync
	Layout   = catalogue.Layout
	Size     = catalogue.Size
	End      = catalogue.End
)

// Catalogue returns the catalogue. It is shared.
func Catalogue() *Book { return catalogue.Load() }

// ParseSeverity reads what [Severity.String] writes.
func ParseSeverity(s string) (Severity, bool) { return catalogue.ParseSeverity(s) }

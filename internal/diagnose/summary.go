package diagnose

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Summary gathers the diagnoses of a capture. Connections with the same problem are
// folded into one diagnosis. The zero value is ready for use.
type Summary struct {
	// Keep, if not nil, says which diagnoses of connections are kept.
	Keep func(*Diagnosis) bool
	// New, if not nil, is called with each diagnosis that is added to the list, and again when an
	// earlier connection tells it instead. What waits for another connection is added by [Summary.Settle].
	New func(*Diagnosis)
	// Live says that the capture was taken by this program, from an interface.
	Live bool
	// Unfinished says that more connections are to come, so that [Summary.List] leaves out what waits for them.
	Unfinished bool

	all []*Diagnosis
	at  map[alike]*Diagnosis
	// Dropped counts those that are left out to bound memory.
	Dropped int
	// attempts are connections whose diagnosis waits for another one.
	attempts attempts
	// seen has a bit for each connection that was diagnosed.
	seen []uint64
	// idle serves the next connection: the one before had no diagnosis. nil: it had one, which may still
	// ask it for words.
	idle *about
}

// alike is what diagnoses that are folded into one have in common.
type alike struct {
	kind     Kind
	severity conformance.Severity
	dir      trace.Dir
	hasDir   bool
	same     string
	known    bool
}

const (
	// maxKept bounds the diagnoses of a capture.
	maxKept = 2000
	// maxListed bounds the connections that are listed for a diagnosis.
	maxListed = 1000
)

// Connection diagnoses a connection with its findings and the verdicts on it, which are borrowed. It implements
// [conformance.Sink]: called again for the same connection, it adds only what the findings
// say, since those come from comparing connections.
func (s *Summary) Connection(c *trace.Connection, findings []conformance.Finding, verdicts []conformance.Judgement) {
	s.Decided(c, findings, verdicts, nil)
}

// take adds what was said of a connection.
func (s *Summary) take(a *about) {
	for _, d := range a.diagnoses {
		if d.mayFallBack && s.attempts.hold(&d) {
			continue
		}
		if s.Keep != nil && !s.Keep(&d) {
			continue
		}
		s.Add(d)
	}
	if len(a.diagnoses) == 0 {
		*a = about{explained: a.explained, tells: a.tells, taken: a.taken[:0]}
		s.idle = a
	}
}

// about returns a connection to diagnose.
func (s *Summary) about(c *trace.Connection, findings []conformance.Finding) *about {
	a := s.idle
	if a == nil || cap(a.explained) < len(findings) || cap(a.tells) < len(findings) {
		return newAbout(c, findings)
	}
	s.idle = nil
	a.Connection, a.findings, a.explained, a.tells = c, findings, a.explained[:len(findings)], a.tells[:len(findings)]
	clear(a.explained)
	clear(a.tells)
	return a
}

// again reports whether the connection was diagnosed before, and notes that it is now.
func (s *Summary) again(number uint64) bool {
	at, bit := number/64, uint64(1)<<(number%64)
	for uint64(len(s.seen)) <= at {
		s.seen = append(s.seen, 0)
	}
	before := s.seen[at]&bit != 0
	s.seen[at] |= bit
	return before
}

// Add adds a diagnosis.
func (s *Summary) Add(d Diagnosis) {
	key := alike{d.Kind, d.Severity, d.Dir, d.HasDir, d.same, d.AllDecided}
	if slices.Contains(byCause, d.Kind) {
		key.same += shape(d.Text + strings.Join(d.Also, " ") + strings.Join(d.rules(), " "))
	}
	first := s.at[key]
	switch {
	case first != nil && d.Conn != nil:
		first.Of++
		if len(first.Conns) < maxListed {
			first.Conns = append(first.Conns, d.Conns...)
		}
		if d.Conn.Number < first.Conn.Number { // the first connection tells for all
			d.tell()
			d.Conns, d.Of = first.Conns, first.Of
			d.unite(first)
			*first = d
			s.isNew(first)
			return
		}
		first.unite(&d)
	case len(s.all) >= maxKept:
		s.Dropped++
	default:
		if s.at == nil {
			s.at = map[alike]*Diagnosis{}
		}
		d.tell()
		s.at[key] = &d
		s.all = append(s.all, &d)
		s.isNew(&d)
	}
}

func (s *Summary) isNew(d *Diagnosis) {
	if s.New != nil {
		s.New(d)
	}
}

// tell writes the sentences, if that was put off.
func (d *Diagnosis) tell() {
	if d.words != nil {
		d.words(d)
		d.words = nil
	}
}

// byCause are the kinds whose sentences name the cause: only connections of which the same is
// said, but for numbers, are folded.
var byCause = []Kind{Terminated, StartupRefused, StartupUnanswered, Dialect, Indication, ReadDepth, WrongCRC, Reset, SilentClose}

// numbers are what differs from connection to connection: frames, PDUs, sizes, STags, times.
var numbers = regexp.MustCompile(`(0x)?[0-9a-f]*[0-9][0-9a-f]*([.,][0-9]+)*( (ns|µs|ms|s)\b)?`)

// shape is a text without its numbers. Small ones, such as a revision, stay.
func shape(text string) string {
	return numbers.ReplaceAllStringFunc(text, func(n string) string {
		if len(n) == 1 {
			return n
		}
		return "#"
	})
}

// List returns the diagnoses, the worst first: what failed or costs time before rules that were
// broken without that. In front of all stands what tells how much of the rest is to be believed.
func (s *Summary) List() []*Diagnosis {
	if !s.Unfinished {
		s.release()
	}
	for _, d := range s.all {
		slices.Sort(d.Conns)
	}
	slices.SortStableFunc(s.all, func(a, b *Diagnosis) int {
		return cmp.Or(a.leading(b), a.behind(b), cmp.Compare(b.weight(), a.weight()), cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(b.Of, a.Of),
			cmp.Compare(a.number(), b.number()), cmp.Compare(a.first(), b.first()), strings.Compare(a.same, b.same))
	})
	return s.all
}

// leading compares by whether one stands in front of all others.
func (d *Diagnosis) leading(b *Diagnosis) int {
	switch {
	case d.leads == b.leads:
		return 0
	case d.leads:
		return -1
	}
	return 1
}

// behind compares by whether one is known: what is new comes first.
func (d *Diagnosis) behind(b *Diagnosis) int {
	switch {
	case d.AllDecided == b.AllDecided:
		return 0
	case d.AllDecided:
		return 1
	}
	return -1
}

// weight is the severity as far as it counts in the order.
func (d *Diagnosis) weight() conformance.Severity {
	if d.Kind == Rule {
		return min(d.Severity, conformance.Warning)
	}
	return d.Severity
}

func (d *Diagnosis) number() uint64 {
	if d.Conn == nil {
		return 0
	}
	return d.Conn.Number
}

func (d *Diagnosis) first() uint64 {
	if len(d.Frames) == 0 {
		return 0
	}
	return slices.Min(d.Frames)
}

// Count is how many diagnoses have a severity.
func (s *Summary) Count(severity conformance.Severity) (n int) {
	s.release()
	for _, d := range s.all {
		if d.Severity == severity {
			n++
		}
	}
	return n
}

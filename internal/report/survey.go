package report

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/trace"
)

// The bounds of what is kept in the first reading, and shown of it.
const (
	mostFindings  = 40     // of a connection
	keptFindings  = 20_000 // of a capture
	mostRows      = 50_000 // of the table of connections
	mostDiagnoses = 200
	mostConns     = 12 // that are named for a diagnosis
	mostRules     = 8  // that are named for a diagnosis
	mostTitles    = 8  // of diagnoses that are named for a connection
	// MostDetails is how many connections of a capture are looked at closely at most.
	MostDetails = 200
)

// Survey gathers what is wrong with the connections of a capture. It implements
// [conformance.Sink].
type Survey struct {
	diagnose.Summary
	seen map[uint64]*trouble
	kept int // findings
}

// trouble is what is wrong with a connection: how much of each severity is said in diagnoses and
// in findings.
type trouble struct {
	conn                uint64
	diagnoses, findings [conformance.Error + 1]int
	packets             uint64
	list                []conformance.Finding
	omitted             int
	// dropped says that its findings had to make room.
	dropped bool
}

// NewSurvey makes a survey.
func NewSurvey() *Survey {
	s := &Survey{seen: map[uint64]*trouble{}}
	s.Keep = s.note
	return s
}

// note counts a diagnosis.
func (s *Survey) note(d *diagnose.Diagnosis) bool {
	if d.Conn != nil {
		s.of(d.Conn.Number).diagnoses[d.Severity]++
	}
	return true
}

func (s *Survey) of(conn uint64) *trouble {
	t := s.seen[conn]
	if t == nil {
		t = &trouble{conn: conn}
		s.seen[conn] = t
	}
	return t
}

// Connection implements [conformance.Sink].
func (s *Survey) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	s.Summary.Connection(c, fs, vs)
	if len(fs) == 0 {
		return
	}
	t := s.of(c.Number)
	for i := range fs {
		f := &fs[i]
		t.findings[f.Severity] += 1 + f.Further()
		if len(t.list) >= mostFindings || t.dropped {
			t.omitted++
			continue
		}
		t.list = append(t.list, *f)
		s.kept++
	}
	if s.kept > keptFindings {
		s.drop()
	}
}

// drop forgets the findings of the connections that are least likely to be shown.
func (s *Survey) drop() {
	all := s.ranked()
	for i := len(all) - 1; i >= 0 && s.kept > keptFindings/2; i-- {
		if t := all[i]; len(t.list) > 0 {
			s.kept -= len(t.list)
			t.omitted += len(t.list)
			t.list, t.dropped = nil, true
		}
	}
}

// ranked are the connections with trouble, the worst first.
func (s *Survey) ranked() []*trouble {
	all := make([]*trouble, 0, len(s.seen))
	for _, t := range s.seen {
		all = append(all, t)
	}
	slices.SortFunc(all, (*trouble).compare)
	return all
}

// compare sorts by what is said of a connection, severity by severity, then by packets that were
// lost, then by number.
func (t *trouble) compare(o *trouble) int {
	for level := conformance.Error; level > conformance.None; level-- {
		if c := cmp.Or(cmp.Compare(o.diagnoses[level], t.diagnoses[level]), cmp.Compare(o.findings[level], t.findings[level])); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(o.packets, t.packets), cmp.Compare(t.conn, o.conn))
}

// level is the worst that is said.
func (t *trouble) level() conformance.Severity {
	for level := conformance.Error; level > conformance.None; level-- {
		if t.diagnoses[level]+t.findings[level] > 0 {
			return level
		}
	}
	return conformance.None
}

// titles are those of the diagnoses of a connection. What is said of several is written for the
// first of them, so that it is known only at the end.
func (s *Survey) titles(conn uint64) (all []string) {
	for _, d := range s.List() {
		if slices.Contains(d.Conns, conn) && len(all) < mostTitles {
			all = append(all, d.Title)
		}
	}
	return all
}

// Choose names the n connections that are worth a closer look: first those that the diagnoses
// speak of, so that each kind of problem is shown, then the worst of the others. cs are all that
// carry iWARP.
func (s *Survey) Choose(n int, cs *ended.List) []uint64 {
	known := make(map[uint64]bool, cs.Len())
	for c := range cs.Each() {
		known[c.Number] = true
		t := s.of(c.Number)
		t.packets = 0
		for d := range c.Flow {
			t.packets += c.Flow[d].Rare().Retransmitted + c.Flow[d].Rare().Gaps
		}
	}
	var chosen []uint64
	took := map[uint64]bool{}
	take := func(conn uint64) {
		if len(chosen) < n && known[conn] && !took[conn] {
			took[conn] = true
			chosen = append(chosen, conn)
		}
	}
	for _, d := range s.List() {
		if d.Conn != nil && d.Severity >= conformance.Warning {
			take(d.Conn.Number)
		}
	}
	for _, t := range s.ranked() {
		take(t.conn)
	}
	return chosen
}

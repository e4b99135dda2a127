package merge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
)

// Schema names the shape of the JSON document.
const Schema = "iwdissect-merge/1"

// Summary is what becomes of all points. It is the JSON document of merge.
type Summary struct {
	Schema string `json:"schema"`
	// Points are by name.
	Points []*Point `json:"points"`
	// Missing are points of the list that have no result, or not of all shards, and connections
	// that were asked for and are nowhere.
	Missing []string `json:"missing,omitempty"`
	// Remarks say what was not taken.
	Remarks   []string     `json:"remarks,omitempty"`
	Totals    Totals       `json:"totals"`
	Rules     []*Rule      `json:"rules"`
	Diagnoses []*Diagnosis `json:"diagnoses"`
	// Omitted counts diagnoses that are left out to bound memory.
	Omitted int  `json:"diagnoses_omitted,omitempty"`
	Gate    Gate `json:"gate"`

	rules map[ruleKey]*Rule
	alike map[diagnosisKey]*Diagnosis
}

// Gate is the exit code, and of what.
type Gate struct {
	FailOn   string `json:"fail_on"`
	ExitCode int    `json:"exit_code"`
}

// Totals are sums over points, or what is known of one.
type Totals struct {
	Points      int    `json:"points,omitempty"`
	Frames      uint64 `json:"frames"`
	Octets      uint64 `json:"octets"`
	PDUs        uint64 `json:"pdus"`
	Connections int64  `json:"connections"`
	FPDUs       int64  `json:"fpdus"`
	BadCRCs     int64  `json:"bad_crcs"`
	Gaps        int64  `json:"gaps"`
	// Retransmissions, stalls and the time in them are those of both directions.
	Retransmissions int64 `json:"retransmissions"`
	Stalls          int64 `json:"stalls"`
	StalledNS       int64 `json:"stalled_ns"`
	SendOctets      int64 `json:"send_octets"`
	WriteOctets     int64 `json:"write_octets"`
	ReadOctets      int64 `json:"read_octets"`
	// Reads are RDMA Reads with a latency.
	Reads int64 `json:"reads"`
	*ReadLatency
	Findings Counts `json:"findings"`

	readSum int64
}

// ReadLatency is that of Reads, if there are any. Means can be put together; of quantiles the worst of any connection is told.
type ReadLatency struct {
	ReadMeanNS int64 `json:"read_mean_ns"`
	ReadMaxNS  int64 `json:"read_max_ns"`
	ReadP99NS  int64 `json:"read_p99_worst_ns"`
}

// Counts are findings that are neither known nor suppressed.
type Counts struct {
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
	Notes    int64 `json:"notes"`
	// Decided are those that the baseline has or that are suppressed.
	Decided int64 `json:"decided"`
}

// Of is the count of a severity.
func (c *Counts) Of(s conformance.Severity) *int64 {
	switch s {
	case conformance.Error:
		return &c.Errors
	case conformance.Warning:
		return &c.Warnings
	case conformance.Note, conformance.None:
	}
	return &c.Notes
}

// Failing is how many are at or above a severity.
func (c *Counts) Failing(level conformance.Severity) (n int64) {
	for s := level; s <= conformance.Error; s++ {
		n += *c.Of(s)
	}
	return n
}

// Point is what becomes of a point.
type Point struct {
	Name    string   `json:"point"`
	Shards  int      `json:"shards"`
	Inputs  int      `json:"inputs"`
	Command string   `json:"command"`
	Version string   `json:"version"`
	Judged  bool     `json:"judged"`
	Exit    int      `json:"exit_code"`
	Errors  []string `json:"errors,omitempty"`
	Totals
	// Passed, Failed and NotJudged count rules by their worst verdict.
	Passed    int `json:"rules_passed"`
	Failed    int `json:"rules_failed"`
	NotJudged int `json:"rules_not_judged"`

	unread bool // Errors tell of a table that could not be read
}

// Rule is a rule that was broken.
type Rule struct {
	ID       string `json:"rule"`
	Severity string `json:"severity"`
	Findings int64  `json:"findings"`
	Points   int    `json:"points"`
	// Worst is the point with the most of them, and WorstCount how many it has.
	Worst      string `json:"worst_point"`
	WorstCount int64  `json:"worst_point_findings"`
	Example    Place  `json:"example"`

	here int64 // at the point at hand
}

// Place is where a finding is, and what it says.
type Place struct {
	Point     string `json:"point"`
	Conn      int64  `json:"conn"`
	Frame     int64  `json:"frame"`
	Initiator string `json:"initiator"`
	Responder string `json:"responder"`
	Message   string `json:"message"`
}

type ruleKey struct{ id, severity string }

// Diagnosis is a problem that some points have.
type Diagnosis struct {
	Kind        string   `json:"kind"`
	Severity    string   `json:"severity"`
	Title       string   `json:"title"`
	Points      []string `json:"points"`
	Of          int      `json:"of_points"`
	Connections int64    `json:"connections"`
	// Text and Advice are those of the first point.
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
	Rules  string `json:"rules,omitempty"`
	// Decided are rules of which all findings are known or suppressed; Known: no other findings show it.
	Decided string `json:"decided_rules,omitempty"`
	Known   bool   `json:"known,omitempty"`

	last string // the latest point that has it
}

type diagnosisKey struct {
	kind, severity, title, rules, decided, dir string
	known                                      bool
}

const (
	// mostDiagnoses and mostPoints bound the diagnoses and the points that are listed for each.
	mostDiagnoses, mostPoints = 5000, 1000
)

// New makes an empty summary.
func New(failOn string) *Summary {
	return &Summary{
		Schema: Schema, Points: []*Point{}, Rules: []*Rule{}, Diagnoses: []*Diagnosis{}, Gate: Gate{FailOn: failOn},
		rules: map[ruleKey]*Rule{}, alike: map[diagnosisKey]*Diagnosis{},
	}
}

// End sorts what was put together, and sets the exit code.
func (s *Summary) End(level conformance.Severity, failed bool) {
	slices.SortFunc(s.Rules, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(severity(b.Severity), severity(a.Severity)), cmp.Compare(b.Findings, a.Findings), strings.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(s.Diagnoses, func(a, b *Diagnosis) int {
		return cmp.Or(newFirst(a, b), cmp.Compare(severity(b.Severity), severity(a.Severity)), cmp.Compare(b.Of, a.Of), cmp.Compare(b.Connections, a.Connections), strings.Compare(a.Title, b.Title))
	})
	code := 0
	if s.Totals.Findings.Failing(level) > 0 {
		code = 1
	}
	for _, p := range s.Points {
		if p.Exit == 3 {
			code = 3
		}
	}
	if failed || len(s.Missing) > 0 {
		code = 3
	}
	s.Gate.ExitCode = code
}

// newFirst compares by whether a problem is known.
func newFirst(a, b *Diagnosis) int {
	switch {
	case a.Known == b.Known:
		return 0
	case b.Known:
		return -1
	}
	return 1
}

// Worst are the points, those with the most trouble first.
func (s *Summary) Worst() []*Point {
	all := slices.Clone(s.Points)
	slices.SortStableFunc(all, func(a, b *Point) int {
		f, g := &a.Findings, &b.Findings
		return cmp.Or(cmp.Compare(b.Exit, a.Exit), cmp.Compare(g.Errors, f.Errors), cmp.Compare(g.Warnings, f.Warnings), cmp.Compare(b.BadCRCs, a.BadCRCs),
			cmp.Compare(b.Stalls, a.Stalls), strings.Compare(a.Name, b.Name))
	})
	return all
}

func severity(word string) conformance.Severity {
	s, _ := conformance.ParseSeverity(word)
	return s
}

// add adds the counts of a point to the sums.
func (t *Totals) add(o *Totals) {
	t.Frames += o.Frames
	t.Octets += o.Octets
	t.PDUs += o.PDUs
	t.Connections += o.Connections
	t.FPDUs += o.FPDUs
	t.BadCRCs += o.BadCRCs
	t.Gaps += o.Gaps
	t.Retransmissions += o.Retransmissions
	t.Stalls += o.Stalls
	t.StalledNS += o.StalledNS
	t.SendOctets += o.SendOctets
	t.WriteOctets += o.WriteOctets
	t.ReadOctets += o.ReadOctets
	if l := o.ReadLatency; l != nil {
		t.read(o.Reads, o.readSum, l.ReadMaxNS, l.ReadP99NS)
	}
	t.Findings.Errors += o.Findings.Errors
	t.Findings.Warnings += o.Findings.Warnings
	t.Findings.Notes += o.Findings.Notes
	t.Findings.Decided += o.Findings.Decided
}

// read adds Reads with the sum of their latencies, the longest one, and the highest 99th percentile of a connection.
func (t *Totals) read(n, sum, most, p99 int64) {
	if n == 0 {
		return
	}
	t.Reads += n
	t.readSum += sum
	l := ReadLatency{ReadMeanNS: t.readSum / t.Reads, ReadMaxNS: most, ReadP99NS: p99}
	if had := t.ReadLatency; had != nil {
		l.ReadMaxNS, l.ReadP99NS = max(most, had.ReadMaxNS), max(p99, had.ReadP99NS)
	}
	t.ReadLatency = &l
}

// connection adds a connection.
func (t *Totals) connection(c *dataset.Connection) {
	t.Connections++
	for _, f := range []dataset.Flow{dataset.Flow(c.FlowI2R), dataset.Flow(c.FlowR2I)} {
		t.FPDUs += f.FPDUs
		t.BadCRCs += f.CRCBad
		t.Gaps += f.Gaps
		t.Retransmissions += f.Retransmissions
		t.Stalls += f.Stalls
		t.StalledNS += f.StalledNS
		t.SendOctets += f.SendOctets
		t.WriteOctets += f.WriteOctets
		t.ReadOctets += f.ReadOctets
	}
	if l := dataset.Latency(c.ReadLatency); l.Count != nil && l.Sum != nil && l.Max != nil && l.P99 != nil {
		t.read(*l.Count, *l.Sum, *l.Max, *l.P99)
	}
}

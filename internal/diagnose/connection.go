package diagnose

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// makers make the diagnoses of a connection, each those of one subject. What explains
// findings comes before what only lists them.
var makers = []func(*about){
	terminates,
	stalls,
	refused,
	unanswered,
	dialects,
	readyToReceive,
	depths,
	wrongCRCs,
	endings,
	doubtfulResets,
	doubtfulAborts,
	halfOpens,
	unheard,
	reportedErrors,
	wrongTags,
	wrongMarkers,
	segments,
	damagedPackets,
	clocks,
	incomplete,
	offloads,
	losses,
	depthLimits,
	counters,
	brokenRules,
	upperFailures, // it says whether something else is wrong
}

// Connection diagnoses a connection that is over, from what the analysis knows of it and
// from the findings and verdicts of the rules, which are borrowed.
func Connection(c *trace.Connection, findings []conformance.Finding, verdicts []conformance.Judgement) []Diagnosis {
	return ConnectionDecided(c, findings, verdicts, nil)
}

// ConnectionDecided does so where somebody decided about findings beforehand, see [Summary.Decided].
func ConnectionDecided(c *trace.Connection, findings []conformance.Finding, verdicts []conformance.Judgement, decided []bool) []Diagnosis {
	a := newAbout(c, findings)
	a.verdicts = verdicts
	a.diagnose()
	a.decide(decided)
	for i := range a.diagnoses {
		a.diagnoses[i].tell()
	}
	return a.diagnoses
}

// about is a connection that is being diagnosed.
type about struct {
	*trace.Connection
	findings  []conformance.Finding
	verdicts  []conformance.Judgement // nil: nobody asked the rules
	explained []bool                  // the findings that a diagnosis explains
	// tells is for each finding the number of the diagnosis that tells of it, from 1; 0: none does.
	tells     []int
	diagnoses []Diagnosis
	// taken are the findings that were explained since the last diagnosis was added: the next one tells of them.
	taken []int
	// endExplained says that a diagnosis explains how the connection ended.
	endExplained bool
}

func newAbout(c *trace.Connection, findings []conformance.Finding) *about {
	return &about{Connection: c, findings: findings, explained: make([]bool, len(findings)), tells: make([]int, len(findings))}
}

func (a *about) diagnose() {
	if a.loneDamaged() {
		return
	}
	for _, diagnose := range makers {
		diagnose(a)
	}
}

// add adds a diagnosis. It is at least as severe as the rules that it names: who reads only the diagnoses misses nothing
// that check fails on.
func (a *about) add(d Diagnosis) {
	for _, i := range a.taken {
		if f := &a.findings[i]; !d.mended && !isAdvice(f) && slices.Contains(d.Rules, f.Rule.ID) {
			d.Severity = max(d.Severity, f.Severity)
		}
	}
	d.Conn, d.Conns, d.Of = a.Connection, []uint64{a.Number}, 1
	a.diagnoses = append(a.diagnoses, d)
	a.tellTaken(len(a.diagnoses) - 1)
}

// has reports whether there is a diagnosis of a kind.
func (a *about) has(k Kind) bool {
	return slices.ContainsFunc(a.diagnoses, func(d Diagnosis) bool { return d.Kind == k })
}

// explain returns the findings of some rules, and marks them as explained by the
// diagnosis that asks.
func (a *about) explain(rules ...string) (found []*conformance.Finding) {
	return a.explainIf(func(f *conformance.Finding) bool { return slices.Contains(rules, f.Rule.ID) })
}

// finds reports whether there is a finding of a rule.
func (a *about) finds(rule string) bool {
	return slices.ContainsFunc(a.findings, func(f conformance.Finding) bool { return f.Rule.ID == rule })
}

// explainIf does so with the findings for which a condition holds.
func (a *about) explainIf(holds func(*conformance.Finding) bool) (found []*conformance.Finding) {
	for i := range a.findings {
		if f := &a.findings[i]; !a.explained[i] && holds(f) {
			a.explained[i] = true
			found, a.taken = append(found, f), append(a.taken, i)
		}
	}
	return found
}

// rulesOf are the ids of the rules of findings, each once.
func rulesOf(found []*conformance.Finding) (ids []string) {
	for _, f := range found {
		if !slices.Contains(ids, f.Rule.ID) {
			ids = append(ids, f.Rule.ID)
		}
	}
	return ids
}

// framesOf are the frames of findings, each once, at most a few.
func framesOf(found []*conformance.Finding) (frames []uint64) {
	const few = 20
	for _, f := range found {
		if len(frames) < few && f.Frame > 0 && !slices.Contains(frames, f.Frame) {
			frames = append(frames, f.Frame)
		}
	}
	return frames
}

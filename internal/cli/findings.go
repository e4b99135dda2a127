package cli

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// findingsFlag adds --no-findings.
func findingsFlag(f *pflag.FlagSet, v *bool) {
	f.BoolVar(v, "no-findings", false, "do not judge by the rules of the RFCs, which saves time")
}

// onBug reports a check that panicked.
func onBug(capture string, tell func(error)) func(rule string, why any) {
	return func(rule string, why any) {
		tell(fmt.Errorf("%s: the check of %s failed, which is a fault of this program: %v", capture, rule, why))
	}
}

// judged passes everything to the rules and to another sink, which may be nil. That
// sink gets each finding after the PDU that made it certain.
type judged struct {
	*conformance.Engine
	next pipeline.Sink
}

// judge puts the rules before a sink. A capture needs its own.
func judge(capture string, next pipeline.Sink, keep conformance.Sink, memory *budget.Account, tell func(error)) *judged {
	return judgeFor(capture, next, keep, memory, tell, nil)
}

// judgeFor is judge, and tells more of findings as well, unless it is nil.
func judgeFor(
	capture string, next pipeline.Sink, keep conformance.Sink, memory *budget.Account, tell func(error), more func(*conformance.Finding),
) *judged {
	opt := conformance.Options{OnBug: onBug(capture, tell), OnFinding: more, Account: memory}
	if s, ok := next.(interface{ Finding(*conformance.Finding) }); ok {
		if opt.OnFinding = s.Finding; more != nil {
			opt.OnFinding = func(f *conformance.Finding) { s.Finding(f); more(f) }
		}
	}
	return &judged{Engine: conformance.New(opt, keep), next: next}
}

// partly tells an engine of a run that has part of the connections.
func partly(e *conformance.Engine, opt *pipeline.Options) *conformance.Engine {
	if !unsharded(opt) {
		e.Partial()
	}
	return e
}

// of tells the rules whether the run has all connections.
func (j *judged) of(opt *pipeline.Options) *judged {
	partly(j.Engine, opt)
	return j
}

// PDU implements [trace.Sink].
func (j *judged) PDU(p *trace.PDU) {
	if j.next != nil {
		j.next.PDU(p)
	}
	j.Engine.PDU(p)
}

// Gap implements [trace.Sink].
func (j *judged) Gap(g *trace.GapEvent) {
	if j.next != nil {
		j.next.Gap(g)
	}
	j.Engine.Gap(g)
}

// Transaction implements [trace.Sink].
func (j *judged) Transaction(t *trace.Transaction) {
	if j.next != nil {
		j.next.Transaction(t)
	}
}

// Frame implements [pipeline.Sink].
func (j *judged) Frame(f *pipeline.Frame) {
	if j.next != nil {
		j.next.Frame(f)
	}
}

// keptFindings keeps the findings of a capture for a report, as far as there is memory for
// them. The others are counted.
type keptFindings struct {
	blocks   [][]render.Finding
	memory   *budget.Account
	unlisted [conformance.Error + 1]int // by severity
}

// keptWeight is what a finding takes until it is written, roughly: itself, its words and its
// fingerprint, and its place among those of its connection.
const keptWeight = 3*int(unsafe.Sizeof(render.Finding{})) + 128

// add adds a finding; counts says whether it counts if it cannot be kept.
func (k *keptFindings) add(f *conformance.Finding, counts bool) {
	if k.memory.Scarce() {
		if counts {
			k.unlisted[f.Severity] += 1 + f.Further()
		}
		return
	}
	k.memory.Keep(keptWeight)
	last := len(k.blocks) - 1
	if last < 0 || len(k.blocks[last]) == cap(k.blocks[last]) {
		// They never move: to copy them whenever there is no room behind them costs more
		// than to make them.
		k.blocks = append(k.blocks, make([]render.Finding, 0, min(8<<min(len(k.blocks), 9), keptBlock)))
		last++
	}
	k.blocks[last] = append(k.blocks[last], render.Finding{Finding: *f})
}

// keptBlock is how many findings a block has, but for the first ones.
const keptBlock = 1 << 12

// list is what is kept, by frame. The order of the findings is sorted, and not the findings
// themselves: there may be millions, and they are large.
func (k *keptFindings) list() []render.Finding {
	var all []*render.Finding
	for _, block := range k.blocks {
		for i := range block {
			all = append(all, &block[i])
		}
	}
	slices.SortStableFunc(all, byFrame)
	list := make([]render.Finding, len(all))
	for i, f := range all {
		list[i] = *f
	}
	k.blocks = nil
	return list
}

func byFrame(a, b *render.Finding) int {
	return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Conn.Number, b.Conn.Number), cmp.Compare(a.PDU, b.PDU), cmp.Compare(a.Rule.ID, b.Rule.ID))
}

// left is how many findings are not kept.
func (k *keptFindings) left() (n uint64) {
	for _, of := range k.unlisted {
		n += uint64(of) //nolint:gosec // a count
	}
	return n
}

// allFindings keeps all findings of a capture, for a document.
type allFindings struct {
	keptFindings
	sel *pipeline.Selection
}

// Connection implements [conformance.Sink].
func (a *allFindings) Connection(c *trace.Connection, fs []conformance.Finding, _ []conformance.Judgement) {
	counts := a.sel.Has(c)
	for i := range fs {
		a.add(&fs[i], counts)
	}
}

package cli

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// moving tells a sink of the PDUs that became known behind their frame with that frame: an
// earlier run over the capture has found them.
type moving struct {
	judgeOf
	known *fields.Hindsight
	// elsewhere: the PDU that came last was told with its frame, and what it completed, too.
	elsewhere bool
}

// moved puts PDUs in the rows of their frames before a sink that takes a frame with all that
// became known with it as one.
func (k foresight) moved(next pipeline.Sink, opt *pipeline.Options) pipeline.Sink {
	if !k.known.Moves() || next == nil {
		return next
	}
	opt.Brief = false // which tells of no frames
	m := &moving{known: k.known, judgeOf: judgeOf{next}}
	if _, ok := next.(interface{ Finding(*conformance.Finding) }); !ok {
		return struct {
			pipeline.Sink
			pipeline.Judge
		}{m, m} // nobody need judge for it
	}
	return m
}

// PDU implements [trace.Sink].
func (m *moving) PDU(p *trace.PDU) {
	if m.elsewhere = m.known.Elsewhere(p.Number); !m.elsewhere {
		m.next.PDU(p)
	}
}

// Transaction implements [trace.Sink].
func (m *moving) Transaction(t *trace.Transaction) {
	if !m.elsewhere {
		m.next.Transaction(t)
	}
}

// Gap implements [trace.Sink].
func (m *moving) Gap(g *trace.GapEvent) { m.next.Gap(g) }

// Finding passes on a finding.
func (m *moving) Finding(f *conformance.Finding) {
	m.next.(interface{ Finding(*conformance.Finding) }).Finding(f) //nolint:forcetypeassert // moved has looked
}

// Frame implements [pipeline.Sink].
func (m *moving) Frame(f *pipeline.Frame) {
	for _, x := range m.known.MovedTo(f) {
		m.next.PDU(x.PDU)
		for _, t := range x.Transactions {
			m.next.Transaction(t)
		}
	}
	m.elsewhere = false
	m.next.Frame(f)
}

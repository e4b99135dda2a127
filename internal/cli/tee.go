package cli

import (
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// tee tells two sinks everything. The first one is told first: findings about a PDU come from the
// next. That a connection has ended is told to the next one first, so that its findings are known.
type tee struct {
	first, next pipeline.Sink // next may be nil
}

// PDU implements [trace.Sink].
func (t *tee) PDU(p *trace.PDU) {
	t.first.PDU(p)
	if t.next != nil {
		t.next.PDU(p)
	}
}

// Transaction implements [trace.Sink].
func (t *tee) Transaction(x *trace.Transaction) {
	t.first.Transaction(x)
	if t.next != nil {
		t.next.Transaction(x)
	}
}

// Gap implements [trace.Sink].
func (t *tee) Gap(e *trace.GapEvent) {
	t.first.Gap(e)
	if t.next != nil {
		t.next.Gap(e)
	}
}

// Frame implements [pipeline.Sink].
func (t *tee) Frame(f *pipeline.Frame) {
	t.first.Frame(f)
	if t.next != nil {
		t.next.Frame(f)
	}
}

// Ended implements [pipeline.Judge].
func (t *tee) Ended(c *trace.Connection) {
	judgeOf{t.next}.Ended(c)
	judgeOf{t.first}.Ended(c)
}

// Finish implements [pipeline.Judge].
func (t *tee) Finish() {
	judgeOf{t.next}.Finish()
	judgeOf{t.first}.Finish()
}

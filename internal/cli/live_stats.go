package cli

import (
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// statsOnly reports whether nothing but statistics is shown: -z with -q.
func (o *liveOptions) statsOnly() bool { return o.quiet && o.wanted() }

// liveStats shows statistics at the end, and nothing else.
type liveStats struct{ c *session }

func (*liveStats) sink() pipeline.Sink       { return nil }
func (*liveStats) keep() conformance.Sink    { return nil }
func (*liveStats) ended([]*trace.Connection) {}
func (*liveStats) refresh(time.Time)         {}
func (*liveStats) erase()                    {}

func (v *liveStats) finish(string) {
	c := v.c
	w := &statWriter{w: c.out, format: c.o.format}
	w.write(fileUnit(c.o.iface), c.stats.Reports())
	if err := w.close(); err != nil && !c.gone {
		c.fail(err)
		c.gone = true
	}
}

package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// Touched names the parts of the shared idle state that were written to; it should be
// empty.
func (e *Engine) Touched() []string { return e.capture.Touched() }

// GoLong has each FPDU go the long way.
func (e *Engine) GoLong() { e.capture.Long = true }

// Model is the whole model of a connection, as text.
func (e *Engine) Model(t *trace.Connection) string {
	c, ok := t.SinkData.(*judged)
	if !ok {
		return ""
	}
	return c.Dump()
}

// Misses says what the model has noted of the open messages of a connection and is not so;
// empty if all is well.
func (e *Engine) Misses(t *trace.Connection) string {
	if c, ok := t.SinkData.(*judged); ok {
		return c.Misses()
	}
	return ""
}

// AboutTest is what the rule for an entry says about its tests.
func AboutTest(id string) rules.Test {
	if r, ok := ruleOf(id); ok {
		return r.Test
	}
	return rules.Test{}
}

// Records are packed here as those of large captures are, in all tests of this package.
func init() { plainRecords = 1 }

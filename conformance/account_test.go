package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestAccount: what the engine keeps of connections that are over is on the account as what stays, and no
// longer once it is forgotten.
func TestAccount(t *testing.T) {
	kept := func(flows, window int) int {
		account := budget.New(1 << 30)
		j := &judge{}
		j.Engine = conformance.New(conformance.Options{Account: account, Window: window, CompareAfter: 1}, j)
		run := pipeline.New(pipeline.Options{Brief: true}, j)
		frames := framesOf(t, scenario.Load(scenario.Shape{Size: 200 << 10, Flows: flows, Seed: 3}))
		if err := run.Read(tracetest.Source(frames)); err != nil {
			t.Fatal(err)
		}
		run.Finish()
		if account.Kept() > account.Used() {
			t.Errorf("%d octets are kept, %d used", account.Kept(), account.Used())
		}
		return account.Kept()
	}
	const least = 300 // octets of a connection
	few, many := kept(20, 0), kept(60, 0)
	if few < 20*least || many-few < 40*least {
		t.Errorf("20 connections keep %d octets, 60 keep %d", few, many)
	}
	if windowed := kept(60, 10); windowed > few || windowed < 5*least {
		t.Errorf("60 connections in a window of 10 keep %d octets, 20 without one %d", windowed, few)
	}
}

package budget_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/budget"
)

func TestAccount(t *testing.T) {
	t.Parallel()
	a := budget.New(100)
	for _, step := range []struct {
		take, keep, used, peak int
		scarce, over           bool
	}{
		{70, 0, 70, 70, false, false},
		{30, 0, 100, 100, false, false},
		{0, 50, 150, 150, false, true},
		{-90, 0, 60, 150, false, false},
		{0, 1, 61, 150, true, false},
		{0, -11, 50, 150, false, false},
	} {
		a.Take(step.take)
		a.Keep(step.keep)
		if a.Used() != step.used || a.Peak() != step.peak || a.Scarce() != step.scarce || a.Over() != step.over || a.Limit() != 100 {
			t.Errorf("after %+v: %+v", step, a)
		}
	}
	a.End() // now all of it may be kept
	if a.Keep(50); a.Scarce() || a.Over() {
		t.Errorf("at the end: %+v", a)
	}
	if a.Keep(1); !a.Scarce() || !a.Over() {
		t.Errorf("beyond the end: %+v", a)
	}
	var none *budget.Account
	if none.Take(1 << 30); none.Over() || none.Scarce() {
		t.Error("no account has an end")
	}
}

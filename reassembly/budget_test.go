package reassembly_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

func TestBudget_Direction(t *testing.T) {
	r := newRig(t, 3*(512+64), 1<<20)
	r.step(open())
	x := strings.Repeat("x", 500)
	for i := range 4 {
		r.step(data(10+600*i, x))
	}
	// The fourth is one too many: the first hole goes, and no other.
	want := "gap10@0#2:budget " + x + "@10#2"
	if got := r.got(0); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if used := r.budget.Used(); used != 3*(512+64) {
		t.Errorf("%d octets in use", used)
	}
	r.flush()
}

// TestBudget_Run lets one connection hold what another one then lacks.
func TestBudget_Run(t *testing.T) {
	r := newRig(t, 1<<20, 2*(64+64))
	other := newRig(t, 0, 0)
	other.budget = r.budget
	other.conn.Init(r.budget)
	other.step(open())
	other.step(data(5, "f"))
	other.step(data(9, "j"))
	r.step(open())
	r.step(data(5, "fg"))
	if got := r.got(0); got != "gap5@0#2:budget fg@5#2" {
		t.Error(got)
	}
	if got := other.got(0); got != "" {
		t.Error(got)
	}
	for dir := range 2 {
		other.collect(dir, other.conn.Flush)
	}
	r.flush()
}

// TestBudget_Cut shows that segments without captured octets count as well.
func TestBudget_Cut(t *testing.T) {
	r := newRig(t, 640, 1<<20)
	r.step(open())
	for i := range 10 {
		r.step(data(2*i+1, "").cutting(1))
	}
	if r.got(0) != "" || r.budget.Used() != 640 {
		t.Errorf("%d in use, %s", r.budget.Used(), r.got(0))
	}
	r.step(data(21, "").cutting(1))
	if got := r.got(0); got != "gap1@0#2:budget cut1@1#2" {
		t.Error(got)
	}
	r.flush()
}

// TestBudget_Zero holds nothing.
func TestBudget_Zero(t *testing.T) {
	r := newRig(t, 0, 0)
	for _, s := range one(open(), data(1, "b"), data(0, "a"), data(5, "fg"), data(2, "cd"), data(7, "h")) {
		r.step(s)
	}
	if got := r.got(0); got != "gap1@0#2:budget b@1#2 gap3@2#4:budget fg@5#4 h@7#6" {
		t.Error(got)
	}
	r.flush()
}

func TestBudget_Reasons(t *testing.T) {
	for _, r := range []reassembly.GapReason{reassembly.Acked, reassembly.OverBudget, reassembly.Ended} {
		if s := r.String(); s == "" || s == "unknown" {
			t.Errorf("%d: %q", r, s)
		}
	}
	if s := reassembly.GapReason(9).String(); s != "unknown" {
		t.Error(s)
	}
}

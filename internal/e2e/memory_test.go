package e2e

import (
	"runtime"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/hostile"
	"github.com/iwdissect/iwdissect/trace"
)

// judgedRun is a run with the rules, of which nothing is kept but counts.
type judgedRun struct {
	*conformance.Engine
	early, passed, unjudged, findings int
}

func (*judgedRun) Frame(*pipeline.Frame) {}

// Connection implements [conformance.Sink].
func (r *judgedRun) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	r.findings += len(fs)
	if !c.EndedEarly {
		return
	}
	r.early++
	for _, v := range vs {
		switch {
		case v.Verdict == conformance.NotJudged:
			r.unjudged++
		case v.Verdict == conformance.Pass && v.Rule.ID == "DDP-UNTAG-MSN-02":
			r.passed++
		}
	}
}

// inUse is the heap in use, in octets.
func inUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// What stays of connections that end early is kept before enough of them have ended, so half more
// may be taken for a moment.

// TestMemory: what an attacker makes an analysis keep stays within the memory that it may
// take, in truth as well as on account; what was given up is counted, and rules on connections
// that ended early are not judged.
func TestMemory(t *testing.T) {
	const limit = 16 << 20
	for _, c := range []struct {
		name string
		n    int
		ends bool // connections end early
		long bool // only in the campaign
	}{
		{"atomics", 1000, true, true},
		{"reads", 1000, true, true},
		{"findings", 2000, true, true},
		{"datagram", 300, false, true},
		{"private", 1000, true, false},
		{"inits", 6000, true, false},
		{"holes", 3000, true, true},
		{"syns", 500_000, true, true},
	} {
		if c.long && !tracetest.Campaign() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			a, ok := hostile.Find(c.name)
			if !ok {
				t.Fatal("no such attack")
			}
			account := budget.New(limit)
			r := &judgedRun{}
			r.Engine = conformance.New(conformance.Options{Account: account}, r)
			before := inUse()
			run := pipeline.New(pipeline.Options{Brief: true, Sums: true, Memory: account, TotalReorderBytes: limit / 8, DecoderBytes: limit / 8}, r)
			most, frames := 0, 0
			a.Frames(c.n, func(f *capture.Frame) {
				run.Frame(f)
				if frames++; frames >= 1<<10 && frames&(frames-1) == 0 {
					most = max(most, inUse()-before)
				}
			})
			most = max(most, inUse()-before)
			on, tot := account.Peak(), run.Totals()
			t.Logf("%d octets on account, %d in truth; %d ended early", on, most, tot.Evicted)
			if on > limit+limit/2 || most > 3*limit/2+8<<20 {
				t.Errorf("%d octets on account, %d in truth, and %d are allowed", on, most, limit)
			}
			if early := tot.Evicted > 0; early != c.ends {
				t.Errorf("%d connections ended early", tot.Evicted)
			}
			run.Finish()
			if r.passed > 0 || r.early > 0 && r.unjudged == 0 {
				t.Errorf("of %d that ended early a rule about all of a connection passed on %d, %d verdicts are open", r.early, r.passed, r.unjudged)
			}
			if left := account.Used(); left > limit+limit/16 {
				t.Errorf("%d octets are left on account", left)
			}
		})
	}
}

// TestMemory_GivenBack: when all connections are over, nothing is on account but what is kept
// of them.
func TestMemory_GivenBack(t *testing.T) {
	t.Parallel()
	for _, name := range tracetest.Captures(t, "../..") {
		src, err := capture.Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		account := budget.New(1 << 30)
		r := &judgedRun{}
		r.Engine = conformance.New(conformance.Options{Account: account}, r)
		run := pipeline.New(pipeline.Options{Brief: true, Sums: true, Memory: account}, r)
		_ = run.Read(src) // captures that are damaged are among them
		run.Finish()
		if err := src.Close(); err != nil {
			t.Error(err)
		}
		if account.Used() != account.Kept() || run.Totals().IWARP > 0 && account.Peak() == 0 {
			t.Errorf("%s: %d octets on account, %d of them kept, %d at most", name, account.Used(), account.Kept(), account.Peak())
		}
	}
}

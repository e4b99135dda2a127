package metrics

import (
	"time"

	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// State is what a capture says of itself when it publishes.
type State struct {
	Totals pipeline.Totals
	// Tracked is how many connections and associations are in memory, and Memory how many
	// octets they and what is kept of others take.
	Tracked, Memory int
	// Kernel are the counts of the kernel, if HasKernel.
	Kernel    live.Stats
	HasKernel bool
	// Now is the time of the clock, Latest that of the latest frame, in nanoseconds since the
	// Unix epoch; Latest is 0 if there was no frame.
	Now, Latest int64
}

// published is what those who ask are told. Nothing of it is written to after it was published.
type published struct {
	counts
	State
	rules []ofRule
	at    time.Time
	over  bool
}

// Publish lets those who ask see the counts and the state of the capture as they are now.
func (r *Recorder) Publish(s State) {
	p := published{counts: r.now, State: s, at: time.Now(), rules: make([]ofRule, 0, len(r.rules))}
	for _, of := range r.rules {
		p.rules = append(p.rules, *of)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	p.over = r.published.over
	r.published = p
}

// End says that the capture is over.
func (r *Recorder) End() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.published.over = true
}

// latest is what was published last.
func (r *Recorder) latest() published {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.published
}

// stale is how old what was published may be: a capture publishes about each second, so one that
// is silent for so long hangs.
const stale = 30 * time.Second

// alive reports whether the capture works.
func (p *published) alive() bool { return !p.at.IsZero() && (p.over || time.Since(p.at) < stale) }

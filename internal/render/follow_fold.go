package render

import (
	"math/bits"
	"slices"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// followText is a form for people, behind a folder.
type followText interface {
	begin(*trace.Connection)
	// put writes an entry.
	put(*spoken)
	// still writes that nothing happened for some time, or that some entries came again.
	still(text string)
	end(*trace.Connection, string)
	saw(ns int64)
	// announces reports whether it shows that a message begins while others go on.
	announces() bool
}

// folder leaves out what repeats itself, and says how often: entries that are alike one after
// the other, a run, and patterns of a few runs, such as a request with its answer, or some
// Writes with the Send that tells of them.
type folder struct {
	f  *Follow
	to followText
	// run is the one at hand; its first entry is shown at once unless a pattern goes on.
	run *run
	// before are those that were shown last, the latest at the end.
	before [2 * longest]past
	// pattern is what repeats itself, at the place in it; held are the runs of the round at
	// hand, once those of the first round that is left out, rounds how many there were.
	pattern    []past
	at         int
	held, once []*run
	rounds     uint64
	sum        foldSum
	// latest is the latest time so far, began the first one.
	latest, began int64
}

// longest is the longest pattern that is found, in runs.
const longest = 12

// run are entries that are alike, n of them: the first, the second if there are two, and the
// sum of all but the first.
type run struct {
	first, second *spoken
	n             uint64
	rest          foldSum
}

// past is what is remembered of a run: its first entry, what that is like, and about how many
// there were.
type past struct {
	frame         uint64
	rhythm, count uint64
}

func (r *run) past() past {
	return past{r.first.first, r.first.rhythm, uint64(bits.Len64(r.n))} //nolint:gosec // not negative
}

// like reports whether two runs are alike.
func (p past) like(o past) bool { return p.rhythm == o.rhythm && p.count == o.count && p.rhythm != 0 }

// foldSum sums up what is left out.
type foldSum struct {
	first, last             uint64
	began, ended            int64
	messages, octets        [2]uint64
	answers, low, high, all uint64
}

func newFolder(f *Follow, to followText) *folder { return &folder{f: f, to: to} }

func (d *folder) begin(c *trace.Connection) { d.to.begin(c) }

// pauseOf is how long there was nothing before an entry, if that is worth a line.
func (d *folder) pauseOf(e *spoken) int64 {
	if e.began == 0 {
		return 0
	}
	gap := e.began - d.latest
	first := d.latest == 0
	if first {
		d.began = e.began
	}
	d.latest = max(d.latest, e.ended)
	if first || d.f.opt.Pause <= 0 || gap < d.f.opt.pauseAfter(e.began-d.began) {
		return 0
	}
	return gap
}

// pauseAfter is from how long on nothing is worth a line, at a time since the first entry.
func (o *FollowOptions) pauseAfter(ns int64) int64 {
	if o.PausePart == 0 {
		return o.Pause
	}
	return min(max(ns/o.PausePart, o.Pause), o.MostPause)
}

// entry implements [followForm].
func (d *folder) entry(e *spoken) {
	e.pause = d.pauseOf(e)
	e.rhythm = e.shape
	if e.shape != 0 && e.pause > 0 { // pauses that are about as long repeat themselves too
		e.rhythm |= uint64(bits.Len64(uint64(e.pause))) << 32 //nolint:gosec // not negative
	}
	if d.f.opt.All {
		d.put(e)
		d.f.release(e)
		return
	}
	if r := d.run; r != nil && e.rhythm != 0 && r.first.rhythm == e.rhythm {
		d.more(r, e)
		return
	}
	d.endRun()
	d.run = &run{first: e, n: 1}
	if d.pattern != nil && d.pattern[d.at].rhythm != e.rhythm {
		d.unfold()
	}
	if d.pattern == nil {
		d.put(e)
	}
}

// more adds an entry to a run.
func (d *folder) more(r *run, e *spoken) {
	r.n++
	r.rest.add(e)
	if r.n == 2 {
		r.second = e
		return
	}
	d.f.release(e)
}

// endRun is called when something else comes.
func (d *folder) endRun() {
	r := d.run
	d.run = nil
	switch {
	case r == nil:
	case d.pattern == nil:
		d.showRest(r)
		d.find()
	case r.past().like(d.pattern[d.at]):
		d.absorb(r)
	default:
		d.unfold()
		d.show(r)
	}
}

// show shows a run.
func (d *folder) show(r *run) {
	d.put(r.first)
	d.showRest(r)
}

// showRest shows the rest of a run.
func (d *folder) showRest(r *run) {
	copy(d.before[:], d.before[1:])
	d.before[len(d.before)-1] = r.past()
	switch {
	case r.n == 2:
		d.put(r.second)
	case r.n > 2:
		d.to.still(string(r.rest.append([]byte("repeated "), r.n-1)))
	}
	d.release(r)
}

// release takes back the entries of a run.
func (d *folder) release(r *run) {
	d.f.release(r.first)
	if r.second != nil {
		d.f.release(r.second)
	}
}

// find looks whether the last runs repeat those before them.
func (d *folder) find() {
	end := len(d.before)
	for n := 2; n <= longest; n++ {
		if slices.EqualFunc(d.before[end-n:], d.before[end-2*n:end-n], past.like) {
			d.pattern = slices.Clone(d.before[end-n:])
			return
		}
	}
}

// absorb leaves a run out.
func (d *folder) absorb(r *run) {
	d.held = append(d.held, r)
	if d.at++; d.at < len(d.pattern) {
		return
	}
	d.at = 0
	if d.rounds++; d.rounds == 1 {
		d.once, d.held = d.held, nil
		return
	}
	for _, r := range append(d.once, d.held...) {
		d.sum.add(r.first)
		if r.n > 1 {
			d.sum.join(&r.rest)
		}
		d.release(r)
	}
	d.once, d.held = nil, d.held[:0]
}

// unfold shows what was left out: as it is if it came once, else in a line.
func (d *folder) unfold() {
	once, held := d.once, d.held
	if d.rounds > 1 {
		b := appendNumber(nil, "again as from frame ", d.pattern[0].frame)
		d.to.still(string(d.sum.append(append(b, ", "...), d.rounds)))
		clear(d.before[:])
	}
	d.pattern, d.at, d.held, d.once, d.rounds, d.sum = nil, 0, nil, nil, 0, foldSum{}
	for _, r := range append(once, held...) {
		d.show(r)
	}
}

// put shows an entry, and before it that there was nothing for some time.
func (d *folder) put(e *spoken) {
	if e.pause > 0 {
		what := "nothing"
		if e.octets != 0 && e.octets < e.began {
			what = "without a message"
		} else if e.bare < e.began && e.bare-(e.began-e.pause) >= e.pause/4 {
			what = "nothing but packets without data"
		}
		d.to.still(diagnose.Duration(e.pause) + " " + what)
	}
	d.to.put(e)
}

// add counts an entry that is left out.
func (s *foldSum) add(e *spoken) {
	x := foldSum{first: e.first, last: e.last, began: e.began, ended: e.ended}
	if !e.begins {
		x.messages[e.dir]++
		x.octets[e.dir] += uint64(max(e.length, 0))
	}
	if (e.answers || e.answered) && e.latency >= 0 {
		v := uint64(e.latency)
		x.answers, x.low, x.high, x.all = 1, v, v, v
	}
	s.join(&x)
}

// join adds what another sum counts.
func (s *foldSum) join(o *foldSum) {
	if s.first == 0 {
		s.first, s.began = o.first, o.began
	}
	s.last, s.ended = max(s.last, o.last), max(s.ended, o.ended)
	for d := range s.messages {
		s.messages[d] += o.messages[d]
		s.octets[d] += o.octets[d]
	}
	if o.answers > 0 {
		if s.answers == 0 || o.low < s.low {
			s.low = o.low
		}
		s.high = max(s.high, o.high)
		s.answers += o.answers
		s.all += o.all
	}
}

// append says what was left out, and how often it came.
func (s *foldSum) append(b []byte, times uint64) []byte {
	b = append(b, diagnose.Counted(times, "time", "times")...)
	b = appendNumber(append(b, ": "...), "frames ", s.first)
	b = appendNumber(b, "-", s.last)
	if s.ended > s.began && s.began != 0 {
		b = append(append(b, ", "...), diagnose.Duration(trace.Elapsed(s.began, s.ended))...)
	}
	for d, n := range s.messages {
		if n > 0 {
			b = append(append(append(append(b, ", "...), size(s.octets[d])...), ' '), trace.Dir(d).String()...)
		}
	}
	if s.answers > 0 {
		b = appendRange(append(b, ", answers after "...), s.low, s.high)
		if diagnose.Duration(int64(s.low)) != diagnose.Duration(int64(s.high)) { //nolint:gosec // were durations
			b = append(append(b, ", on average "...), diagnose.Duration(int64(s.all/s.answers))...) //nolint:gosec // was a duration
		}
	}
	return b
}

// appendRange appends the least and the largest of some durations, in nanoseconds.
func appendRange(b []byte, low, high uint64) []byte {
	l, h := diagnose.Duration(int64(low)), diagnose.Duration(int64(high)) //nolint:gosec // were durations
	if b = append(b, l...); l != h {
		b = append(append(b, " to "...), h...)
	}
	return b
}

// end implements [followForm].
func (d *folder) end(c *trace.Connection) {
	d.close()
	d.to.end(c, endOf(c))
}

// close implements [followForm].
func (d *folder) close() {
	d.endRun()
	d.unfold()
}

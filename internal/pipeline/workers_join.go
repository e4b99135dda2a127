package pipeline

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/judges"
)

// tight is the part of the memory that may have been in use and is no longer at the end of a batch.
const tight = 16

// join puts together what all workers found in a batch, as one run would have found it.
func (w *Workers) join(s *shared) {
	at := len(w.numbers)
	w.latest = s.Latest()
	added, forgot, used := 0, 0, w.opt.Memory.Used()
	for i := range s.of {
		of := &s.of[i]
		w.numbers = append(w.numbers, of.created...)
		for _, c := range of.pdus {
			w.found[i].add(c.frame, c.n)
			w.pdus += c.n
		}
		w.ended = append(w.ended, of.leaving...)
		added, forgot, used = added+of.added+len(of.leaving), forgot+len(of.leaving), used+of.used
	}
	slices.Sort(w.numbers[at:])
	w.live += added
	// A single run may have had to make room by now.
	if limit := w.opt.Memory.Limit(); w.live > w.opt.MaxConnections || used > limit-limit/tight || !w.cut(s.of) {
		w.Cross()
		return
	}
	w.tell(s.of)
	w.live -= forgot
	slices.SortStableFunc(w.ended, func(a, b leaving) int { return cmp.Compare(a.frame, b.frame) })
	for i := range w.ended {
		w.left(&w.ended[i])
	}
	clear(w.ended)
	w.ended = w.ended[:0]
}

// cut has the parts know what they have for each other.
func (w *Workers) cut(of []share) bool {
	p, ok := w.runs[0].sink.(judges.Part)
	if !ok {
		return true
	}
	w.cuts = w.cuts[:0]
	for i := range of {
		w.cuts = append(w.cuts, of[i].cut)
	}
	return p.Join(w.cuts)
}

// left keeps the record of a connection that has ended if it carried iWARP, and tells of it.
func (w *Workers) left(l *leaving) {
	c := l.conn
	at, _ := slices.BinarySearch(w.numbers, c.Number)
	c.Number = uint64(at) //nolint:gosec // not negative
	if !c.IsMPA {
		w.others.connection(c, l.first)
		return
	}
	number := func(n uint64) uint64 { return w.pdu(int(l.run.opt.Shard.K), n) }
	analysis.Renumber(c, number)
	if l.tell != nil {
		l.tell(number)
	}
	w.totals.keeps(c)
	switch {
	case w.opt.NoRecords:
	case w.opt.Memory.Scarce():
		w.totals.RecordsDropped++
	default:
		w.opt.Memory.Keep(w.records.Add(c, recordWeight+analysis.Weight(c)))
	}
}

// pdu is the number in the capture of the nth PDU of a worker.
func (w *Workers) pdu(worker int, n uint64) uint64 {
	own := &w.found[worker]
	if n >= own.count {
		return n // it was found at the end, where all have one number
	}
	frame := own.frameOf(n)
	for i := range w.found {
		if i != worker {
			n += w.found[i].until(frame)
		}
	}
	return n
}

// ending is a connection that ends with the capture, or a SYN that was not answered.
type ending struct {
	number uint64
	run    *Run
	flow   *flow // nil: a SYN
	lone   lone
}

// Finish returns the connections that carried iWARP, by number.
func (w *Workers) Finish() *ended.List { return &w.records }

// finish ends all connections, one after the other.
func (w *Workers) finish() {
	var all []ending
	for _, r := range w.runs {
		r.untap()
		w.opt.Memory.Take(r.memory.Used())
		r.totals.LastTime, r.env.End = w.last, w.last
		r.latest = w.latest
		for _, fl := range r.flows.all() {
			all = append(all, ending{number: fl.conn.Trace.Number, run: r, flow: fl})
		}
		for _, l := range r.syns.order() {
			all = append(all, ending{number: l.number, run: r, lone: l})
		}
		r.flows = newFlows()
	}
	slices.SortFunc(all, func(a, b ending) int { return cmp.Compare(a.number, b.number) })
	w.opt.Memory.End()
	w.records.Unpacked()
	for i := range all {
		e := &all[i]
		if e.flow == nil {
			server, frame := e.run.syns.silent(e.lone)
			w.others.silent(server, frame)
			continue
		}
		w.end(e.run, e.flow)
		*e = ending{} // the garbage collector may take it
	}
	if p, ok := w.runs[0].sink.(judges.Part); ok {
		p.Finish()
	}
}

// end ends a connection with the capture. PDUs that become known have the numbers behind those of all.
func (w *Workers) end(r *Run, fl *flow) {
	before := r.memory.Used()
	r.env.SetPDUs(w.pdus)
	r.found.leaving, r.found.transactions = r.found.leaving[:0], r.found.transactions.emptied()
	r.leaves(fl)
	w.pdus = r.env.PDUs()
	w.opt.Memory.Take(r.memory.Used() - before)
	w.tellLast(r)
	w.left(&r.found.leaving[0])
	if p, ok := r.sink.(judges.Part); ok {
		r.found.cut = p.Cut(r.found.cut)
		if w.cuts = append(w.cuts[:0], r.found.cut); !p.Join(w.cuts) {
			w.Cross()
		}
	}
}

// Totals returns the counts of all.
func (w *Workers) Totals() Totals {
	sum := w.totals
	for _, r := range w.runs {
		t := r.Totals()
		sum.add(&t)
	}
	sum.FirstTime, sum.LastTime, sum.IP = w.first, w.last, w.runs[0].Totals().IP
	sum.Connections, sum.PDUs = uint64(len(w.numbers)), w.pdus
	return sum
}

// Others returns what the capture holds besides iWARP.
func (w *Workers) Others() *Others {
	o := w.others
	of := w.runs[0].others // the first part has the frames without a connection
	o.Links, o.Seen = of.Links, of.Seen
	return &o
}

// add adds the counts of other connections of the same capture.
func (t *Totals) add(o *Totals) {
	t.Frames += o.Frames
	t.Octets += o.Octets
	t.Captured += o.Captured
	t.Cut += o.Cut
	t.Emptied += o.Emptied
	t.Headless += o.Headless
	t.Unread += o.Unread
	t.Damaged += o.Damaged
	t.TCP += o.TCP
	t.SCTP += o.SCTP
	t.Other += o.Other
	t.Malformed += o.Malformed
	t.Truncated += o.Truncated
	t.Fragments += o.Fragments
	t.Duplicates += o.Duplicates
	t.Copies += o.Copies
	t.Compared += o.Compared
	t.Alike += o.Alike
	t.ComparedBare += o.ComparedBare
	t.AlikeBare += o.AlikeBare
	t.FirstCopy = firstOf(t.FirstCopy, o.FirstCopy)
	t.Clamped += o.Clamped
	t.FirstClamped = firstOf(t.FirstClamped, o.FirstClamped)
	t.Sessions += o.Sessions
	t.IWARP += o.IWARP
	t.LoneDamaged += o.LoneDamaged
	t.SumsRight += o.SumsRight
	t.Evicted += o.Evicted
	t.RecordsDropped += o.RecordsDropped
	t.FindingsUnlisted += o.FindingsUnlisted
	t.Starved += o.Starved
	t.GapsGivenUp += o.GapsGivenUp
	t.RequestsForgotten += o.RequestsForgotten
	t.Errors += o.Errors
}

// firstOf is the first of two frames, 0 for none.
func firstOf(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

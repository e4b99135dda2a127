package synth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// part does a part of a step, from 0, and returns what to wait for before the next one: until the
// peer has got what was sent, and requests are answered. last: there is no next one.
func (w *world) part(t *task, o *op, part int) (until wait, last bool) {
	c, h := o.conn, o.host
	if c == nil {
		w.fail(o.place, "there is no connection %q", o.step.Conn)
		return wait{}, true
	}
	switch o.verb {
	case Connect:
		if part == 0 {
			until, _ = w.open(c)
			return until, false
		}
		return w.start(c, part-1)
	case Open:
		return w.open(c)
	case Start:
		return w.start(c, part)
	case Post, Stream:
		return w.post(o, part)
	case Close:
		return w.close(c, h, part)
	case End:
		return w.end(c, h, part)
	case Reset:
		h.line.reset(w.queue.Now())
		h.resets = true
		w.kick(h)
		return wait{kind: resetSeen, conn: c, host: h}, true
	case Wait:
		end := w.queue.Now() + o.step.For
		w.queue.At(end, func() { w.stirred = true })
		return wait{kind: moment, host: h, at: end}, true
	case Register:
		h.register(o.name, o.step.Region)
		return wait{}, true
	case Packet:
		h.line.craft(&o.step.Craft)
		return wait{}, true
	case Expect:
		return wait{}, true
	case Together, Parallel:
		t.open = len(o.parts)
		for _, p := range o.parts {
			w.spawn(p, t)
		}
		return wait{kind: tasks, task: t}, true
	case Repeat:
		return wait{}, !t.repeat(o)
	case Load:
		return wait{}, !w.load(t, o)
	}
	w.fail(o.place, "a step that does not exist: %d", o.verb)
	return wait{}, true
}

// open does the TCP handshake.
func (w *world) open(c *conn) (until wait, last bool) {
	now := w.queue.Now()
	for _, side := range [...]Side{Server, Client} {
		c.hosts[side].line.open(now)
		w.kick(c.hosts[side])
	}
	return wait{kind: opened, conn: c}, true
}

// end ends a DDP stream session.
func (w *world) end(c *conn, h *host, part int) (until wait, last bool) {
	switch part {
	case 0:
		h.endpoint().Close()
		w.kick(h)
		return wait{kind: ended, conn: c}, false
	case 1:
		return h.delivered(), false
	}
	return h.peer().delivered(), true
}

// start does the startup of MPA, the ready-to-receive indication included, or
// begins a DDP stream session.
func (w *world) start(c *conn, part int) (until wait, last bool) {
	i := c.hosts[c.cfg.Initiator]
	r := i.peer()
	switch part {
	case 0:
		for _, h := range [...]*host{i, r} {
			if h.ep != nil && c.cfg.Association != "" && h.ep.Phase() != rnic.Streaming {
				h.ep = nil // the next session on the stream
			}
		}
		r.endpoint().Start()
		i.endpoint().Start()
		w.kick(r)
		w.kick(i)
		return wait{kind: started, conn: c}, false
	case 1:
		return i.delivered(), false
	}
	return r.delivered(), true
}

// close closes a half. What was posted goes out first, if it ever can.
func (w *world) close(c *conn, h *host, part int) (until wait, last bool) {
	if c.cfg.Association != "" {
		if part < endParts {
			until, _ = w.end(c, h, part)
			return until, false
		}
	} else if part == 0 {
		h.endpoint().Close()
		w.kick(h)
		return wait{kind: closed, conn: c}, false
	}
	if !h.line.close(w.queue.Now()) {
		return wait{}, true // others on the association go on
	}
	w.kick(h)
	return wait{kind: closed, conn: c}, true
}

// endParts are the parts of an End.
const endParts = 3

// post posts the work of a step.
func (w *world) post(o *op, part int) (until wait, last bool) {
	h := o.host
	if part > 0 {
		return h.delivered(), true
	}
	for range o.times {
		work, err := h.work(o)
		if err != nil {
			w.fail(o.place, "%w", err)
			return wait{}, true
		}
		*o.said++
		work.Name, work.Number = o.name, *o.said
		h.endpoint().Post(work)
	}
	w.watch.posted(h, o.name, *o.said)
	h.posts(o)
	w.kick(h)
	if o.ahead {
		return wait{}, true
	}
	return wait{kind: sent, conn: o.conn, host: h, name: o.name}, false
}

// work fills in what the step leaves to the hosts.
func (h *host) work(o *op) (rnic.Work, error) {
	work := *o.work
	if o.verb == Stream {
		return work, nil
	}
	var remote, local Memory
	var invalidate *Memory
	if s := o.step; s != nil {
		remote, local, invalidate = s.Remote, s.Local, s.Invalidate
	}
	var err error
	if work.Remote, err = h.peer().address(&remote); err != nil {
		return work, err
	}
	if work.Local, err = h.address(&local); err != nil {
		return work, err
	}
	if invalidate != nil {
		a, err := h.peer().address(invalidate)
		if err != nil {
			return work, err
		}
		work.Invalidate, work.HasInvalidate = a.STag, true
	}
	if (work.Op == rnic.OpFetchAdd || work.Op == rnic.OpCmpSwap) && work.RequestID == 0 {
		h.requestID++
		work.RequestID = h.requestID
	}
	return work, nil
}

// repeat begins the next round of a Repeat, if there is one.
func (t *task) repeat(o *op) bool {
	l := &t.levels[len(t.levels)-1]
	if l.rounds == o.times {
		return false
	}
	l.rounds++
	t.levels = append(t.levels, level{steps: o.parts[0]})
	return true
}

// load begins the next round of a Load, until the hosts have written so much.
func (w *world) load(t *task, o *op) bool {
	l := &t.levels[len(t.levels)-1]
	written := o.conn.written()
	switch {
	case l.rounds == 0:
		l.goal = written + int64(o.size) //nolint:gosec // a size that a file can have
	case written == l.before && o.conn.over():
		return false // a fault may have ended it
	case written == l.before:
		w.fail(o.place, "the steps of a load send nothing")
		return false
	}
	if written >= l.goal {
		return false
	}
	l.rounds++
	l.before = written
	t.levels = append(t.levels, level{steps: o.parts[0]})
	return true
}

// register makes memory of a host known under a name.
func (h *host) register(name string, r rnic.Region) {
	ep := h.endpoint() // which may register others again
	r = ep.Register(r)
	i, known := h.region(name)
	if !known {
		h.regions = slices.Insert(h.regions, i, region{name: name})
	}
	h.regions[i].Region = r
}

// region is registered memory with its name.
type region struct {
	name string
	rnic.Region
}

// region is where memory with a name is among the regions, or would be.
func (h *host) region(name string) (int, bool) {
	return slices.BinarySearchFunc(h.regions, name, func(r region, name string) int { return strings.Compare(r.name, name) })
}

// address is where a step says that memory of the host is.
func (h *host) address(m *Memory) (rnic.Address, error) {
	h.endpoint()
	var r rnic.Region
	i, ok := h.region(m.Region)
	if ok {
		r = h.regions[i].Region
	}
	if m.New {
		r, ok = h.endpoint().Register(rnic.Region{Address: rnic.Address{TO: regionTO}, Size: newRegion, Read: true, Write: true}), true
	}
	if !ok {
		return rnic.Address{}, fmt.Errorf("the %s has no region %q", sideName(h.side), m.Region)
	}
	a := rnic.Address{STag: r.STag, TO: r.TO + m.Offset}
	if m.STag != nil {
		a.STag = *m.STag
	}
	if m.TO != nil {
		a.TO = *m.TO
	}
	return a, nil
}

func sideName(s Side) string {
	if s == Client {
		return "client"
	}
	return "server"
}

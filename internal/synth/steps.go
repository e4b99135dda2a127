package synth

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// steps does steps one after the other. It returns early when the task ends.
func (w *world) steps(steps []Step, wait waiter) {
	for i := range steps {
		if !w.step(&steps[i], wait) {
			return
		}
	}
}

// step does one step and waits for its end: until the peer has got what was
// sent, and requests are answered. It returns false when the task is to end.
func (w *world) step(s *Step, wait waiter) bool {
	c, ok := w.conn(s)
	if !ok {
		return false
	}
	h := c.hosts[s.From]
	switch s.Verb {
	case Connect:
		return w.open(c, wait) && w.start(c, wait)
	case Open:
		return w.open(c, wait)
	case Start:
		return w.start(c, wait)
	case Stream:
		return w.post(s, h, wait)
	case Post:
		return w.post(s, h, wait)
	case Close:
		return w.close(c, h, wait)
	case End:
		return w.end(c, h, wait)
	case Reset:
		h.line.reset(w.queue.Now())
		w.kick(h)
		return wait(c, func() bool { return h.peer().line.peerReset() })
	case Wait:
		end := w.queue.Now() + s.For
		w.queue.At(end, func() { w.stirred = true })
		return wait(nil, func() bool { return w.queue.Now() >= end })
	case Register:
		h.register(s.Name, s.Region)
		return true
	case Packet:
		h.line.craft(&s.Craft)
		return true
	case Expect:
		return true
	case Together, Parallel:
		return w.parallel(s, wait)
	case Repeat:
		for range max(s.Times, 1) {
			for i := range s.Steps {
				if !w.step(&s.Steps[i], wait) {
					return false
				}
			}
		}
		return true
	case Load:
		return w.load(s, c, wait)
	}
	w.fail(s.Place, "a step that does not exist: %d", s.Verb)
	return false
}

func (w *world) conn(s *Step) (*conn, bool) {
	if s.Conn == "" {
		return w.conns[0], true
	}
	c, ok := w.byName[s.Conn]
	if !ok {
		w.fail(s.Place, "there is no connection %q", s.Conn)
	}
	return c, ok
}

// open does the TCP handshake.
func (w *world) open(c *conn, wait waiter) bool {
	now := w.queue.Now()
	for _, side := range [...]Side{Server, Client} {
		c.hosts[side].line.open(now)
		w.kick(c.hosts[side])
	}
	return wait(c, func() bool {
		return c.hosts[Client].line.established() && c.hosts[Server].line.established()
	})
}

// end ends a DDP stream session.
func (w *world) end(c *conn, h *host, wait waiter) bool {
	h.endpoint().Close()
	w.kick(h)
	return wait(c, func() bool {
		return c.hosts[Client].endpoint().SessionOver() && c.hosts[Server].endpoint().SessionOver()
	}) && h.delivered(wait) && h.peer().delivered(wait)
}

// start does the startup of MPA, the ready-to-receive indication included, or
// begins a DDP stream session.
func (w *world) start(c *conn, wait waiter) bool {
	i := c.hosts[c.cfg.Initiator]
	r := i.peer()
	for _, h := range [...]*host{i, r} {
		if h.ep != nil && c.cfg.Association != "" && h.ep.Phase() != rnic.Streaming {
			h.ep = nil // the next session on the stream
		}
	}
	r.endpoint().Start()
	i.endpoint().Start()
	w.kick(r)
	w.kick(i)
	return wait(c, func() bool {
		return i.ep.Phase() >= rnic.Ready && r.ep.Phase() >= rnic.Full && i.ep.Unfinished("rtr") == 0
	}) && i.delivered(wait) && r.delivered(wait)
}

// close closes a half. What was posted goes out first, if it ever can.
func (w *world) close(c *conn, h *host, wait waiter) bool {
	h.endpoint().Close()
	w.kick(h)
	closed := func() bool { return c.hosts[Client].line.closed() && c.hosts[Server].line.closed() }
	if c.cfg.Association != "" {
		if !w.end(c, h, wait) {
			return false
		}
	} else if !wait(c, closed) {
		return false
	}
	if !h.line.close(w.queue.Now()) {
		return true // others on the association go on
	}
	w.kick(h)
	return wait(c, closed)
}

// post posts the work of a step.
func (w *world) post(s *Step, h *host, wait waiter) bool {
	for range max(s.Times, 1) {
		work, err := h.work(s)
		if err != nil {
			w.fail(s.Place, "%w", err)
			return false
		}
		w.numbers[s.Name]++
		work.Name, work.Number = s.Name, w.numbers[s.Name]
		h.endpoint().Post(work)
	}
	w.kick(h)
	if s.Ahead {
		return true
	}
	return wait(h.conn, func() bool { return h.ep.Unfinished(s.Name) == 0 }) && h.delivered(wait)
}

// work fills in what the step leaves to the hosts.
func (h *host) work(s *Step) (rnic.Work, error) {
	work := s.Work
	if s.Verb == Stream {
		return rnic.Work{Op: rnic.OpRaw, Data: s.Data, Size: s.Size}, nil
	}
	var err error
	if work.Remote, err = h.peer().address(s.Remote); err != nil {
		return work, err
	}
	if work.Local, err = h.address(s.Local); err != nil {
		return work, err
	}
	if s.Invalidate != nil {
		a, err := h.peer().address(*s.Invalidate)
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

// parallel does steps, or branches of steps, at the same time.
func (w *world) parallel(s *Step, wait waiter) bool {
	var all []*task
	for i := range s.Steps {
		all = append(all, w.spawn(s.Steps[i:i+1]))
	}
	for _, b := range s.Branches {
		all = append(all, w.spawn(b))
	}
	return wait(nil, func() bool {
		for len(all) > 0 && all[0].done {
			all = all[1:]
		}
		return len(all) == 0
	})
}

// load repeats steps until the hosts have written so much.
func (w *world) load(s *Step, c *conn, wait waiter) bool {
	goal := c.written() + int64(s.Size) //nolint:gosec // a size that a file can have
	for c.written() < goal {
		before := c.written()
		for i := range s.Steps {
			if !w.step(&s.Steps[i], wait) {
				return false
			}
		}
		if c.written() == before {
			w.fail(s.Place, "the steps of a load send nothing")
			return false
		}
	}
	return true
}

// register makes memory of a host known under a name.
func (h *host) register(name string, r rnic.Region) {
	h.regions[name] = h.endpoint().Register(r)
}

// address is where a step says that memory of the host is.
func (h *host) address(m Memory) (rnic.Address, error) {
	h.endpoint()
	r, ok := h.regions[m.Region]
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

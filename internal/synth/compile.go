package synth

import "github.com/iwdissect/iwdissect/internal/synth/rnic"

// op is a step with what it speaks of: thousands of connections do their steps
// again and again, and names would be looked up each time.
type op struct {
	verb  Verb
	ahead bool
	times int
	name  string
	size  uint64 // of a Load
	conn  *conn  // nil: there is none of this name
	host  *host
	place Place
	// said counts the messages of this name so far.
	said *int
	// work is that of a Post.
	work *rnic.Work
	// parts are the Steps of Together, Repeat and Load; of Together and Parallel each is a
	// run of its own.
	parts [][]op
	// step is all of it; nil if the above is, since most steps have a great deal of nothing.
	step *Step
}

// compiler makes ops of steps.
type compiler struct {
	world  *world
	conns  map[string]*conn
	counts map[string]*int
	// borrowed: the steps are gone soon.
	borrowed bool
}

// kept is a step that is there as long as its op is.
func (c *compiler) kept(s *Step) *Step {
	if !c.borrowed {
		return s
	}
	own := *s
	return &own
}

func newCompiler(w *world) *compiler {
	c := &compiler{world: w, conns: make(map[string]*conn, len(w.conns)), counts: map[string]*int{}}
	for _, x := range w.conns {
		c.conns[x.cfg.Name] = x
	}
	return c
}

// timeline is what is to be done.
func (c *compiler) timeline(s *Script) []op {
	if s.Branch == nil {
		return c.run(s.Timeline)
	}
	all := op{verb: Parallel, conn: c.world.conns[0], parts: make([][]op, 0, len(c.world.conns))}
	branch := s.Branch()
	c.borrowed = true
	for _, x := range c.world.conns {
		all.parts = append(all.parts, c.run(branch(x.number)))
	}
	return []op{all}
}

// run compiles steps that are done one after the other.
func (c *compiler) run(steps []Step) []op {
	ops := make([]op, len(steps))
	for i := range steps {
		ops[i] = c.op(&steps[i])
	}
	return ops
}

func (c *compiler) op(s *Step) op {
	o := op{verb: s.Verb, ahead: s.Ahead, times: max(s.Times, 1), name: s.Name, size: s.Size, conn: c.conns[s.Conn], place: s.Place}
	if s.Conn == "" {
		o.conn = c.world.conns[0]
	}
	if o.conn != nil {
		o.host = o.conn.hosts[s.From]
	} else {
		o.step = c.kept(s)
	}
	switch s.Verb {
	case Post, Stream:
		o.said = c.count(s.Name)
		work := s.Work
		if s.Verb == Stream {
			work = rnic.Work{Op: rnic.OpRaw, Data: s.Data, Size: s.Size}
		} else if s.Remote != (Memory{}) || s.Local != (Memory{}) || s.Invalidate != nil {
			o.step = c.kept(s)
		}
		o.work = &work
	case Together, Parallel:
		for i := range s.Steps {
			o.parts = append(o.parts, c.run(s.Steps[i:i+1]))
		}
		for _, b := range s.Branches {
			o.parts = append(o.parts, c.run(b))
		}
	case Repeat, Load:
		o.parts = [][]op{c.run(s.Steps)}
	case Wait, Register, Packet:
		o.step = c.kept(s)
	case Connect, Open, Start, Close, Reset, End, Expect:
	}
	return o
}

// count is where messages with a name are counted.
func (c *compiler) count(name string) *int {
	n := c.counts[name]
	if n == nil {
		n = new(int)
		c.counts[name] = n
	}
	return n
}

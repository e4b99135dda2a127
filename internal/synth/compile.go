package synth

// op is a step with what it speaks of: thousands of connections do their steps
// again and again, and names would be looked up each time.
type op struct {
	*Step
	conn *conn // nil: there is none of this name
	host *host
	// said counts the messages of this name so far.
	said *int
	// parts are the Steps of Together, Repeat and Load; of Together and Parallel each is a
	// run of its own.
	parts [][]op
}

// compiler makes ops of steps.
type compiler struct {
	world  *world
	conns  map[string]*conn
	counts map[string]*int
}

func newCompiler(w *world) *compiler {
	c := &compiler{world: w, conns: make(map[string]*conn, len(w.conns)), counts: map[string]*int{}}
	for _, x := range w.conns {
		c.conns[x.cfg.Name] = x
	}
	return c
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
	o := op{Step: s, conn: c.conns[s.Conn]}
	if s.Conn == "" {
		o.conn = c.world.conns[0]
	}
	if o.conn != nil {
		o.host = o.conn.hosts[s.From]
	}
	switch s.Verb {
	case Post, Stream:
		if c.counts[s.Name] == nil {
			c.counts[s.Name] = new(int)
		}
		o.said = c.counts[s.Name]
	case Together, Parallel:
		for i := range s.Steps {
			o.parts = append(o.parts, c.run(s.Steps[i:i+1]))
		}
		for _, b := range s.Branches {
			o.parts = append(o.parts, c.run(b))
		}
	case Repeat, Load:
		o.parts = [][]op{c.run(s.Steps)}
	case Connect, Open, Start, Close, Reset, End, Wait, Register, Packet, Expect:
	}
	return o
}

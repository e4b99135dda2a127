package scenario

import (
	"slices"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

func itoa(i int) string { return strconv.Itoa(i) }

// verb is what can be done.
type verb struct {
	// message: it sends messages, which have a name and can be posted several
	// times. answered: the other side answers them.
	message, answered bool
	// once: it cannot be repeated by times.
	once bool
	// keys are the modifiers of its own, of which it needs some.
	keys, needs []string
	// read reads its value; set one of its own modifiers. check, if there is one, looks at the
	// whole step behind them.
	read  func(c *compiler, s *step, n *node)
	set   func(c *compiler, s *step, key string, n *node)
	check func(c *compiler, s *step, n *node)
}

func (v *verb) takes(key string) bool { return slices.Contains(v.keys, key) }

// The bounds on sizes.
const (
	// maxMessage is the longest message: lengths on the wire have 32 bits.
	maxMessage = 1<<32 - 1
	maxLoad    = 1 << 40
)

// verbs are all that can be done.
func verbs() map[string]*verb { //nolint:funlen // a table
	return map[string]*verb{
		"connect": bare(synth.Connect),
		"open":    bare(synth.Open),
		"start":   bare(synth.Start),
		"end":     bare(synth.End),
		"close":   bare(synth.Close),
		"reset":   bare(synth.Reset),
		"wait": {read: func(c *compiler, s *step, n *node) {
			s.Verb = synth.Wait
			c.duration(&s.For, false)(n)
			c.waits(s)
		}},
		"stream": {message: true, read: func(c *compiler, s *step, n *node) {
			c.only(n, false, "stream")
			s.Verb = synth.Stream
			c.content(n, &s.Size, &s.Data)
		}},

		"send": {
			message: true, keys: []string{"solicited", "invalidate"}, set: setMessage,
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpSend)
				if s.Work.Size = usualSend; n.Kind != null {
					c.content(n, &s.Work.Size, &s.Work.Data)
				}
			},
		},
		"write": {
			message: true, keys: []string{"to"}, set: setMemory,
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpWrite)
				c.content(n, &s.Work.Size, &s.Work.Data)
			},
		},
		"read": {
			message: true, answered: true, keys: []string{"from_memory", "into"}, set: setMemory,
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpRead)
				size(c, &s.Work.Size, 0, maxMessage)(n)
			},
		},
		"immediate": {
			message: true, keys: []string{"solicited"}, set: setMessage,
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpImmediate)
				c.immediate(&s.Work.Immediate, n)
			},
		},
		"fetch_add": {
			message: true, answered: true, keys: []string{"mask", "at", "id"}, set: setAtomic,
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpFetchAdd)
				s.Work.CompareMask = allOnes
				if s.Work.Operand = 1; n.Kind != null {
					number(c, &s.Work.Operand, 0, allOnes)(n)
				}
			},
		},
		"cmp_swap": {
			message: true, answered: true, keys: []string{"at", "id"}, set: setAtomic,
			read: func(c *compiler, s *step, n *node) { post(s, rnic.OpCmpSwap); c.cmpSwap(&s.Work, n) },
		},
		"terminate": {
			message: true, keys: []string{"quote"},
			set: func(c *compiler, s *step, _ string, n *node) {
				word(c, &s.Work.QuoteLast, "segment", map[string]bool{"last": true})(n)
			},
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpTerminate)
				if n.Kind != null {
					c.termCode(&s.Work, n)
				}
			},
		},
		"segment": {message: true, read: func(c *compiler, s *step, n *node) {
			post(s, rnic.OpSegment)
			c.octets(&s.Work.Data)(n)
		}},
		"raw": {message: true, read: func(c *compiler, s *step, n *node) {
			post(s, rnic.OpRaw)
			c.octets(&s.Work.Data)(n)
		}},
		"control": {
			message: true, keys: []string{"private"},
			set:  func(c *compiler, s *step, _ string, n *node) { c.octets(&s.Work.Data)(n) },
			read: func(c *compiler, s *step, n *node) { c.only(n, true, "control"); c.control(s, n) },
		},
		"response": {
			message: true, keys: []string{"atomic", "to"},
			set: func(c *compiler, s *step, key string, n *node) {
				if key == "atomic" {
					c.Boolean(&s.Work.Atomic)(n)
					return
				}
				setMemory(c, s, key, n)
			},
			check: checkResponse,
			read: func(c *compiler, s *step, n *node) {
				post(s, rnic.OpResponse)
				if n.Kind != null {
					c.content(n, &s.Work.Size, &s.Work.Data)
				}
			},
		},

		"region": {once: true, read: func(c *compiler, s *step, n *node) { c.region(s, n) }},
		"packet": {read: func(c *compiler, s *step, n *node) {
			s.Verb = synth.Packet
			if n.Get("chunks") == nil { // over SCTP the packets are those of this program
				c.modelled(s.pos, "packet", ofKernel)
			}
			c.craft(&s.Craft, n)
		}},

		"expect": {
			once: true, keys: []string{"bind"},
			set:  func(c *compiler, s *step, _ string, n *node) { c.bind(s, n) },
			read: func(c *compiler, s *step, n *node) { c.expect(s, n) },
		},

		"together": {read: func(c *compiler, s *step, n *node) {
			s.Verb = synth.Together
			s.Steps = c.steps(n, s.scope)
		}},
		"repeat": {read: func(c *compiler, s *step, n *node) {
			s.Verb = synth.Repeat
			s.Steps = c.steps(n, s.scope)
		}},
		"parallel": {read: func(c *compiler, s *step, n *node) { c.parallel(s, n) }},
		"load": {
			keys: []string{"size"}, needs: []string{"size"},
			set: func(c *compiler, s *step, _ string, n *node) { size(c, &s.Size, 1, maxLoad)(n) },
			read: func(c *compiler, s *step, n *node) {
				s.Verb = synth.Load
				s.Steps = c.steps(n, s.scope)
			},
		},
	}
}

const (
	// usualSend is the size of a Send without one, in octets.
	usualSend = 64
	allOnes   = 1<<64 - 1
)

// bare is a verb without a value, that is done once.
func bare(v synth.Verb) *verb {
	return &verb{once: true, read: func(c *compiler, s *step, n *node) {
		if s.Verb = v; n.Kind != null {
			c.Fail(n.Pos, "%s has no value", s.verb)
		}
	}}
}

func post(s *step, op rnic.Op) { s.Verb, s.Work.Op = synth.Post, op }

// parallel reads branches: of connections by their names, or just lists.
func (c *compiler) parallel(s *step, n *node) {
	s.Verb = synth.Parallel
	switch n.Kind {
	case sequence:
		for _, i := range n.Items {
			s.Branches = append(s.Branches, c.steps(i, s.scope))
		}
	case mapping:
		for _, e := range n.Entries {
			in := s.scope
			if on := c.on(e.Key); len(on) == 1 {
				in.on = on[0].Name
			}
			s.Branches = append(s.Branches, c.steps(e.Value, in))
		}
	default:
		c.Fail(n.Pos, "expected steps by the name of their connection, or lists of steps")
	}
}

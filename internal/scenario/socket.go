package scenario

import (
	"fmt"
	"slices"
)

// modelled notes something that only the modelled link, hosts and capture point have: a
// socket hides it.
func (c *compiler) modelled(p pos, what, why string) {
	c.unfit = append(c.unfit, unfit{p, what, why})
}

// unfit is what cannot be done on a socket.
type unfit struct {
	pos
	what, why string
}

// The reasons.
const (
	ofKernel  = "the kernel makes the packets"
	ofLink    = "the link is a real one"
	ofCapture = "the capture is that of the octets on the socket"
	ofNetwork = "what happens to packets is left to the network"
	ofAddress = "a socket has one address"
)

// hidden notes a key of a mapping, if it is there, that a socket has no use for.
func (c *compiler) hidden(n *node, key, why string) {
	for _, e := range n.Entries {
		if e.Key.Text == key {
			c.modelled(e.Key.Pos, key, why)
		}
	}
}

// onlyKeys notes the keys of a mapping that a socket hides: all but some.
func (c *compiler) onlyKeys(n *node, why string, but ...string) {
	for _, e := range n.Entries {
		if !slices.Contains(but, e.Key.Text) {
			c.modelled(e.Key.Pos, e.Key.Text, why)
		}
	}
}

// OnSocket tells whether the scenario can be played by an end on a socket, with its faults or
// without. The error joins an [*Error] for each thing that cannot.
func (s *Scenario) OnSocket(clean bool) error {
	c := newCompiler(newReport(s.Name), clean)
	c.scenario(s.again())
	if len(c.unfit) == 0 {
		return nil
	}
	r := newReport(s.File)
	r.Lines(s.Source)
	for _, u := range c.unfit {
		r.Fail(u.pos, "%s", fmt.Sprintf("%s cannot be done on a socket: %s", u.what, u.why))
	}
	return r.Err()
}

package model

// Traits are what a connection has, for rules that speak of nothing else at its end.
type Traits uint8

// The traits; AllTraits is the number of them.
const (
	Worded     Traits = 1 << iota // a startup frame has the establishment word
	Old                           // a startup frame has revision 0
	Terminated                    // a side sent a Terminate
	Asked                         // a side sent a request, or invalidated an STag
	// AllTraits is how many there are.
	AllTraits = iota
)

// Traits are those of the connection so far.
func (c *Conn) Traits() (t Traits) {
	for _, f := range [...]*Frame{c.Request, c.Reply} {
		if f != nil {
			t |= Traits(Bit(f.HasWord))*Worded | Traits(Bit(f.Rev == 0))*Old //nolint:gosec // 0 or 1
		}
	}
	for i := range c.Directions {
		h := &c.Directions[i]
		t |= Traits(Bit(h.FirstTerminate != nil))*Terminated | Traits(Bit(h.own&ownAsking != 0))*Asked //nolint:gosec // 0 or 1
	}
	return t
}

package scenario

import (
	"math"
	"slices"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// maxConnections is how many connections a scenario may have.
const maxConnections = 10_000

// connection is one on its way.
type connection struct {
	pos
	synth.Connection
	// both are its sides before anything is filled in.
	both [2]settings
	// sctp: it is on a stream of an association, which hasStream gives.
	sctp, hasStream bool
	// ownPort: the scenario gives this connection an address for its client.
	ownPort bool
	// byHand: some of its session control is made by hand, so that it may be in any state.
	byHand bool
}

var sides = map[string]synth.Side{"client": synth.Client, "server": synth.Server}

// connections reads the list of names, their number, or names with settings.
func (c *compiler) connections(n *node) {
	before := c.Failed()
	switch {
	case n == nil:
		c.connect("c1", pos{Line: 1, Column: 1}, nil)
	case n.Kind == scalar:
		count := 0
		number(c, &count, 1, maxConnections)(n)
		for i := range count {
			c.connect("c"+strconv.Itoa(i+1), n.Pos, nil)
		}
	case n.Kind == sequence:
		for _, i := range n.Items {
			name := ""
			if c.name(&name)(i); name != "" {
				c.connect(name, i.Pos, nil)
			}
		}
	case n.Kind == mapping:
		for _, e := range n.Entries {
			name := ""
			if c.name(&name)(e.Key); name != "" {
				c.connect(name, e.Key.Pos, e.Value)
			}
		}
	default:
		c.Fail(n.Pos, "expected names of connections, or their number")
	}
	switch {
	case len(c.conns) > maxConnections:
		c.Fail(n.Pos, "more than %d connections", maxConnections)
	case len(c.conns) == 0 && n != nil && c.Failed() == before:
		c.Fail(n.Pos, "no connection")
	}
}

// connect adds a connection with the settings of its own, if any.
func (c *compiler) connect(name string, at pos, own *node) {
	if _, twice := c.connNumber[name]; twice {
		c.Fail(at, "a second connection %q", name)
		return
	}
	conn := &connection{pos: at, both: c.hosts}
	conn.Name, conn.Initiator, conn.sctp, conn.Place = name, c.initiator, c.sctpEverywhere, synth.Place(at)
	if own != nil && own.Kind != null {
		before := conn.both[synth.Client].host.Addr
		var side [2]*node
		c.Mapping(own, keys{
			"client": keep(&side[synth.Client]), "server": keep(&side[synth.Server]),
			"initiator":   word(c, &conn.Initiator, "side", sides),
			"transport":   word(c, &conn.sctp, "transport", transports),
			"association": c.name(&conn.Association),
			"stream":      given(&conn.hasStream, number(c, &conn.SID, 0, math.MaxUint16)),
		})
		until := c.within(conn)
		for i, n := range side {
			if n != nil {
				c.settings(n, &conn.both[i])
			}
		}
		until()
		c.ofAssociation(conn, own)
		c.ofFirst(conn, side)
		conn.ownPort = conn.both[synth.Client].host.Addr != before
	}
	c.carried(conn, c.streams)
	c.connNumber[name] = len(c.conns)
	c.conns = append(c.conns, conn)
}

// ofAssociation refuses what only a connection over SCTP has.
func (c *compiler) ofAssociation(conn *connection, own *node) {
	if conn.sctp {
		return
	}
	for _, e := range own.Entries {
		if e.Key.Text == "association" || e.Key.Text == "stream" {
			c.Fail(e.Key.Pos, "%s has no meaning here: connection %s is over TCP", e.Key.Text, conn.Name)
		}
	}
}

// ofFirst refuses settings of an association of a connection that is not the first on it.
func (c *compiler) ofFirst(conn *connection, side [2]*node) {
	i := slices.IndexFunc(c.conns, func(other *connection) bool { return other.sctp && other.Association == conn.association() })
	if !conn.sctp || i < 0 {
		return
	}
	for _, n := range side {
		if n == nil {
			continue
		}
		for _, e := range n.Entries {
			if slices.Contains([]string{"address", "mac", "vlan", "ttl", "sctp"}, e.Key.Text) {
				c.Fail(e.Key.Pos, "%s has no effect here: connection %s is on the association of %s, whose settings count", e.Key.Text, conn.Name, c.conns[i].Name)
			}
		}
	}
}

// on are the connections that a fault is about: one, or all.
func (c *compiler) on(n *node) []*connection {
	if n == nil {
		return c.conns
	}
	if !c.Is(n, scalar) {
		return nil
	}
	i, ok := c.connNumber[n.Text]
	if !ok {
		c.Unknown(n.Pos, "connection", n.Text, names(c.connNumber))
		return nil
	}
	return c.conns[i : i+1]
}

// single is something that has a meaning over one transport alone.
type single struct {
	pos
	sctp bool
	what string
	// of is the connection that it is of; nil: any.
	of *connection
}

// only notes that something has a meaning over one transport alone.
func (c *compiler) only(n *node, sctp bool, what string) {
	c.singles = append(c.singles, single{n.Pos, sctp, what, c.of})
}

// within has what is read from now on be of one connection, until the function is called.
func (c *compiler) within(conn *connection) (until func()) {
	outer := c.of
	c.of = conn
	return func() { c.of = outer }
}

// stepOn is the connection of a step.
func (c *compiler) stepOn(s *step) *connection {
	if len(c.conns) == 0 {
		return nil
	}
	return c.conns[c.connNumber[s.on]] // "" is the first
}

// onlyOver notes the keys of a mapping that have a meaning over one transport alone.
func (c *compiler) onlyOver(n *node, sctp bool, which ...string) {
	for _, e := range n.Entries {
		if slices.Contains(which, e.Key.Text) {
			c.only(e.Key, sctp, e.Key.Text)
		}
	}
}

// used checks that there is a connection for what has a meaning over one transport
// alone.
func (c *compiler) used() {
	over, called := c.transports(), [2]string{"TCP", "SCTP"}
	for _, s := range c.singles {
		switch {
		case !over[index(s.sctp)]:
			c.Fail(s.pos, "%q has no meaning here: no connection is over %s", s.what, called[index(s.sctp)])
			return
		case s.of != nil && s.of.sctp != s.sctp:
			c.Fail(s.pos, "%q has no meaning here: connection %s is over %s", s.what, s.of.Name, called[index(s.of.sctp)])
			return
		}
	}
}

// transports are those of the connections: TCP, SCTP.
func (c *compiler) transports() (over [2]bool) {
	for _, conn := range c.conns {
		over[index(conn.sctp)] = true
	}
	return over
}

// singleWords are the steps and places that have a meaning over one transport alone: over SCTP, if true.
var singleWords = map[string]bool{"stream": false, "rtr": false, "control": true, "end": true}

// possible leaves out the words that have no meaning over the transports of the connections.
func (c *compiler) possible(words []string) []string {
	over := c.transports()
	return slices.DeleteFunc(words, func(word string) bool {
		sctp, one := singleWords[word]
		return one && !over[index(sctp)]
	})
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// refusing checks that a side that refuses the startup is one that is asked.
func (c *compiler) refusing() {
	asked := map[pos]bool{}
	for _, conn := range c.conns {
		for side := range conn.both {
			s := &conn.both[side]
			if own := s.host.RNIC.Session; s.host.RNIC.Startup.Reject || own != nil && own.Refuse {
				asked[s.rejectAt] = asked[s.rejectAt] || side != conn.Initiator
			}
		}
	}
	for at, is := range asked {
		if !is {
			c.Fail(at, "it has no effect here: this side begins the startup, and the other one answers")
		}
	}
}

// addressed is where the scenario gives the connection an address of its own, or where it is named.
func (conn *connection) addressed() pos {
	for _, side := range [...]synth.Side{synth.Client, synth.Server} {
		if s := &conn.both[side]; s.addr {
			return s.addrAt
		}
	}
	return conn.pos
}

// finished returns the connections with everything filled in.
func (c *compiler) finished() []synth.Connection {
	out := make([]synth.Connection, 0, len(c.conns))
	c.onAssociations()
	c.used()
	port, first := 0, map[string]int{}
	for i, conn := range c.conns {
		ports, number := port, i // each has a client port of its own
		if conn.sctp {
			// All of an association have that of the first.
			if at, there := first[conn.Association]; there {
				number = at
				ports = number
			} else {
				first[conn.Association] = port
				ports, number = port, port
				port++
			}
		} else {
			port++
		}
		if conn.ownPort {
			ports = 0
		}
		conn.Hosts = c.finish(conn, number, ports)
		if a := conn.Hosts[synth.Client].Addr; a == conn.Hosts[synth.Server].Addr {
			c.Fail(conn.addressed(), "client and server of connection %s have the same address and port, %s: give one of them another", conn.Name, a)
		}
		out = append(out, conn.Connection)
	}
	return slices.Clip(out)
}

package scenario

import (
	"reflect"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

var ignores = map[string]rnic.Ignore{
	"phase": rnic.IgnorePhase, "depth": rnic.IgnoreDepth, "errors": rnic.IgnoreErrors, "terminate": rnic.IgnoreTerminate,
	"reject": rnic.IgnoreReject, "requests": rnic.IgnoreRequests, "close": rnic.IgnoreClose, "rtr": rnic.IgnoreRTR,
	"startup": rnic.IgnoreStartup, "order": rnic.IgnoreOrder, "end": rnic.IgnoreEnd,
}

// faultBy reads what a side does not care about, and other settings of it.
func (c *compiler) faultBy(n *node) {
	if at := n.Get("at"); at != nil {
		c.Fail(at.Pos, "at is of a fault of a PDU, by of a habit of a side: leave one of them out")
		return
	}
	before := c.Failed()
	var who []synth.Side
	var on, ignored, set *node
	c.Mapping(n, keys{
		"by": word(c, &who, "side", bothSides), "on": keep(&on), "ignores": keep(&ignored), "settings": keep(&set),
	})
	var what rnic.Ignore
	c.some(ignored, bits(c, &what, "thing to ignore", ignores))
	c.some(ignored, func(n *node) {
		c.List(n, func(n *node) {
			switch n.Text {
			case "rtr":
				c.only(n, false, n.Text)
			case "end":
				c.only(n, true, n.Text)
			}
		})
	})
	if c.Failed() == before && (ignored == nil || len(ignored.Items) == 0 && ignored.Kind == sequence) && (set == nil || len(set.Entries) == 0) {
		c.Fail(n.Pos, "a fault that does nothing")
	}
	changes := false
	for _, conn := range c.on(on) {
		for _, side := range who {
			s := conn.both[side]
			s.host.RNIC.Ignore |= what
			c.script.Habits = true
			c.some(set, func(n *node) { c.settings(n, &s) })
			changes = changes || !s.same(conn.both[side])
			if !c.clean {
				conn.both[side] = s
			}
		}
	}
	if !changes && c.Failed() == before && !c.clean {
		c.Fail(n.Pos, "a fault that changes nothing: its side has these habits and settings without it")
	}
}

// same reports whether a host is the same by both settings.
func (s settings) same(other settings) bool {
	s.startup()
	other.startup()
	return s.receive == other.receive && reflect.DeepEqual(s.host, other.host)
}

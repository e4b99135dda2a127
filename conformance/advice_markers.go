package conformance

import (
	"fmt"
	"slices"
)

// markerAdvice is about what stacks without markers do when they are asked for.
var markerAdvice = []check{
	{id: "ADV-NO-MARKERS", needs: Bidir, transport: onTCP, advice: func(c *conn) {
		if f := c.markersAsked(); f != nil && c.applies() && !c.blemished() {
			if failure := c.markersRefused(); failure != "" {
				c.adviseOn(f, "M=1", failure)
			}
		}
	}},
	{id: "ADV-MARKERS-ENHANCED", needs: Full, transport: onTCP, advice: func(c *conn) {
		f := c.request
		if f == nil || f.Rev != 2 || !f.S || !c.applies() || !f.M || c.found("ADV-NO-MARKERS") != nil {
			return
		}
		c.adviseOn(f, "M=1 with S=1", "")
	}},
}

// blemished reports whether something else was wrong on the connection, which may as
// well be why it failed.
func (c *conn) blemished() bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool { return !f.Rule.Advice && f.Severity > Note })
}

// markersAsked is the startup frame that asks for markers and has no other fault.
// The RDMA Consortium knows no other way.
func (c *conn) markersAsked() *frame {
	for _, f := range []*frame{c.request, c.reply} {
		if f != nil && f.M && f.Rev > 0 && !c.onFrame(f) {
			return f
		}
	}
	return nil
}

// markersRefused tells how the other side met the wish for markers.
func (c *conn) markersRefused() string {
	asks := func(f *frame) bool { return f != nil && f.M && f.Rev > 0 && !c.onFrame(f) }
	switch rejects := c.reply != nil && c.reply.R && (c.reply.asked == nil || c.reply.asked == c.request); {
	case asks(c.request) && rejects && !c.reply.M:
		return fmt.Sprintf("the responder answers with R=1 and M=0 in frame %d", c.reply.number)
	case asks(c.request) && c.dropped() != "":
		return c.dropped()
	case asks(c.reply) && !c.reply.R:
		return c.givenUp()
	}
	return ""
}

package scenario

import (
	"math"
	"strings"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// startupPlaces are what an end sends without a step, and whether it is
// answered.
var startupPlaces = map[string]bool{"request": false, "reply": false, "rtr": true, "terminate": false, "end": false}

// place reads the place of a PDU: NAME[#NUMBER][.response][/SEGMENT].
func (c *compiler) place(p *pdu.Selector, n *node) bool {
	if !c.Is(n, scalar) {
		return false
	}
	rest, segment, hasSegment := strings.Cut(n.Text, "/")
	rest, answer := strings.CutSuffix(rest, pdu.Response)
	name, number, hasNumber := strings.Cut(rest, "#")
	ok := true
	if hasSegment && segment == "last" {
		p.Segment = -1
	} else if hasSegment {
		ok = ordinal(segment, &p.Segment)
	}
	if hasNumber {
		ok = ordinal(number, &p.Number) && ok
	}
	if !ok || name == "" {
		c.Fail(n.Pos, "expected a place NAME[#NUMBER][.response][/SEGMENT] such as read1#2.response/last, not %q", n.Text)
		return false
	}
	answered, known := startupPlaces[name]
	switch name {
	case "rtr":
		c.only(n, false, name)
	case "end":
		c.only(n, true, name)
	}
	if m, is := c.timeline.messages[name]; is {
		answered, known = m.answered, true
	}
	switch {
	case !known:
		c.Unknown(n.Pos, "step", name, append(names(c.timeline.messages), c.possible(names(startupPlaces))...))
		return false
	case answer && !answered:
		c.Fail(n.Pos, "nothing answers %s", name)
		return false
	}
	if p.Message = name; answer {
		p.Message += pdu.Response
	}
	return true
}

// ordinal reads a number from 1.
func ordinal(text string, p *int) bool {
	v, ok := unsigned(text)
	if !ok || v == 0 || v > math.MaxInt32 {
		return false
	}
	*p = int(v)
	return true
}

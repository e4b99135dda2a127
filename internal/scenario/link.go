package scenario

import (
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
)

// The defaults of a link.
const (
	defaultMTU   = 1500
	defaultDelay = 50_000
	// lateBy is how much later reordered packets come.
	lateBy = 100_000
)

// usualLink is the link where a scenario says nothing.
func usualLink() link.Config {
	line := link.Line{Delay: defaultDelay, ReorderBy: lateBy}
	return link.Config{Before: [2]link.Line{line, line}, After: [2]link.Line{line, line}}
}

// link reads the link: what holds for all its lines, then for those before and
// behind the capture point, then for those of one sender.
func (c *compiler) link(n *node) {
	l := &c.script.Link
	c.onlyKeys(n, ofLink, "mtu")
	all := usualLink().Before[0]
	var before, after *node
	var from [2]*node
	c.Mapping(n, keys{
		"mtu":         number(c, &c.mtu, 128, math.MaxUint16),
		"fragment":    c.orZero(&l.Fragment, 68, math.MaxUint16),
		"delay":       c.duration(&all.Delay, false),
		"jitter":      c.duration(&all.Jitter, false),
		"rate":        c.rate(&all.Rate),
		"tunnel":      func(n *node) { c.tunnels(n, &l.Tunnels) },
		"before":      keep(&before),
		"after":       keep(&after),
		"from_client": keep(&from[synth.Client]),
		"from_server": keep(&from[synth.Server]),
	})
	l.Before, l.After = [2]link.Line{all, all}, [2]link.Line{all, all}
	c.line(before, &l.Before[0], &l.Before[1])
	c.line(after, &l.After[0], &l.After[1])
	for side, n := range from {
		if n != nil {
			c.Mapping(n, keys{
				"before": func(n *node) { c.line(n, &l.Before[side]) },
				"after":  func(n *node) { c.line(n, &l.After[side]) },
			})
		}
	}
	c.reorders()
}

// lateness is a reorder_by: its place, and the lines that it is for.
type lateness struct {
	pos
	lines []*link.Line
}

// reorders checks that packets are reordered where it is said by how much.
func (c *compiler) reorders() {
	for _, late := range c.late {
		if !slices.ContainsFunc(late.lines, func(l *link.Line) bool { return l.Reorder > 0 }) {
			c.Fail(late.pos, "reorder_by has no effect: no packet is reordered; reorder: 1%% says how many are")
		}
	}
}

// line reads one line and sets it for all of lines.
func (c *compiler) line(n *node, lines ...*link.Line) {
	if n == nil {
		return
	}
	v := *lines[0]
	c.Mapping(n, keys{
		"delay":     c.duration(&v.Delay, false),
		"jitter":    c.duration(&v.Jitter, false),
		"rate":      c.rate(&v.Rate),
		"loss":      c.share(&v.Loss),
		"duplicate": c.share(&v.Duplicate),
		"reorder":   c.share(&v.Reorder),
		"reorder_by": func(n *node) {
			c.late = append(c.late, lateness{n.Pos, lines})
			c.duration(&v.ReorderBy, false)(n)
		},
		"down": func(n *node) {
			v.Down = nil
			c.List(n, func(n *node) {
				if s, ok := c.span(n); ok {
					v.Down = append(v.Down, s)
				}
			})
		},
	})
	for _, l := range lines {
		*l = v
	}
}

// span reads a stretch of time.
func (c *compiler) span(n *node) (s link.Span, ok bool) {
	if ok = c.Mapping(n, keys{"at": c.duration(&s.At, false), "for": c.duration(&s.For, false)}); ok {
		c.script.Awaited = append(c.script.Awaited, synth.Awaited{Place: synth.Place(n.Pos), What: "this time", At: s.At})
	}
	return s, ok
}

package cli

import (
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/render"
)

// fewUsage refuses what --min-connections cannot count.
func (o *checkOptions) fewUsage() error {
	switch {
	case o.least < 0:
		return usagef("--min-connections takes a number of connections, not %d", o.least)
	case o.least > 0 && o.sharded():
		return usagef("--min-connections goes without --shard, which has each process judge only some of the connections")
	}
	return nil
}

// tooFew notes that a capture has fewer connections than --min-connections asks for. Of one that
// could not be read to its end, that stands there anyway. judged is how many there are.
func (o *checkOptions) tooFew(c *render.Checked, judged uint64) error {
	if judged >= uint64(o.least) || c.Failure != "" { //nolint:gosec // not negative
		return nil
	}
	there := c.Totals.IWARP - c.Totals.LoneDamaged
	var has, try string
	switch {
	case c.Totals.Frames == 0 && c.Live:
		has, try = "no frames", "see whether this is the interface that carries the traffic, and whether the capture filter lets it through"
	case c.Totals.Frames == 0:
		has, try = "no frames", "capture all TCP traffic, starting before the application connects"
	case o.any():
		has = fmt.Sprintf("%s, of which %s selected", diagnose.Counted(there, "iWARP connection", "iWARP connections"), areSelected(judged))
		try = "select more, or another capture"
	case there == 0:
		has = "no iWARP connection in " + countFrames(&c.Totals)
		try = "capture all TCP traffic, starting before the application connects; 'iwdissect analyze' says what the capture holds"
	default:
		has = diagnose.Counted(there, "iWARP connection", "iWARP connections") + " in " + countFrames(&c.Totals)
		try = "capture for longer; 'iwdissect analyze' says what the capture holds"
	}
	if n := c.Totals.LoneDamaged; n > 0 {
		has += fmt.Sprintf(" (and %s by themselves, which do not count)", diagnose.Counted(n, "damaged packet", "damaged packets"))
	}
	c.TooFew = fmt.Sprintf("%s; --min-connections asks for %d: %s", has, o.least, try)
	name := c.File
	if c.Point != "" {
		name = "point " + c.Point
	}
	return errors.New(name + ": " + c.TooFew)
}

// countable is how many connections there are that are more than a damaged packet.
func countable(all *ended.List) (n uint64) {
	for c := range all.Each() {
		if _, ok := c.LoneDamaged(); !ok {
			n++
		}
	}
	return n
}

// areSelected counts what is selected.
func areSelected(n uint64) string {
	switch n {
	case 0:
		return "none is"
	case 1:
		return "1 is"
	}
	return diagnose.Number(n) + " are"
}

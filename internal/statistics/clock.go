package statistics

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// clock knows when a capture began and ended: the times of its first frame and of the
// latest one. All taps of a run share it.
type clock struct {
	begun       bool
	first, last int64
	untimed     uint64 // frames without a time that is known
}

// saw takes note of the time of a frame, 0 for none.
func (c *clock) saw(ns int64) {
	if !isTime(ns) {
		c.untimed++
		return
	}
	if !c.begun {
		c.begun, c.first, c.last = true, ns, ns
	}
	c.last = max(c.last, ns)
}

// at is the time of a frame since the first one, in nanoseconds. It is false for frames
// without a time.
func (c *clock) at(f *pipeline.Frame) (int64, bool) {
	return c.since(f.Moment())
}

// since is the time since the first frame, false for none.
func (c *clock) since(ns int64) (int64, bool) { return trace.Between(c.first, ns) }

// isTime reports whether a time is known: there is one, and it is not one that stands for any out of range.
func isTime(ns int64) bool {
	_, known := trace.Between(ns, ns)
	return known
}

// timeless reports whether there are frames, and none of them has a time.
func (c *clock) timeless() bool { return !c.begun && c.untimed > 0 }

// known is how long something took, nothing if no frame has a time.
func (c *clock) known(ns int64) any {
	if c.timeless() {
		return nil
	}
	return ns
}

// lacks says of a report over time what has no place in it.
func (c *clock) lacks(r *Report) {
	switch {
	case c.timeless():
		r.note("no frame has a time: there are no intervals, and nothing is known of durations and rates")
	case c.untimed == 1:
		r.note("1 frame of the capture has no time: it is in no interval")
	case c.untimed > 0:
		r.note(fmt.Sprintf("%d frames of the capture have no time: they are in no interval", c.untimed))
	}
}

// duration is the time from the first frame to the latest one.
func (c *clock) duration() int64 { return trace.Elapsed(c.first, c.last) }

// seconds is a duration as tshark computes with it.
func seconds(ns int64) float64 { return float64(ns/1e9) + float64(ns%1e9)/1e9 }

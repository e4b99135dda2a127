package statistics

import "github.com/iwdissect/iwdissect/internal/pipeline"

// clock knows when a capture began and ended: the times of its first frame and of the
// latest one. All taps of a run share it.
type clock struct {
	begun       bool
	first, last int64
}

// saw takes note of the time of a frame, 0 for none.
func (c *clock) saw(ns int64) {
	if ns == 0 {
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
	return f.Time - c.first, !f.NoTime && f.Time != 0
}

// duration is the time from the first frame to the latest one.
func (c *clock) duration() int64 { return c.last - c.first }

// seconds is a duration as tshark computes with it.
func seconds(ns int64) float64 { return float64(ns/1e9) + float64(ns%1e9)/1e9 }

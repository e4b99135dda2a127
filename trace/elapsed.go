package trace

import "math"

// Epoch stands for the time 0 where 0 stands for none: it is a nanosecond later. Captures may count their time from their first frame.
const Epoch = 1

// Elapsed is the time from one moment to another one, in nanoseconds. Both are known.
func Elapsed(from, to int64) int64 { return exact(to) - exact(from) }

// Between is the time from one moment to another one, in nanoseconds, if it is known: both have a time, and neither is the end of the
// range from 1677 to 2262, which stands for any time outside of it.
func Between(from, to int64) (ns int64, known bool) {
	if from == 0 || to == 0 || outOfRange(from) || outOfRange(to) {
		return 0, false
	}
	return Elapsed(from, to), true
}

func outOfRange(ns int64) bool { return ns == math.MaxInt64 || ns == math.MinInt64 }

// exact is a time with the time 0 for [Epoch].
func exact(ns int64) int64 {
	if ns == Epoch {
		return 0
	}
	return ns
}

package trace

// Epoch stands for the time 0 where 0 stands for none: it is a nanosecond later. Captures may count their time from their first frame.
const Epoch = 1

// Elapsed is the time from one moment to another one, in nanoseconds. Both are known.
func Elapsed(from, to int64) int64 { return exact(to) - exact(from) }

// exact is a time with the time 0 for [Epoch].
func exact(ns int64) int64 {
	if ns == Epoch {
		return 0
	}
	return ns
}

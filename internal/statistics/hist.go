package statistics

import "github.com/iwdissect/iwdissect/trace"

// histogram counts values by size, each doubling in 32 bins: quantiles are too large by a
// 32nd at most, and memory does not grow with the number of values. It is the one of
// package trace, which counts nanoseconds and knows no unit.
type histogram struct{ trace.Latency }

// buckets are the counts of a histogram by doubling of a unit, from the first to the last
// that has any.
type bucket struct{ from, to, count uint64 }

func (h *histogram) buckets() (all []bucket) {
	if h.Count == 0 {
		return nil
	}
	for d, bins := range h.Bins {
		if bins == nil {
			continue
		}
		for i, n := range bins {
			if n == 0 {
				continue
			}
			// The lowest value of the bin decides about its power of two.
			low := uint64(i)
			if d > 0 {
				low = uint64(len(bins)+i) << (d - 1)
			}
			from, to := uint64(0), uint64(1)
			for to <= low {
				from, to = to, to*2
			}
			if k := len(all); k > 0 && all[k-1].from == from && all[k-1].to == to {
				all[k-1].count += uint64(n)
			} else {
				all = append(all, bucket{from, to, uint64(n)})
			}
		}
	}
	return all
}

// mean is the mean, rounded down; 0 if there is nothing.
func (h *histogram) mean() uint64 {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / h.Count
}

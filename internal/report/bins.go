package report

import (
	"math/bits"

	"github.com/iwdissect/iwdissect/trace"
)

// bins counts numbers by the power of two that they reach: bin 0 has 0, bin n what has n bits.
type bins [65]uint64

func (b *bins) add(n uint64) { b[bits.Len64(n)]++ }

// list are the bins from the first that is not empty to the last.
func (b *bins) list() (all []Bin) {
	for i, n := range b {
		if n == 0 && len(all) == 0 {
			continue
		}
		x := Bin{To: 1, Count: n}
		if i > 0 {
			x = Bin{uint64(1) << (i - 1), 1 << min(i, 63), n}
		}
		all = append(all, x)
	}
	for len(all) > 0 && all[len(all)-1].Count == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// latencies are those of a connection, by what was asked for.
func latencies(c *trace.Connection) (all []Latency) {
	for _, l := range []struct {
		name string
		of   *trace.Latency
	}{{"RDMA Read", c.ReadLatency}, {"Atomic", c.AtomicLatency}} {
		if l.of != nil && l.of.Count > 0 {
			all = append(all, latency(l.name, l.of))
		}
	}
	if c.Upper == nil {
		return all
	}
	for i := range c.Upper.Operations {
		if o := &c.Upper.Operations[i]; o.Latency.Count > 0 && len(all) < mostLatencies {
			all = append(all, latency(c.Upper.Protocol+" "+o.Name, &o.Latency))
		}
	}
	return all
}

// mostLatencies bounds the histograms of a connection.
const mostLatencies = 10

// latency makes a histogram with four bins for each doubling.
func latency(name string, l *trace.Latency) Latency {
	x := Latency{
		Name: name, Count: l.Count, Least: l.Min, Mean: l.Sum / l.Count, Most: l.Max,
		Half: l.Quantile(.5), P90: l.Quantile(.9), P99: l.Quantile(.99),
	}
	const fine, parts = 32, 4 // of a doubling
	for d, bin := range l.Bins {
		for part := range parts {
			b := Bin{From: edge(d, part*fine/parts), To: edge(d, (part+1)*fine/parts)}
			if bin != nil {
				for _, n := range bin[part*fine/parts : (part+1)*fine/parts] {
					b.Count += uint64(n)
				}
			}
			if b.Count > 0 || len(x.Bins) > 0 {
				x.Bins = append(x.Bins, b)
			}
			if b.To > l.Max {
				return x
			}
		}
	}
	return x
}

// edge is the least value of a bin of [trace.Latency].
func edge(doubling, step int) uint64 {
	const fine = 32
	if doubling == 0 {
		return uint64(step) //nolint:gosec // at most 32
	}
	return uint64(fine+step) << (doubling - 1) //nolint:gosec // not negative
}

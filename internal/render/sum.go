package render

import (
	"github.com/iwdissect/iwdissect/trace"
)

// addFlow adds what one direction carried.
func addFlow(to, f *trace.Flow) {
	to.FPDUs += f.FPDUs
	to.Rarely().Chunks += f.Rare().Chunks
	to.Frames += f.Frames
	to.Octets += f.Octets
	to.Rarely().Retransmitted += f.Rare().Retransmitted
	if late := f.Delays().Late; late > 0 {
		to.Delayed().Late += late
	}
	to.Rarely().Gaps += f.Rare().Gaps
	to.Markers += f.Markers
	to.CRCGood += f.CRCGood
	to.CRCBad += f.CRCBad
	to.CRCOff += f.CRCOff
	to.Rarely().CRCUnverifiable += f.Rare().CRCUnverifiable
	to.Answered += f.Answered
	to.MostOutstanding = max(to.MostOutstanding, f.MostOutstanding)
	if k := f.Rare().Wrong; k != nil {
		sum := to.Faulty()
		sum.MarkersBad += k.MarkersBad
		for i, n := range k.Resyncs {
			sum.Resyncs[i] += n
		}
	}
	if n := len(f.Ops) - len(to.Ops); n > 0 {
		to.Ops = append(to.Ops, make([]trace.Ops, n)...)
	}
	for op := range f.Ops {
		addOps(&to.Ops[op], &f.Ops[op])
	}
}

func addOps(to, n *trace.Ops) {
	if n.Messages > 0 {
		if to.Messages == 0 || n.Least < to.Least {
			to.Least = n.Least
		}
		to.Most = max(to.Most, n.Most)
	}
	to.Messages += n.Messages
	to.Segments += n.Segments
	to.Octets += n.Octets
	to.Whole += n.Whole
}

// merged adds the durations of one histogram to another; either may be nil.
func merged(to, l *trace.Latency) *trace.Latency {
	if l == nil || l.Count == 0 {
		return to
	}
	if to == nil {
		to = new(trace.Latency)
	}
	if to.Count == 0 || l.Min < to.Min {
		to.Min = l.Min
	}
	to.Max = max(to.Max, l.Max)
	to.Count += l.Count
	to.Sum += l.Sum
	for d, bins := range l.Bins {
		if bins == nil {
			continue
		}
		if to.Bins[d] == nil {
			own := *bins
			to.Bins[d] = &own
			continue
		}
		for i, n := range bins {
			to.Bins[d][i] += n
		}
	}
	return to
}

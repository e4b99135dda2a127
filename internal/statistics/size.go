package statistics

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// makeSize reads "[filter]" of rdma,size.
func makeSize(s *spec, args string) error {
	s.taps = func(s *spec) []tap { return []tap{&sizes{filter: s.filter}} }
	return s.only(args)
}

// sizes gathers the sizes of complete messages by opcode and direction.
type sizes struct {
	filter string
	ops    [rdmap.Opcodes][2]*histogram
	// partial are messages whose first segments were not captured.
	partial uint64
}

func (z *sizes) event(e *event) {
	if e.is != aPDU || !e.hasOp || !e.done {
		return
	}
	if !e.whole {
		z.partial++
		return
	}
	h := &z.ops[e.op%rdmap.Opcodes][e.dir]
	if *h == nil {
		*h = new(histogram)
	}
	(*h).Add(e.message)
}

func (z *sizes) report() *Report {
	r := &Report{Name: "rdma,size", Filter: z.filter, Title: "RDMA Message Size Statistics"}
	all := Table{Key: "messages", Columns: []Column{
		{"operation", "Message", Plain},
		{"dir", "Dir", Plain},
		{"count", "Messages", Count},
		{"octets", "Octets", Octets},
		{"min", "Min", Octets},
		{"mean", "Mean", Octets},
		{"p50", "p50", Octets},
		{"p90", "p90", Octets},
		{"p99", "p99", Octets},
		{"max", "Max", Octets},
	}}
	hist := Table{Key: "histogram", Title: "Histogram of sizes in octets", Columns: []Column{
		{"operation", "Message", Plain}, {"dir", "Dir", Plain}, {"from", "From", Octets}, {"below", "Below", Octets}, {"count", "Messages", Bars},
	}}
	for op := range z.ops {
		for d, h := range z.ops[op] {
			if h == nil {
				continue
			}
			name, dir := rdmap.Opcode(op).String(), trace.Dir(d).String()
			all.add(name, dir, h.Count, h.Sum, h.Min, h.mean(), h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99), h.Max)
			for _, b := range h.buckets() {
				hist.add(name, dir, b.from, b.to, b.count)
			}
		}
	}
	r.Tables = []Table{all, hist}
	if z.partial > 0 {
		r.note(counted(z.partial, "message is", "messages are") + " not counted: the first segments were not captured")
	}
	return r
}

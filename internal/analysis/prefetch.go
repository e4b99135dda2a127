package analysis

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/prefetch"
	"github.com/iwdissect/iwdissect/trace"
)

// Prefetch fetches what a packet of a side will need, see [prefetch.State]. The connection itself was
// fetched before.
func (c *Conn) Prefetch(side, step int) {
	switch step {
	case 1:
		prefetch.Object(c.work)
		prefetch.First(c.Trace, unsafe.Offsetof(trace.Connection{}.Side))
		if o := c.queues[side].out; o != nil {
			prefetch.First(o, unsafe.Offsetof(o.few))
		}
	case 2:
		if d := c.dirs[side].dec; d != nil {
			prefetch.Object(d)
		}
		const some = 4 // opcodes, of which one is needed
		if ops := c.Trace.Flow[c.Dir(side)].Ops; len(ops) > 0 {
			prefetch.First(&ops[0], unsafe.Sizeof(ops[0])*some)
		}
		if o := c.queues[side].out; o != nil {
			prefetch.Tail(o.sent.newer)
			prefetch.First(unsafe.SliceData(o.more), unsafe.Sizeof(message{}))
		}
	}
}

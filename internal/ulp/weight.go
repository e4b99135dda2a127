package ulp

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// What operations take, in octets: their slots, and entries in tables.
const (
	entryWeight     = 32
	operationWeight = int(unsafe.Sizeof(Operation{})) + entryWeight + 4
	grantWeight     = int(unsafe.Sizeof(grant{})) + entryWeight + 4
	readWeight      = int(unsafe.Sizeof(read{}))
	earlyWeight     = int(unsafe.Sizeof(early{}))
	answerWeight    = int(unsafe.Sizeof(replied{}))
	numberWeight    = int(unsafe.Sizeof(uint64(0)))
	// namedWeight is what a connection takes whose protocol is recognised, roughly.
	namedWeight  = int(unsafe.Sizeof(named{})) + 512
	statusWeight = int(unsafe.Sizeof(trace.UpperStatus{}))
)

// Grown is how much more memory the connection takes than when this was asked last, in octets.
func (c *conn) Grown() (octets int) {
	n := 0
	if c.named != nil {
		n = namedWeight
		for i := range c.ops {
			q := &c.ops[i]
			a := &c.answers[i]
			n += cap(q.slots)*operationWeight + cap(q.grants)*grantWeight + cap(q.reads)*readWeight + cap(q.early)*earlyWeight
			n += cap(a.ops)*answerWeight + cap(a.early)*numberWeight + cap(c.layer.Failures[i].Statuses)*statusWeight
		}
	}
	octets, c.told = n-c.told, n
	return octets
}

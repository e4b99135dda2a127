package reassembly

// Budget is the memory for out-of-order data, shared by all connections of a
// run. The zero value is not usable, see [NewBudget].
type Budget struct {
	// Grace is the number of packets of a connection that may still fill a
	// hole after the peer acknowledged past it: a capture from several queues
	// can show the acknowledgement before the data. Where octets came behind their
	// acknowledgement, only packets of the direction of the hole count. Each time that something
	// comes that had been given up, it is doubled for that direction, up to six times. NewBudget
	// sets 64.
	Grace uint64

	// Exceeded says that all directions together held more than they may; it is never
	// taken back.
	Exceeded bool

	perDirection, total int
	used                int
	free                [len(classes)][][]byte
	idle                int
	blocks              []*block
	// passed is room that directions need while they wait for the end of a PDU, for spare
	// deliveries.
	passed []*[]delivery
	spare  int
	runs   runs // of all directions
}

// classes are the sizes in which buffers are handed out: small messages, an
// Ethernet frame, a jumbo frame, and what segmentation offload makes.
var classes = [...]int{64, 512, 2048, 9216, 65536 + 512}

// heldCost is what a held segment counts for besides its octets, so that
// segments without captured octets are not free.
const heldCost = 64

// The unused buffers that are kept, so that a burst of loss does not stay in
// memory for ever.
const (
	maxIdle   = 4 << 20 // octets
	maxBlocks = 512     // of about 4 KiB
)

// patience is how often the grace was doubled: each time that what had been given up came after all.
type patience uint8

// mostPatience makes 4,096 packets of the default grace.
const mostPatience = 6

func (p *patience) more() { *p = min(*p+1, mostPatience) }

func (p patience) of(grace uint64) uint64 { return grace << p }

// defaultGrace is more than a retransmission needs at the usual window sizes.
const defaultGrace = 64

// over reports whether all directions together hold more than they may.
func (b *Budget) over() bool {
	over := b.used > b.total
	b.Exceeded = b.Exceeded || over
	return over
}

// NewBudget returns a budget: how many octets may wait of one direction, and how many of
// all that share it.
func NewBudget(perDirection, total int) *Budget {
	return &Budget{Grace: defaultGrace, perDirection: perDirection, total: total}
}

// Used is the number of octets that out-of-order data take, with their
// buffers' unused ends and what it takes to keep them in order.
func (b *Budget) Used() int { return b.used }

// take returns a buffer with room for n octets.
func (b *Budget) take(n int) []byte {
	for i, size := range classes {
		if n > size {
			continue
		}
		b.used += size
		if l := len(b.free[i]); l > 0 {
			buf := b.free[i][l-1]
			b.free[i][l-1] = nil
			b.free[i] = b.free[i][:l-1]
			b.idle -= size
			return buf[:0]
		}
		return make([]byte, 0, size)
	}
	buf := make([]byte, 0, n)
	b.used += cap(buf)
	return buf
}

// give takes a buffer back.
func (b *Budget) give(buf []byte) {
	size := cap(buf)
	b.used -= size
	for i, s := range classes {
		if s == size && b.idle+size <= maxIdle {
			b.free[i] = append(b.free[i], buf)
			b.idle += size
			return
		}
	}
}

// maxPassedSpare bounds the room for deliveries that is kept for directions that need some: about
// 5 MB.
const maxPassedSpare = 1 << 17

// takePassed returns an empty list of deliveries.
func (b *Budget) takePassed() *[]delivery {
	n := len(b.passed)
	if n == 0 {
		return new([]delivery)
	}
	ps := b.passed[n-1]
	b.passed = b.passed[:n-1]
	b.spare -= cap(*ps)
	return ps
}

// givePassed takes an empty list back, unless there are enough.
func (b *Budget) givePassed(ps *[]delivery) bool {
	n := b.spare + cap(*ps)
	if n > maxPassedSpare {
		return false
	}
	b.passed, b.spare = append(b.passed, ps), n
	return true
}

// takeBlock returns an empty block for a queue.
func (b *Budget) takeBlock() *block {
	if l := len(b.blocks); l > 0 {
		k := b.blocks[l-1]
		b.blocks = b.blocks[:l-1]
		return k
	}
	return new(block)
}

// giveBlock takes an empty block back.
func (b *Budget) giveBlock(k *block) {
	if len(b.blocks) < maxBlocks {
		k.from, k.to = 0, 0
		b.blocks = append(b.blocks, k)
	}
}

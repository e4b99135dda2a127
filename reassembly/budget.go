package reassembly

// Budget is the memory for out-of-order data, shared by all connections of a
// run. The zero value is not usable, see [NewBudget].
type Budget struct {
	perHalf, total int
	used           int
	free           [len(classes)][][]byte
	idle           int
}

// classes are the sizes in which buffers are handed out: small messages, an
// Ethernet frame, a jumbo frame, and what segmentation offload makes.
var classes = [...]int{64, 512, 2048, 9216, 65536 + 512}

// NewBudget returns a budget in octets for one half-stream and for the run.
func NewBudget(perHalf, total int) *Budget {
	return &Budget{perHalf: perHalf, total: total}
}

// Used is the number of octets of out-of-order data that are held.
func (b *Budget) Used() int { return b.used }

// take returns a buffer with room for n octets.
func (b *Budget) take(n int) []byte {
	for i, size := range classes {
		if n > size {
			continue
		}
		if l := len(b.free[i]); l > 0 {
			buf := b.free[i][l-1]
			b.free[i] = b.free[i][:l-1]
			b.idle -= size
			b.used += size
			return buf[:0]
		}
		b.used += size
		return make([]byte, 0, size)
	}
	b.used += n
	return make([]byte, 0, n)
}

// give takes a buffer back. It keeps no more than a few megabytes of unused
// ones, so that a burst of loss does not stay in memory for ever.
func (b *Budget) give(buf []byte) {
	size := cap(buf)
	b.used -= size
	const maxIdle = 4 << 20
	for i, s := range classes {
		if s == size && b.idle+size <= maxIdle {
			b.free[i] = append(b.free[i], buf)
			b.idle += size
			return
		}
	}
}

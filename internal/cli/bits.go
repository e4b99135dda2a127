package cli

// bits is a set of numbers that mostly grow. It forgets the numbers that came first when
// there are so many that they would take too much memory.
type bits struct {
	chunks map[uint64]*chunk
	// order are the keys of the chunks, oldest first.
	order []uint64
	last  *chunk // of number at
	at    uint64
}

const (
	chunkBits = 1 << 16
	// mostChunks are 32 MiB: the last 268 million numbers, more if they have gaps.
	mostChunks = 4096
)

type chunk [chunkBits / 64]uint64

// add adds a number.
func (b *bits) add(n uint64) {
	k := n / chunkBits
	if b.last == nil || b.at != k {
		c := b.chunks[k]
		if c == nil {
			if b.chunks == nil {
				b.chunks = map[uint64]*chunk{}
			}
			if len(b.order) >= mostChunks {
				delete(b.chunks, b.order[0])
				b.order = b.order[1:]
			}
			c = new(chunk)
			b.chunks[k] = c
			b.order = append(b.order, k)
		}
		b.last, b.at = c, k
	}
	n %= chunkBits
	b.last[n/64] |= 1 << (n % 64)
}

// has reports whether a number was added.
func (b *bits) has(n uint64) bool {
	c := b.chunks[n/chunkBits]
	n %= chunkBits
	return c != nil && c[n/64]>>(n%64)&1 != 0
}

package reassembly

// held is a segment, or a part of one, that waits for the octets before it.
type held struct {
	off   int64
	n     int64 // octets on the wire
	data  []byte
	frame uint64
	time  int64
	ack   int64 // what its packet acknowledged
}

func (e *held) end() int64 { return e.off + e.n }

// blockLen is the number of held segments in a block: an insertion moves at
// most so many.
const blockLen = 64

// block is a run of held segments e[from:to], never empty inside a queue.
type block struct {
	from, to int
	e        [blockLen]held
}

// queue is the list of held segments of a direction, sorted by offset and
// without overlap. It is cut into blocks, because one sorted array costs the
// square of its length when an adversary sends one octet at a time backwards.
type queue struct {
	dir []*block
	n   int
}

// place is where a held segment stands in a queue.
type place struct{ b, i int }

// at returns the held segment at a place, or nil behind the last one.
func (q *queue) at(p place) *held {
	if p.b >= len(q.dir) {
		return nil
	}
	return &q.dir[p.b].e[p.i]
}

// after is the place behind p, which holds a segment.
func (q *queue) after(p place) place {
	if p.i++; p.i < q.dir[p.b].to {
		return p
	}
	return q.start(p.b + 1)
}

// start is the first place of a block.
func (q *queue) start(b int) place {
	if b < len(q.dir) {
		return place{b, q.dir[b].from}
	}
	return place{b, 0}
}

// first returns the held segment with the lowest offset; there must be one.
func (q *queue) first() *held {
	k := q.dir[0]
	return &k.e[k.from]
}

// last returns the held segment with the highest offset; there must be one.
func (q *queue) last() *held {
	k := q.dir[len(q.dir)-1]
	return &k.e[k.to-1]
}

// seek is the place of the first held segment that ends beyond off.
func (q *queue) seek(off int64) place {
	lo, hi := 0, len(q.dir)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if k := q.dir[m]; k.e[k.to-1].end() <= off {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == len(q.dir) {
		return place{lo, 0}
	}
	k := q.dir[lo]
	i, j := k.from, k.to
	for i < j {
		m := int(uint(i+j) >> 1)
		if k.e[m].end() <= off {
			i = m + 1
		} else {
			j = m
		}
	}
	return place{lo, i}
}

// insert puts a held segment in front of the one at p, and returns its place.
func (q *queue) insert(b *Budget, p place, e held) place {
	p = q.room(b, p)
	k := q.dir[p.b]
	if k.to < blockLen {
		copy(k.e[p.i+1:k.to+1], k.e[p.i:k.to])
		k.to++
	} else {
		copy(k.e[k.from-1:p.i-1], k.e[k.from:p.i])
		k.from--
		p.i--
	}
	k.e[p.i] = e
	q.n++
	return p
}

// room makes sure that there is a block with a free entry for place p, and
// returns where p is then.
func (q *queue) room(b *Budget, p place) place {
	if p.b == len(q.dir) || p.i == q.dir[p.b].from {
		// Between two blocks, or at an end of the list.
		if p.b > 0 {
			if k := q.dir[p.b-1]; k.to < blockLen {
				return place{p.b - 1, k.to}
			}
		}
		if p.b == len(q.dir) {
			q.newBlock(b, p.b)
			return place{p.b, 0}
		}
		if q.dir[p.b].from > 0 {
			return p
		}
		if p.b == 0 && q.dir[0].to == blockLen {
			// Backwards: leave the room in front.
			k := q.newBlock(b, 0)
			k.from, k.to = blockLen, blockLen
			return place{0, blockLen}
		}
	}
	k := q.dir[p.b]
	if k.from > 0 || k.to < blockLen {
		return p
	}
	// Full: the upper half moves to a block of its own.
	const half = blockLen / 2
	up := q.newBlock(b, p.b+1)
	up.to = copy(up.e[:], k.e[half:])
	clear(k.e[half:])
	k.to = half
	if p.i > half {
		return place{p.b + 1, p.i - half}
	}
	return p
}

// newBlock puts an empty block into the directory.
func (q *queue) newBlock(b *Budget, at int) *block {
	k := b.takeBlock()
	q.dir = append(q.dir, nil)
	copy(q.dir[at+1:], q.dir[at:])
	q.dir[at] = k
	return k
}

// drop removes the first held segment; its buffer is the caller's.
func (q *queue) drop(b *Budget) {
	k := q.dir[0]
	k.e[k.from] = held{}
	k.from++
	q.n--
	if k.from == k.to {
		n := copy(q.dir, q.dir[1:])
		q.dir[n] = nil
		q.dir = q.dir[:n]
		b.giveBlock(k)
	}
}

// carriers appends the frames whose octets of [from, to) wait.
func (q *queue) carriers(dst []uint64, from, to int64) []uint64 {
	for p := q.seek(from); ; p = q.after(p) {
		e := q.at(p)
		if e == nil || e.off >= to {
			return dst
		}
		dst = append(dst, e.frame)
	}
}

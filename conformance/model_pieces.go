package conformance

// pieces are the segments of a message in the order in which they came. Those that
// go on where the one before ends, with as many octets, make a run: a long message
// is a few runs, not hundreds of segments.
type pieces struct {
	runs   []stretch
	hashes []uint32 // of the segments of all runs
	// final is where the last segment was.
	final site
}

// stretch are n segments of size octets, from octet from on.
type stretch struct {
	from, size uint64
	n, hash    int32 // hashes[hash] is that of the first one
	last       bool  // it is one with L
	first      site  // of them
}

// to is where the run ends.
func (r *stretch) to() uint64 { return r.from + r.size*uint64(r.n) } //nolint:gosec // not negative

// start is where the last segment of the run begins.
func (r *stretch) start() uint64 { return r.to() - r.size }

// segments is how many there are.
func (p *pieces) segments() int { return len(p.hashes) }

// The room that is kept from one message to the next: what a few long ones took is
// not held on to by thousands of connections.
const (
	keptRuns   = 16
	keptHashes = 1024
)

// someHashes is the room with which a message of several segments begins: that of
// 64 KiB in segments of an Ethernet frame.
const someHashes = 48

// reset forgets all, and keeps the room, within bounds.
func (p *pieces) reset() (fresh pieces) {
	if cap(p.runs) <= keptRuns {
		fresh.runs = p.runs[:0]
	}
	if cap(p.hashes) <= keptHashes {
		fresh.hashes = p.hashes[:0]
	}
	return fresh
}

// add takes in a segment.
func (p *pieces) add(from, to uint64, last bool, hash uint32, at site) {
	if p.hashes == nil && !last {
		p.hashes = make([]uint32, 0, someHashes)
	}
	p.hashes = append(p.hashes, hash)
	p.final = at
	if n := len(p.runs); n > 0 && !last {
		if r := &p.runs[n-1]; !r.last && r.size > 0 && to-from == r.size && from == r.to() {
			r.n++
			return
		}
	}
	p.runs = append(p.runs, stretch{from: from, size: to - from, n: 1, hash: int32(len(p.hashes) - 1), last: last, first: at}) //nolint:gosec // at most maxPieces
}

// lengthen takes in segments that go on with the last run, whose hashes are there
// already; the last of them was at.
func (p *pieces) lengthen(at site) {
	r := &p.runs[len(p.runs)-1]
	r.n, p.final = int32(len(p.hashes))-r.hash, at //nolint:gosec // at most maxPieces
}

// next is where the message goes on.
func (p *pieces) next() uint64 {
	if n := len(p.runs); n > 0 {
		return p.runs[n-1].to()
	}
	return 0
}

// has reports whether there is a segment with a place and a hash.
func (p *pieces) has(from, to uint64, hash func() uint32) bool {
	for i := range p.runs {
		r := &p.runs[i]
		if to-from != r.size || from < r.from || from > r.start() {
			continue
		}
		nth := int32(0)
		if r.size > 0 {
			if (from-r.from)%r.size != 0 {
				continue
			}
			nth = int32((from - r.from) / r.size) //nolint:gosec // below n
		}
		if p.hashes[r.hash+nth] == hash() {
			return true
		}
	}
	return false
}

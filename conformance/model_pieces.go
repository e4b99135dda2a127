package conformance

// pieces are the segments of a message in the order in which they came. Segments of the
// same length, each of which begins where the one before ends, make a run: a long message
// is a few runs instead of hundreds of segments.
type pieces struct {
	runs   []stretch
	hashes []uint32 // of the segments of all runs
	// final is where the last segment was.
	final site
}

// stretch is a run of n segments with size octets each, that begins at offset from.
type stretch struct {
	from, size uint64
	n, hash    int32 // hashes[hash] is the hash of the first one
	last       bool  // it is a single segment with L
	first      site  // where the first one is
}

// to is where the run ends.
func (r *stretch) to() uint64 { return r.from + r.size*uint64(r.n) } //nolint:gosec // not negative

// start is where the last segment of the run begins.
func (r *stretch) start() uint64 { return r.to() - r.size }

// segments is how many there are.
func (p *pieces) segments() int { return len(p.hashes) }

// How many runs and hashes stay allocated from one message to the next. Thousands of
// connections must not keep what a few long messages needed.
const (
	keptRuns   = 16
	keptHashes = 1024
)

// someHashes is how many hashes are allocated at first for a message of several segments:
// enough for 64 KiB in segments that fit Ethernet frames.
const someHashes = 48

// reset returns empty pieces that reuse the allocated slices, unless those are too large.
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

// lengthen adds segments to the last run, whose hashes are there already; at is the last
// of them.
func (p *pieces) lengthen(at site) {
	r := &p.runs[len(p.runs)-1]
	r.n, p.final = int32(len(p.hashes))-r.hash, at //nolint:gosec // at most maxPieces
}

// next is the offset at which the message continues.
func (p *pieces) next() uint64 {
	if n := len(p.runs); n > 0 {
		return p.runs[n-1].to()
	}
	return 0
}

// has reports whether there is a segment with that range and hash.
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

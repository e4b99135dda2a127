package model

import "github.com/iwdissect/iwdissect/trace"

// pieces are the segments of a message in the order in which they came. Segments of the
// same length, each of which begins where the one before ends, make a run: a long message
// is a few runs instead of hundreds of segments.
type pieces struct {
	Runs   []Stretch
	hashes []uint32 // of the segments of all runs
	// Final is where the last segment was.
	Final site
}

// Stretch is a run of n segments with size octets each, that begins at offset from.
type Stretch struct {
	From, Size uint64
	n, hash    int32 // hashes[hash] is the hash of the first one
	last       bool  // it is a single segment with L
	first      site  // where the first one is
}

// To is where the run ends.
func (r *Stretch) To() uint64 { return r.From + r.Size*uint64(r.n) } //nolint:gosec // not negative

// Start is where the last segment of the run begins.
func (r *Stretch) Start() uint64 { return r.To() - r.Size }

// Segments is how many there are.
func (p *pieces) Segments() int { return len(p.hashes) }

// How many runs and hashes stay allocated from one message to the next. Thousands of
// connections must not keep what a few long messages needed.
const (
	keptRuns   = 16
	keptHashes = 1024
)

// someHashes is how many hashes are allocated at first for a message of several segments:
// enough for 64 KiB in segments that fit Ethernet frames.
const someHashes = 48

// emptied returns the allocated slices, to be used again, unless they are too large.
func (p *pieces) emptied() (runs []Stretch, hashes []uint32) {
	if cap(p.Runs) <= keptRuns {
		runs = p.Runs[:0]
	}
	if cap(p.hashes) <= keptHashes {
		hashes = p.hashes[:0]
	}
	return runs, hashes
}

// add records a segment, the nth PDU of its direction.
func (p *pieces) add(from, to uint64, last bool, hash uint32, pdu *trace.PDU, nth uint64) {
	if p.hashes == nil && !last {
		p.hashes = make([]uint32, 0, someHashes)
	}
	p.hashes = append(p.hashes, hash)
	p.Final.set(pdu, nth)
	if n := len(p.Runs); n > 0 && !last {
		if r := &p.Runs[n-1]; !r.last && r.Size > 0 && to-from == r.Size && from == r.To() {
			r.n++
			return
		}
	}
	p.Runs = append(p.Runs, Stretch{})
	r := &p.Runs[len(p.Runs)-1]
	r.From, r.Size, r.n, r.hash, r.last = from, to-from, 1, int32(len(p.hashes)-1), last //nolint:gosec // at most maxPieces
	r.first.set(pdu, nth)
}

// lengthen adds segments to the last run, whose hashes are there already; at is the last
// of them.
func (p *pieces) lengthen(at site) {
	r := &p.Runs[len(p.Runs)-1]
	r.n, p.Final = int32(len(p.hashes))-r.hash, at //nolint:gosec // at most maxPieces
}

// Next is the offset at which the message continues.
func (p *pieces) Next() uint64 {
	if n := len(p.Runs); n > 0 {
		return p.Runs[n-1].To()
	}
	return 0
}

// Has reports whether there is a segment with that range and hash.
func (p *pieces) Has(from, to uint64, hash func() uint32) bool {
	for i := range p.Runs {
		r := &p.Runs[i]
		if to-from != r.Size || from < r.From || from > r.Start() {
			continue
		}
		nth := int32(0)
		if r.Size > 0 {
			if (from-r.From)%r.Size != 0 {
				continue
			}
			nth = int32((from - r.From) / r.Size) //nolint:gosec // below n
		}
		if p.hashes[r.hash+nth] == hash() {
			return true
		}
	}
	return false
}

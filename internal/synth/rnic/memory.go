package rnic

import "encoding/binary"

// backing is how much real memory stands behind a region at most, in octets;
// addresses repeat behind it. It comes in pages that are made when they are
// written to; what was never written is generated.
const (
	pageSize = 4 << 10
	backing  = 256 * pageSize
)

// Region is registered memory: the addresses from TO to TO+Size. The memory
// behind it repeats every MiB, so that large regions cost little.
type Region struct {
	Address
	Size uint64
	// Read and Write say what the peer may do; Atomic needs both.
	Read, Write bool
	// Sink: what is written there is not kept. Kept, if not 0, is how many octets from the start
	// on are: what is written behind them is not.
	Sink bool
	Kept uint64
	// Memory is what stands behind it, all of it, and sets Size; nil: what was never written
	// is generated. Whoever owns it may read and write it between the calls of the end.
	Memory []byte
}

// region is a region with its memory. Numbers in it have network byte order.
type region struct {
	Region
	seed    uint64
	pages   [][]byte // nil ones were never written to
	invalid bool
}

// Register makes memory known and returns it with the STag that was chosen, if
// r has none.
func (e *Endpoint) Register(r Region) Region {
	for r.STag == 0 || e.find(r.STag) != nil {
		// The low octet belongs to the consumer (RFC 5040 section 1.1); no rule
		// makes the rest guessable.
		r.STag = e.rnd.Uint32()
	}
	if r.Memory != nil {
		r.Size = uint64(len(r.Memory))
	}
	e.regions = append(e.regions, &region{Region: r, seed: e.rnd.Uint64()})
	return r
}

// Valid reports whether the STag is that of registered memory that was not invalidated.
func (e *Endpoint) Valid(stag uint32) bool { return e.find(stag) != nil }

// Fetch reads octets of registered memory, as a Read of the peer would. It reports whether
// there are so many at the address.
func (e *Endpoint) Fetch(a Address, b []byte) bool {
	r := e.find(a.STag)
	if r == nil || !r.holds(a.TO, uint64(len(b))) {
		return false
	}
	r.fetch(a.TO, b)
	return true
}

func (e *Endpoint) find(stag uint32) *region {
	for _, r := range e.regions {
		if r.STag == stag && !r.invalid {
			return r
		}
	}
	return nil
}

// Place writes octets to registered memory, as a Write of the peer would.
func (e *Endpoint) Place(a Address, b []byte) {
	if r := e.find(a.STag); r != nil && r.holds(a.TO, uint64(len(b))) {
		r.place(a.TO, b)
	}
}

// holds reports whether [to, to+n) lies inside.
func (r *region) holds(to, n uint64) bool {
	return to >= r.TO && n <= r.Size && to-r.TO <= r.Size-n
}

// span is a run of memory inside a page: its page, where it begins there, and
// how many of the n octets from an address on it has.
func (r *region) span(to uint64, n int) (page, at, size int) {
	place := int((to - r.TO) % backing)
	at = place % pageSize
	return place / pageSize, at, min(n, pageSize-at)
}

// place writes octets to an address.
func (r *region) place(to uint64, b []byte) {
	switch {
	case r.Sink:
		return
	case r.Memory != nil:
		if r.holds(to, uint64(len(b))) {
			copy(r.Memory[to-r.TO:], b)
		}
		return
	}
	for len(b) > 0 {
		page, at, n := r.span(to, len(b))
		if p := r.page(page); at < len(p) {
			copy(p[at:], b[:n])
		}
		b, to = b[n:], to+uint64(n) //nolint:gosec // at most a page
	}
}

// page is a page to be written to, or what of it is kept.
func (r *region) page(n int) []byte {
	if n < len(r.pages) && r.pages[n] != nil {
		return r.pages[n]
	}
	size, first := pageSize, uint64(n)*pageSize //nolint:gosec // below backing
	if r.Kept > 0 {
		if first >= r.Kept {
			return nil
		}
		size = int(min(pageSize, r.Kept-first))
	}
	p := make([]byte, size)
	block(r.seed).read(p, first)
	if n >= len(r.pages) {
		r.pages = append(r.pages, make([][]byte, n+1-len(r.pages))...)
	}
	r.pages[n] = p
	return p
}

// fetch reads octets from an address; it is a source of payload.
func (r *region) fetch(to uint64, b []byte) {
	if r.Memory != nil {
		// Another region may have taken the STag since the request was checked.
		if clear(b); r.holds(to, uint64(len(b))) {
			copy(b, r.Memory[to-r.TO:])
		}
		return
	}
	for len(b) > 0 {
		page, at, n := r.span(to, len(b))
		there := 0
		if page < len(r.pages) && at < len(r.pages[page]) {
			there = copy(b[:n], r.pages[page][at:])
		}
		if there < n {
			block(r.seed).read(b[there:n], uint64(page)*pageSize+uint64(at+there)) //nolint:gosec // below backing
		}
		b, to = b[n:], to+uint64(n) //nolint:gosec // at most a page
	}
}

// word and setWord are the 64-bit number at an aligned address.
func (r *region) word(to uint64) uint64 {
	var b [8]byte
	r.fetch(to, b[:])
	return binary.BigEndian.Uint64(b[:])
}

func (r *region) setWord(to, v uint64) { r.place(to, binary.BigEndian.AppendUint64(nil, v)) }

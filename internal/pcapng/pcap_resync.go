package pcapng

import (
	"errors"
	"io"
)

const (
	// resyncWindow is how far behind a damaged record the next one is looked
	// for, in octets.
	resyncWindow = 1 << 20
	// resyncLimit bounds the records that count as proof in the search.
	resyncLimit = 1 << 20
	// resyncChain is the number of record headers in a row that prove a place.
	resyncChain = 3
	// resyncNear is how far apart the times of neighbours may be: a day.
	resyncNear = 24 * 3600 * int64(1e9)
)

// resyncPcap searches for the next record behind a damaged one. It returns the
// distance from the current position.
func (r *Reader) resyncPcap() (int, bool) {
	for off := 1; off <= resyncWindow; off++ {
		if !r.in.fill(off + r.hdr) {
			return 0, false
		}
		if r.plausibleAt(off) && r.chain(off) {
			return off, true
		}
	}
	return 0, false
}

// chain tells whether record headers follow each other from off on: three of
// them, or fewer up to the very end of the input.
func (r *Reader) chain(off int) bool {
	ref, have := r.last, r.haveLast
	for i := range resyncChain {
		if !r.in.fill(off + r.hdr) {
			// The input ends here. One record that ends exactly with it
			// proves the place, and so do two of which the last is cut.
			return i > 0 && r.endsAt(off) || i > 1
		}
		b := r.in.buf[r.in.r+off : r.in.w]
		if !r.plausible(b, ref, have) {
			return false
		}
		ref, have = r.time(b), true
		off += r.hdr + int(r.u32(b[8:]))
	}
	return true
}

// plausibleAt tells whether what stands off octets further on looks like a
// record header.
func (r *Reader) plausibleAt(off int) bool {
	return r.in.fill(off+r.hdr) && r.plausible(r.in.buf[r.in.r+off:r.in.w], r.last, r.haveLast)
}

// endsAt tells whether the input ends exactly off octets further on.
func (r *Reader) endsAt(off int) bool {
	return !r.in.fill(off+1) && errors.Is(r.in.err, io.EOF) && r.in.w-r.in.r == off
}

// plausible is the strict view of a record header, for searching only.
func (r *Reader) plausible(b []byte, ref int64, haveRef bool) bool {
	incl, orig := r.u32(b[8:]), r.u32(b[12:])
	if incl == 0 || incl > orig || incl > min(r.limit, resyncLimit) || orig > MaxCapLen || r.u32(b[4:]) >= r.unit {
		return false
	}
	t := r.time(b)
	return !haveRef || t-ref <= resyncNear && ref-t <= resyncNear
}

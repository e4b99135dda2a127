// Package deltas keeps records in few octets: each as what differs from the one that was
// foreseen. Records are words of 64 bits; nothing in them is a pointer, so that there is
// nothing for a garbage collector to look at.
//
// A record is an octet whose bit g says that word g differs, with a tag above the bits of
// the words, then for each such word an octet whose bit i says that octet i of it differs,
// counted from the lowest one, and those octets, by exclusive or with the foreseen ones.
package deltas

import "math/bits"

// MaxWords is how many words a record has at most.
const MaxWords = 8

// List is a list of records, the oldest first.
type List struct {
	octets []byte
	from   int // where the oldest begins
}

// maxRecord is how many octets a record of MaxWords takes at most.
const maxRecord = 1 + MaxWords*(1+8)

// grown is how many octets a list that is full grows by, at least.
const grown = 48

// Add appends a record. foreseen has the same length, at most MaxWords; of the tag as
// many bits are kept as there are fewer words.
func (l *List) Add(tag uint8, record, foreseen []uint64) {
	if cap(l.octets)-len(l.octets) < maxRecord {
		l.grow(record, foreseen)
	}
	at := len(l.octets)
	b := append(l.octets, tag<<len(record))
	for g, w := range record {
		if w ^= foreseen[g]; w == 0 {
			continue
		}
		b[at] |= 1 << g
		which := len(b)
		b = append(b, 0)
		for w != 0 {
			i := bits.TrailingZeros64(w) / 8
			b[which] |= 1 << i
			b = append(b, byte(w>>(8*i))) //nolint:gosec // its ith octet
			w &^= 0xff << (8 * i)
		}
	}
	l.octets = b
}

// grow makes room for a record if it needs some: in place of those that were dropped, or
// half as much again.
func (l *List) grow(record, foreseen []uint64) {
	need := 1
	for g, w := range record {
		if w ^= foreseen[g]; w != 0 {
			need++
			for ; w != 0; w &^= 0xff << (bits.TrailingZeros64(w) &^ 7) {
				need++
			}
		}
	}
	n := len(l.octets)
	switch {
	case cap(l.octets)-n >= need:
	case l.from >= n/4 && l.from >= need:
		l.octets = l.octets[:copy(l.octets, l.octets[l.from:])]
		l.from = 0
	default:
		l.octets = append(make([]byte, 0, n-l.from+max(need, grown, (n-l.from)/2)), l.octets[l.from:]...)
		l.from = 0
	}
}

// Drop drops the records before the next one of a reader of the list.
func (l *List) Drop(r *Reader) { l.from = len(l.octets) - len(r.rest) }

// Size is how many octets the records take.
func (l *List) Size() int { return len(l.octets) - l.from }

// Reader reads the records of a list, the oldest first.
type Reader struct{ rest []byte }

// Read begins with the oldest record.
func (l *List) Read() Reader { return Reader{l.octets[l.from:]} }

// More reports whether there is another record.
func (r *Reader) More() bool { return len(r.rest) > 0 }

// Tag is that of the next record, of so many words.
func (r *Reader) Tag(words int) uint8 { return r.rest[0] >> words }

// Next makes the next record of what was foreseen for it.
func (r *Reader) Next(words []uint64) {
	b := r.rest
	groups := b[0] & (1<<len(words) - 1)
	b = b[1:]
	for ; groups != 0; groups &= groups - 1 {
		which := b[0]
		b = b[1:]
		w := uint64(0)
		for ; which != 0; which &= which - 1 {
			w |= uint64(b[0]) << (8 * bits.TrailingZeros8(which))
			b = b[1:]
		}
		words[bits.TrailingZeros8(groups)] ^= w
	}
	r.rest = b
}

package pcapng

import (
	"errors"
	"io"
)

const (
	// readSize is the size of the buffer and so of a read. 256 KiB stays in
	// the second-level cache of the processors in use; larger reads fall out
	// of it and cost more than the system calls they save.
	readSize = 256 << 10
	// MaxCapLen is the longest packet that is read or written, in octets.
	MaxCapLen = 16 << 20
	// maxBlock bounds a whole pcapng block: the longest packet, its header,
	// and room for options.
	maxBlock = MaxCapLen + 1<<20
	// maxBuffer bounds the buffer: the longest block, or the distance of a
	// search after damage with what has to be looked at behind it.
	maxBuffer = maxBlock + 64
	// maxEmptyReads is how often a source may return nothing and no error.
	maxEmptyReads = 100
)

var errBadCount = errors.New("source returned an impossible count")

// buffer is a window on the source: buf[r:w] are the octets not yet used.
type buffer struct {
	src  io.Reader
	next *Ahead // src, if it gives blocks
	size int    // of a read: readSize, less in tests
	room
	glances int // of those it has seen that are behind
	r, w    int
	base    int64 // position in the file of buf[0]
	err     error // what the source said last; final
}

func newBuffer(src io.Reader, size int) buffer {
	next, _ := src.(*Ahead)
	return buffer{src: src, next: next, size: size, room: room{buf: make([]byte, size)}}
}

// pos is the position in the file of the next unused octet.
func (b *buffer) pos() int64 { return b.base + int64(b.r) }

// fill waits until n octets are there, n <= maxBuffer, and tells whether they
// came. Each turn is a single Read, so that what has arrived on a pipe is
// never held back for what has not. Slices of the buffer taken before are
// invalid afterwards.
func (b *buffer) fill(n int) bool {
	empty := 0
	for b.w-b.r < n {
		if b.err != nil {
			return false
		}
		if b.next != nil && n <= aheadRoom && b.w-b.r <= aheadRoom && b.swap() {
			continue
		}
		// A buffer that once grew is used in full only for records that
		// need it, to stay in the cache.
		end := b.size
		if n > b.size {
			end = len(b.buf)
		}
		if b.r == b.w || b.r+n > end {
			if b.next != nil {
				b.next.settle()
			}
			b.seen = b.seen[:0]
			copy(b.buf, b.buf[b.r:b.w])
			b.base += int64(b.r)
			b.w -= b.r
			b.r = 0
		}
		if b.w == len(b.buf) {
			// Only here does the buffer grow, and it is full: memory
			// follows what came, not what was claimed.
			grown := make([]byte, min(2*len(b.buf), maxBuffer))
			copy(grown, b.buf[:b.w])
			b.buf = grown
			end = len(grown)
		}
		m, err := b.src.Read(b.buf[b.w:end])
		if m < 0 || m > end-b.w {
			m, err = 0, errBadCount
		}
		b.w += m
		b.err = err
		if m == 0 && err == nil {
			if empty++; empty == maxEmptyReads {
				b.err = io.ErrNoProgress
			}
		}
	}
	return true
}

// swap goes on in the next block of the source.
func (b *buffer) swap() bool {
	left := b.buf[b.r:b.w]
	next, ok := b.next.swap(b.room, left)
	if !ok {
		return false
	}
	b.err = next.err
	if next.buf != nil {
		start := aheadRoom - len(left)
		b.base += int64(b.r - start)
		b.room, b.glances, b.r, b.w = next.room, 0, start, aheadRoom+next.n
	}
	return true
}

// early tells whether the record whose packet is n octets further was shown.
func (b *buffer) early(n int) Early {
	for at := int32(b.r + n); b.glances < len(b.seen) && b.seen[b.glances].data <= at; b.glances++ { //nolint:gosec // in a buffer
		if b.seen[b.glances].data == at {
			b.glances++
			return Early{b.id, int32(b.glances)} //nolint:gosec // at most MaxGlances
		}
	}
	return Early{}
}

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
	// maxEmptyReads is how often in a row a source may return nothing and no error.
	maxEmptyReads = 100
)

var errBadCount = errors.New("source returned an impossible count")

// buffer is a window on the source: buf[r:w] are the octets not yet used.
type buffer struct {
	src  io.Reader
	size int // of a read: readSize, less in tests
	buf  []byte
	r, w int
	base int64 // position in the file of buf[0]
	err  error // what the source said last; final

	lend  func(done []byte) []byte // see [Reader.Lend]; nil: the buffer is used again
	fresh int                      // r when the buffer was lent: no record of it was handed out

	before func() bool // see [Reader.Before]; may be nil
	after  func()      // see [Reader.After]; may be nil
}

const (
	// LentSize is the size of a buffer that is lent, see [Reader.Lend].
	LentSize = lentFront + readSize
	// lentFront is left free in front of what is read, for the record that began in
	// the last buffer: reads then begin at a page. A longer one moves them.
	lentFront = 64 << 10
	// leastRead is what must be free at the end of a lent buffer to read into it.
	leastRead = 16 << 10
)

func newBuffer(src io.Reader, size int) buffer {
	return buffer{src: src, size: size, buf: make([]byte, size), fresh: -1}
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
		if b.before != nil && !b.before() {
			b.err = io.EOF
			return false
		}
		end := b.makeRoom(n)
		m, err := b.src.Read(b.buf[b.w:end])
		if b.after != nil {
			b.after()
		}
		if m < 0 || m > end-b.w {
			m, err = 0, errBadCount
		}
		b.w += m
		b.err = err
		switch {
		case m > 0:
			empty = 0
		case err == nil:
			if empty++; empty == maxEmptyReads {
				b.err = io.ErrNoProgress
			}
		}
	}
	return true
}

// makeRoom makes room behind the octets there are, so that n of them fit from r on, and
// returns up to where to read.
func (b *buffer) makeRoom(n int) (end int) {
	// A buffer that once grew is used in full only for records that need it, to stay in
	// the cache.
	end = b.size
	if n > b.size || b.lend != nil {
		end = len(b.buf)
	}
	switch {
	case b.lend != nil && b.r != b.fresh && (b.r+n > end || end-b.w < leastRead):
		b.exchange()
		end = len(b.buf)
	case b.lend == nil && b.r == b.w, b.r+n > end:
		b.move(b.buf, 0)
		b.fresh = 0
	}
	if b.w == len(b.buf) {
		// Only here does the buffer grow, and it is full: memory follows what came, not
		// what was claimed.
		grown := make([]byte, min(2*len(b.buf), maxBuffer))
		b.move(grown, b.r)
		end = len(grown)
	}
	return end
}

// move moves the octets there are to a place in a buffer, the same or another one.
func (b *buffer) move(to []byte, at int) {
	n := copy(to[at:], b.buf[b.r:b.w])
	b.base += int64(b.r - at)
	b.buf, b.r, b.w = to, at, at+n
}

// exchange goes on in another buffer, since records in this one were handed out.
func (b *buffer) exchange() {
	next := b.lend(b.buf)
	left, front := b.w-b.r, min(lentFront, len(next)/2) // a test may lend less than LentSize
	if left >= len(next)-min(leastRead, len(next)/4) {
		next = make([]byte, min(2*left+leastRead, maxBuffer))
	}
	b.move(next, max(front-left, 0))
	b.fresh = b.r
}

package pcapng

import "io"

// Map has the reader go on in a file that is mapped into memory, so that nothing is copied. file
// holds the octets from the first one on. window is called before octets up to the position need
// are used for the first time, and returns up to where they can be read; if that is less, the input
// ends there. Octets in front of the position done are in records that were handed out, or are not
// used any more. Behind the mapped octets the reader reads its source again.
//
// [Record.Data] stays valid until the caller takes its octets out of memory. Map has to be called
// before the first call of Next.
func (r *Reader) Map(file []byte, window func(done, need int) (to int)) { r.in.enter(file, window) }

// enter goes on in a mapped file.
func (b *buffer) enter(file []byte, window func(done, need int) (to int)) {
	at := int(b.pos())
	b.buf, b.base, b.r, b.w, b.window = file, 0, at, at, window
}

// slide makes n more octets of a mapped file readable, or as many as there are.
func (b *buffer) slide(n int) {
	if b.w == len(b.buf) {
		b.leave()
		return
	}
	to := b.window(b.r, min(b.r+n, len(b.buf)))
	if to <= b.w {
		b.err = io.EOF
		return
	}
	b.w = min(to, len(b.buf))
}

// leave goes on in a buffer, with the octets that are left of the mapped file.
func (b *buffer) leave() {
	b.window = nil
	left := b.w - b.r
	room := make([]byte, max(LentSize, min(2*left+leastRead, maxBuffer)))
	b.move(room, max(lentFront-left, 0))
	b.fresh = b.r
}

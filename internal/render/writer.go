package render

import "io"

// writer writes parts in a goroutine of its own, in their order. Its owner waits
// only when it is far ahead.
type writer struct {
	parts chan part
	free  chan []byte
	ended chan error
}

// part is what is to be written of a buffer.
type part struct{ buf, rest []byte }

// partsAhead bounds the parts that wait.
const partsAhead = 4

func newWriter(w io.Writer) *writer {
	wr := &writer{parts: make(chan part, partsAhead), free: make(chan []byte, partsAhead+mostHeld), ended: make(chan error, 1)}
	go wr.run(w)
	return wr
}

func (wr *writer) run(w io.Writer) {
	var err error
	for p := range wr.parts {
		if err == nil && len(p.rest) > 0 {
			_, err = w.Write(p.rest)
		}
		select {
		case wr.free <- p.buf[:0]:
		default:
		}
	}
	wr.ended <- err
}

// give has the rest of a buffer written; the buffer is free then.
func (wr *writer) give(buf, rest []byte) { wr.parts <- part{buf, rest} }

// end waits until all is written, and returns the first error.
func (wr *writer) end() error {
	close(wr.parts)
	return <-wr.ended
}

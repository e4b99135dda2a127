package render

import "io"

// writer writes parts in a goroutine of its own, in their order. Its owner waits
// only when it is far ahead.
type writer struct {
	parts chan []byte
	free  chan []byte
	ended chan error
}

// partsAhead bounds the parts that wait.
const partsAhead = 4

func newWriter(w io.Writer) *writer {
	wr := &writer{parts: make(chan []byte, partsAhead), free: make(chan []byte, partsAhead+1), ended: make(chan error, 1)}
	go wr.run(w)
	return wr
}

func (wr *writer) run(w io.Writer) {
	var err error
	for p := range wr.parts {
		if err == nil {
			_, err = w.Write(p)
		}
		select {
		case wr.free <- p[:0]:
		default:
		}
	}
	wr.ended <- err
}

// end waits until all is written, and returns the first error.
func (wr *writer) end() error {
	close(wr.parts)
	return <-wr.ended
}

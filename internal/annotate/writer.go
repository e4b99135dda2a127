package annotate

import (
	"io"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

const (
	// partSize is how many octets are written at once.
	partSize = 512 << 10
	// partsAhead bounds the parts that wait to be written.
	partsAhead = 4
)

// writer collects what is written, and writes it in large parts: at once, or in a goroutine of
// its own, so that the next ones are made meanwhile.
type writer struct {
	w    io.Writer
	part []byte
	err  error

	// beside
	parts, free chan []byte
	ended       chan error
	failed      atomic.Bool
}

func newWriter(w io.Writer, beside bool) *writer {
	wr := &writer{w: w, part: make([]byte, 0, partSize+partSize/8)}
	if beside {
		wr.parts, wr.free, wr.ended = make(chan []byte, partsAhead), make(chan []byte, partsAhead+1), make(chan error, 1)
		go wr.run()
	}
	return wr
}

func (wr *writer) run() {
	var err error
	for p := range wr.parts {
		if err == nil {
			if _, err = wr.w.Write(p); err != nil {
				wr.failed.Store(true)
			}
		}
		select {
		case wr.free <- p[:0]:
		default:
		}
	}
	wr.ended <- err
}

// add appends octets.
func (wr *writer) add(b []byte) {
	wr.part = append(wr.part, b...)
	wr.full()
}

// addCommented appends a block with comments in place of others, see [pcapng.AppendCommented].
func (wr *writer) addCommented(block []byte, big bool, comments [][]byte, others string) (err error) {
	wr.part, err = pcapng.AppendCommented(wr.part, block, big, comments, others)
	wr.full()
	return err
}

// addPacket appends the block of a packet with comments, see [pcapng.Writer.AppendBlock].
func (wr *writer) addPacket(enc *pcapng.Writer, rec *pcapng.Record, comments [][]byte) (err error) {
	wr.part, err = enc.AppendBlock(wr.part, rec, comments)
	wr.full()
	return err
}

// full hands on what was collected if it is enough. Parts of the same size begin at pages of the
// file, which the system copies a quarter faster.
func (wr *writer) full() {
	n := len(wr.part) / partSize * partSize
	if n == 0 {
		return
	}
	if wr.parts == nil {
		if wr.err == nil {
			_, wr.err = wr.w.Write(wr.part[:n])
		}
		wr.part = append(wr.part[:0], wr.part[n:]...)
		return
	}
	next := append(wr.empty(), wr.part[n:]...)
	wr.parts <- wr.part[:n]
	wr.part = next
}

// empty is memory for a part.
func (wr *writer) empty() []byte {
	select {
	case p := <-wr.free:
		return p
	default:
		return make([]byte, 0, partSize+partSize/8)
	}
}

// flush hands on what was collected.
func (wr *writer) flush() {
	switch {
	case len(wr.part) == 0 || wr.err != nil:
		return
	case wr.parts == nil:
		_, wr.err = wr.w.Write(wr.part)
		wr.part = wr.part[:0]
	default:
		wr.parts <- wr.part
		wr.part = wr.empty()
	}
}

// broken reports whether nothing can be written any more.
func (wr *writer) broken() bool { return wr.err != nil || wr.failed.Load() }

// end writes what is left, and returns the first error.
func (wr *writer) end() error {
	wr.flush()
	if wr.parts != nil {
		close(wr.parts)
		if err := <-wr.ended; wr.err == nil {
			wr.err = err
		}
		wr.parts = nil
	}
	return wr.err
}

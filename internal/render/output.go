package render

import "io"

// output collects what is written and hands it on in large parts.
type output struct {
	w   io.Writer
	b   []byte
	err error
	// live hands on every part at once, for one who watches.
	live bool
	// beside has a goroutine write large parts, so that the work goes on meanwhile.
	beside bool
	writer *writer
	spare  [][]byte // buffers that were written
}

const (
	// flushAt is the size in octets from which a part is handed on, partSize that of
	// its buffer, so that the last record seldom makes it grow.
	flushAt  = 256 << 10
	partSize = flushAt + 32<<10
)

// done is called at the end of a record or line.
func (o *output) done() {
	if o.live || len(o.b) >= flushAt {
		o.flush()
	}
}

// Write implements [io.Writer], for what is written in large parts.
func (o *output) Write(b []byte) (int, error) {
	o.b = append(o.b, b...)
	o.done()
	return len(b), o.err
}

// take has a function write what comes next.
func (o *output) take(write func(io.Writer) error) {
	if err := write(o); err != nil && o.err == nil {
		o.err = err
	}
}

// flush hands on what was collected.
func (o *output) flush() {
	if len(o.b) == 0 {
		return
	}
	if o.beside {
		if o.writer == nil {
			o.writer = newWriter(o.w)
		}
		o.writer.parts <- o.b
	} else {
		if o.err == nil {
			_, o.err = o.w.Write(o.b)
		}
		o.spare = append(o.spare, o.b[:0])
	}
	o.b = o.buffer()
}

// buffer returns one to fill: to make one again costs about as much as to fill it.
func (o *output) buffer() []byte {
	if n := len(o.spare); n > 0 {
		b := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return b
	}
	if o.writer != nil {
		select {
		case b := <-o.writer.free:
			return b
		default:
		}
	}
	return make([]byte, 0, partSize)
}

// end writes what is left, and returns the first error there was.
func (o *output) end() error {
	o.beside = o.writer != nil // a little is written at once
	o.flush()
	if o.writer != nil {
		o.err = o.writer.end()
		o.writer, o.beside = nil, false
	}
	return o.err
}

// outlet is what the sinks that write a capture share.
type outlet struct{ out output }

// Beside has a goroutine write, beside the work.
func (o *outlet) Beside() { o.out.beside = !o.out.live }

// Behind writes text behind what was written so far.
func (o *outlet) Behind(text []byte) {
	o.out.b = append(o.out.b, text...)
	o.out.done()
}

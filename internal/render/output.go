package render

import "io"

// output collects what is written and hands it on in large parts.
type output struct {
	w   io.Writer
	b   []byte
	err error
	// live hands on every part at once, for one who watches.
	live bool
}

const flushAt = 256 << 10

// done is called at the end of a record or line.
func (o *output) done() {
	if o.live || len(o.b) >= flushAt {
		o.flush()
	}
}

func (o *output) flush() {
	if o.err == nil && len(o.b) > 0 {
		_, o.err = o.w.Write(o.b)
	}
	o.b = o.b[:0]
}

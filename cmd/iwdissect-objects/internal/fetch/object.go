package fetch

import (
	"context"
	"io"
)

// object is one that is being read, by one goroutine.
type object struct {
	c      *Client
	t      *target
	v      version
	ctx    context.Context
	cancel context.CancelFunc
	cur    []byte
	next   int64    // the first octet that was not asked for
	asked  []*block // in their order
	ahead  int
	err    error
}

// block is a part of an object.
type block struct {
	from int64
	data []byte // what came of it
	err  error  // why not all of it
	done chan struct{}
}

// Read gives the next octets.
func (o *object) Read(b []byte) (int, error) {
	for len(o.cur) == 0 {
		if o.err != nil {
			return 0, o.err
		}
		o.more()
	}
	n := copy(b, o.cur)
	o.cur = o.cur[n:]
	return n, nil
}

// more waits for the next block. The first is asked for alone: many captures are only looked at.
// Each that is read through allows for twice as many to be under way.
func (o *object) more() {
	o.ahead = min(max(2*o.ahead, 1), o.c.opt.Ahead)
	for len(o.asked) < o.ahead && o.next < o.v.size {
		b := &block{from: o.next, data: make([]byte, min(o.c.opt.Block, o.v.size-o.next)), done: make(chan struct{})}
		o.next += int64(len(b.data))
		o.asked = append(o.asked, b)
		go o.fetch(b)
	}
	if len(o.asked) == 0 {
		o.err = io.EOF
		return
	}
	b := o.asked[0]
	o.asked = o.asked[1:]
	<-b.done
	o.cur, o.err = b.data, b.err
}

// fetch fills a block. What came before a connection broke is kept.
func (o *object) fetch(b *block) {
	defer close(b.done)
	got := 0
	b.err = o.c.again(o.ctx, func() (bool, error) {
		p, w, err := o.c.ask(o.ctx, o.t.store, b.from+int64(got), int64(len(b.data)-got), &o.v)
		if err != nil {
			return false, err
		}
		defer w.Close() //nolint:errcheck // only read from
		if p.whole {
			return false, errNoRange
		}
		n, err := io.ReadFull(w, b.data[got:min(got+int(p.n), len(b.data))])
		got += n
		if err == nil && got < len(b.data) {
			err = io.ErrUnexpectedEOF
		}
		return n > 0, err
	})
	b.data = b.data[:got]
}

// Close ends what is under way.
func (o *object) Close() error {
	o.cancel()
	return nil
}

// whole is an object of a server that sends no ranges.
type whole struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (w *whole) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = cut{err}
	}
	return n, err
}

func (w *whole) Close() error {
	w.cancel()
	return w.ReadCloser.Close()
}

// cut is an error of a stream that cannot go on.
type cut struct{ error }

func (c cut) Error() string { return c.error.Error() + "; " + errNoRange.Error() }
func (c cut) Unwrap() error { return c.error }

package pcapng

import (
	"io"
	"sync"
)

// Reading costs about as much as all that is done with the octets, so a second
// processor may do it: a goroutine fills blocks, and the reader goes on in them
// where they lie. What little of a record is left at the end of a block is put
// in front of the next one.
const (
	// aheadBlocks times readSize is how far reading is ahead.
	aheadBlocks = 6
	// aheadRoom is what is free in front of a block, for the record that began
	// in the last one. A longer one takes the way of a source without blocks.
	aheadRoom = 64 << 10
)

// Ahead reads a source in a goroutine of its own, ahead of the one who reads
// from it. It is for sources that never wait, such as files: what a pipe gives
// should not be held back. Close must be called.
type Ahead struct {
	full chan block
	free chan used
	quit chan struct{}
	work func() func() // what is left to be done with a block, nil: nothing
	busy sync.WaitGroup
	once sync.Once
	eyes glancer
	cur  block // of which rest is not yet given
	rest []byte
	lent bool // the buffer that swap is given was once a block
}

// room is a buffer.
type room struct {
	buf  []byte
	id   int32
	seen []glance // of its records
}

// block is a buffer of which n octets, from aheadRoom on, were read.
type block struct {
	room
	n   int
	err error
}

// used is a buffer to be filled, after what is left to be done with it.
type used struct {
	room
	work func()
}

// NewAhead starts to read src.
func NewAhead(src io.Reader) *Ahead {
	a := &Ahead{full: make(chan block, aheadBlocks), free: make(chan used, aheadBlocks+1), quit: make(chan struct{})}
	for id := range int32(aheadBlocks) {
		a.free <- used{room: room{buf: make([]byte, aheadRoom+readSize), id: id}}
	}
	go a.run(src)
	return a
}

// Behind has the reading goroutine do what is left to be done with each block
// before it fills it again: work is called whenever the reader is done with a
// block, and what it returns runs in that goroutine, while the octets are likely
// to be in its cache still.
func (a *Ahead) Behind(work func() func()) { a.work = work }

// Glance has the reading goroutine show records that lie whole in a block before they
// are read: [Record.Early] and [Reader.PeekEarly] tell of each whether it was. It does so
// where it has time to spare, or always.
func (a *Ahead) Glance(look Look, always bool) { a.eyes.shows.Store(&shows{look, always}) }

// Wait waits until all of that is done.
func (a *Ahead) Wait() { a.busy.Wait() }

// settle does at once what is left to be done with the octets at hand, which are
// about to be moved.
func (a *Ahead) settle() {
	if a.work != nil {
		a.work()()
	}
}

// give hands a buffer back.
func (a *Ahead) give(r room) {
	u := used{room: r}
	if a.work != nil && len(a.full) == 0 {
		a.work()() // reading is behind already
	} else if a.work != nil {
		a.busy.Add(1)
		work := a.work()
		u.work = func() {
			work()
			a.busy.Done()
		}
	}
	a.free <- u
}

// next is the next block that was read. As long as there is none, what is left to
// be done with others is done here: neither side waits while the other has work.
func (a *Ahead) next() (b block, ok bool) {
	for {
		select {
		case b, ok = <-a.full:
			return b, ok
		default:
		}
		select {
		case b, ok = <-a.full:
			return b, ok
		case u := <-a.free:
			done := u.work == nil
			if !done {
				u.work()
			}
			a.free <- used{room: u.room} // there is room for every buffer
			if done {
				b, ok = <-a.full
				return b, ok
			}
		}
	}
}

func (a *Ahead) run(src io.Reader) {
	defer close(a.full)
	for ended := false; ; {
		u, ok := a.take()
		if !ok {
			return
		}
		if u.work != nil {
			u.work()
		}
		if ended {
			continue // but for work, there is nothing left to do
		}
		n, err := src.Read(u.buf[aheadRoom:])
		if u.seen = u.seen[:0]; n >= 0 && n <= readSize {
			u.seen = a.eyes.block(u.id, u.buf, aheadRoom, aheadRoom+n, u.seen)
		}
		a.full <- block{u.room, n, err} // there is room for every buffer
		ended = err != nil
	}
}

// take waits for a buffer to be filled.
func (a *Ahead) take() (u used, ok bool) {
	select {
	case <-a.quit:
		return u, false
	default:
	}
	select {
	case u = <-a.free:
		a.eyes.busy()
		return u, true
	default:
	}
	a.eyes.idle()
	select {
	case <-a.quit:
		return u, false
	case u = <-a.free:
		return u, true
	}
}

// Close ends the reading; when it returns nobody reads from the source.
func (a *Ahead) Close() {
	a.once.Do(func() {
		close(a.quit)
		for range a.full { // until it is closed
		}
	})
}

// Read implements [io.Reader], for those who do not know of blocks.
func (a *Ahead) Read(b []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.cur.err != nil {
			return 0, a.cur.err
		}
		if a.cur.buf != nil {
			a.give(a.cur.room)
			a.cur.buf = nil
		}
		next, ok := a.next()
		if !ok {
			return 0, io.EOF
		}
		a.cur, a.rest = next, next.buf[aheadRoom:aheadRoom+next.n]
	}
	n := copy(b, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// swap gives the next block, of which the octets left are put in front, in
// exchange for the buffer that they are in. ok is false when part of a block was
// already given by Read.
func (a *Ahead) swap(old room, left []byte) (next block, ok bool) {
	if len(a.rest) > 0 || a.cur.err != nil {
		return block{}, false
	}
	if a.cur.buf != nil {
		a.give(a.cur.room)
		a.cur.buf = nil
	}
	next, open := a.next()
	if !open {
		return block{err: io.EOF}, true
	}
	copy(next.buf[aheadRoom-len(left):], left)
	if a.lent {
		if len(old.buf) != aheadRoom+readSize {
			// It grew for a long record; the number of blocks stays.
			old.buf = make([]byte, aheadRoom+readSize)
		}
		a.give(old)
	}
	a.lent = true
	return next, true
}

package readahead

import (
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// Source is a source to read ahead. Frames are handed over in batches: one that waits, as a
// pipe does, should be a [Waiting].
type Source interface {
	capture.Source
	// Lend makes it read into buffers from lend, see [pcapng.Reader.Lend].
	Lend(lend func(done []byte) []byte)
}

// Waiting is a source that may wait. What came before is handed over then.
type Waiting interface {
	Source
	// Before has it call a function before it may wait, see [pcapng.Reader.Before].
	Before(f func() bool)
}

// Options of a Reader. The zero value will do.
type Options struct {
	// Checksums verifies those of TCP.
	Checksums bool
	// MaxNumbers bounds the endpoints that are distinguished; 0 stands for MaxNumbers.
	MaxNumbers int
	// Always makes notes for every frame, without balancing the work; Bare makes none.
	Always, Bare bool
	// Waits: the source is a [Waiting] that does wait.
	Waits bool
	// Shard is the part of the connections that notes are made for.
	Shard packet.Shard
	// Parts is how many parts of the connections notes distinguish, see [Note.Part]; 0: none.
	Parts uint32
	// Packets keeps what was decoded of each frame of TCP, see [Batch.Packet].
	Packets bool
	// Look is called for each of these frames, in the goroutine that reads: what it returns
	// is kept with the frame, see [Batch.Looked].
	Look func(*capture.Frame, *packet.Packet) uint64
}

const (
	// buffers of pcapng.LentSize octets, and batches, are under way.
	buffers = 6
	batches = Batches
	// batchSize is how many frames are handed over together.
	batchSize = 128
	// enough is how many batches must be queued for the ordered side before notes are
	// made for another one.
	enough = 2
)

// Batches is how many batches there are.
const Batches = 24

// Reader reads a source ahead. Close must be called.
type Reader struct {
	src      Source
	opt      Options
	noter    noter
	filled   chan *Batch
	done     chan *Batch
	free     chan []byte   // buffers to read into; nil: one is still to be made
	released chan struct{} // a buffer larger than others was given back
	large    atomic.Bool   // there was one
	quit     chan struct{}
	once     sync.Once

	panicked error // why the goroutine ended, if it panicked

	latest int64 // of all times, if parts are distinguished

	cur  *Batch // that is being filled
	last *Batch // that was handed out, for the one who calls Next
	next *Batch // that was looked at, and not handed out
}

// Batch is frames that follow each other.
type Batch struct {
	frames [batchSize]capture.Frame
	notes  [batchSize]Note
	// packets are those of notes, nil if they are not kept.
	packets *[batchSize]packet.Packet
	looks   *[batchSize]uint64 // what Options.Look returned, nil without it
	turns   [][]Turn           // by part, nil if parts are not distinguished
	latest  int64              // of all times up to the last frame
	n       int
	noted   int    // of them, from the first on
	buf     []byte // free when the frames up to here are done with
	// Err is the error of the source after these frames.
	Err error
}

// Len is the number of frames.
func (b *Batch) Len() int { return b.n }

// Frame returns a frame, borrowed until the next batch.
func (b *Batch) Frame(i int) *capture.Frame { return &b.frames[i] }

// First is the number of the first frame, 0 if there is none. That of the others follows from it.
func (b *Batch) First() uint64 {
	if b.n == 0 {
		return 0 // who reads may still write to the place of a frame that goes to another batch
	}
	return b.frames[0].Number
}

// Note returns the note of a frame, or nil if it has none.
func (b *Batch) Note(i int) *Note {
	if i >= b.noted {
		return nil
	}
	return &b.notes[i]
}

// Fetch has the processor bring what there is of a frame into its caches: that of the reader has it.
func (b *Batch) Fetch(i int) {
	if i < b.noted {
		prefetch.Object(&b.notes[i])
	}
}

// Turn is a frame of a part of the connections.
type Turn struct {
	// Latest is the latest time of all frames up to it, of other parts as well, in nanoseconds since the Unix
	// epoch.
	Latest int64
	// At is its place in the batch.
	At uint8
}

// Turns are the frames of a part, in order, if parts are distinguished. A frame that is not known to be a
// TCP segment is in all of them.
func (b *Batch) Turns(part int) []Turn { return b.turns[part] }

// Latest is the latest time of all frames up to the last one, if parts are distinguished.
func (b *Batch) Latest() int64 { return b.latest }

// Packet returns what a frame holds whose note says that it is TCP, or nil if packets are
// not kept. It is borrowed as the frame is.
func (b *Batch) Packet(i int) *packet.Packet {
	if b.packets == nil {
		return nil
	}
	return &b.packets[i]
}

// Looked returns what [Options.Look] said of a frame, if it was called.
func (b *Batch) Looked(i int) (bits uint64, ok bool) {
	if b.looks == nil || b.Note(i).Kind() != TCP {
		return 0, false
	}
	return b.looks[i], true
}

// Start starts to read a source.
func Start(src Source, opt Options) *Reader {
	if opt.MaxNumbers == 0 {
		opt.MaxNumbers = MaxNumbers
	}
	r := &Reader{
		src: src, opt: opt, noter: noter{numbers: numbers{bound: opt.MaxNumbers, seed: maphash.MakeSeed(), parts: opt.Parts}, sums: opt.Checksums, shard: opt.Shard},
		filled: make(chan *Batch, batches), done: make(chan *Batch, batches), free: make(chan []byte, buffers),
		released: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	lent, handed := buffers, batches
	if opt.Parts > 0 {
		lent, handed = 4, 16 // who shares them needs memory for other things, and more time than the reader
	}
	for range handed {
		r.done <- nil
	}
	src.Lend(r.lend)
	for range lent - 1 { // the source has one already
		r.free <- nil
	}
	if w, ok := src.(Waiting); ok && opt.Waits {
		w.Before(r.flush)
	}
	go r.run()
	return r
}

// run reads all frames.
func (r *Reader) run() {
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Errorf("%v\n\nin the goroutine that reads:\n%s", p, debug.Stack())
		}
		close(r.filled)
	}()
	r.begin()
	for r.cur != nil {
		// A frame is read into its place: to copy it there takes a tenth of the time. The source may ask
		// for another buffer, and so begin another batch.
		b := r.cur
		f := &b.frames[b.n]
		err := r.src.Next(f)
		if b = r.cur; b == nil {
			return
		}
		if err != nil {
			b.Err = err
			r.hand(nil)
			if final(err) {
				return
			}
			continue
		}
		if b.n > 0 && f.Number != b.First()+uint64(b.n) {
			r.hand(nil)
			if b = r.cur; b == nil {
				return
			}
		}
		if at := &b.frames[b.n]; at != f {
			*at, *f = *f, capture.Frame{} // the other batch may be handed over by now, up to the frame before
		}
		if !r.opt.Bare && b.noted == b.n && (b.n > 0 || r.opt.Always || len(r.filled) >= enough) {
			r.note(b)
		}
		if b.n++; b.n == batchSize {
			r.hand(nil)
		}
	}
}

// note makes the note of the last frame of a batch.
func (r *Reader) note(b *Batch) {
	f, n, p := &b.frames[b.n], &b.notes[b.n], &r.noter.packet
	if b.packets != nil {
		p = &b.packets[b.n]
	}
	r.noter.note(f, n, p)
	if b.looks != nil && n.Kind() == TCP {
		b.looks[b.n] = r.opt.Look(f, p)
	}
	b.noted++
	if b.turns != nil {
		r.turn(f, n, b)
	}
}

// turn notes which parts the frame is of.
func (r *Reader) turn(f *capture.Frame, n *Note, b *Batch) {
	r.latest = max(r.latest, f.Moment())
	b.latest = r.latest
	t := Turn{b.latest, uint8(b.n)} //nolint:gosec // below batchSize
	if n.Kind() == TCP {
		b.turns[n.Part] = append(b.turns[n.Part], t)
		return
	}
	for i := range b.turns {
		b.turns[i] = append(b.turns[i], t)
	}
}

// final reports whether an error of the source ends the input.
func final(err error) bool {
	var damage *capture.Error
	return !errors.As(err, &damage) || !damage.Resume
}

// begin begins a batch, unless the reader was closed.
func (r *Reader) begin() {
	select {
	case <-r.quit:
		r.cur = nil
	case r.cur = <-r.done:
		if r.cur == nil {
			r.cur = new(Batch)
			if r.opt.Packets {
				r.cur.packets = new([batchSize]packet.Packet)
			}
			if r.opt.Parts > 0 {
				r.cur.turns = make([][]Turn, r.opt.Parts)
			}
			if r.opt.Look != nil {
				r.cur.looks = new([batchSize]uint64)
			}
		}
		r.cur.n, r.cur.noted, r.cur.buf, r.cur.Err = 0, 0, nil, nil
		r.cur.latest = r.latest
		for i := range r.cur.turns {
			r.cur.turns[i] = r.cur.turns[i][:0]
		}
	}
}

// hand hands the batch over, and begins another one.
func (r *Reader) hand(buf []byte) {
	r.cur.buf = buf
	r.filled <- r.cur // there is room for every batch
	r.begin()
}

// flush hands over what there is before the source may wait, and reports whether it is to go
// on.
func (r *Reader) flush() bool {
	if r.cur != nil && r.cur.n > 0 {
		r.hand(nil)
	}
	select {
	case <-r.quit:
		return false
	default:
		return r.cur != nil
	}
}

// lend gives the source another buffer once it is done with one.
func (r *Reader) lend(done []byte) (next []byte) {
	if r.cur != nil {
		r.hand(done)
	}
	if len(done) > pcapng.LentSize {
		// One at a time: memory stays bounded whatever lengths a file has.
		r.large.Store(true)
		select {
		case <-r.released:
		case <-r.quit:
		}
	}
	select {
	case next = <-r.free:
	case <-r.quit:
		r.cur = nil
	}
	if next == nil {
		next = make([]byte, pcapng.LentSize)
	}
	return next
}

// Next returns the next batch and takes back the previous one. It returns nil at the end. It
// panics if the source did: who calls it may have a terminal or a file to put in order.
func (r *Reader) Next() *Batch {
	if b := r.last; b != nil {
		r.Return(b)
	}
	if r.last, r.next = r.next, nil; r.last == nil {
		r.last = r.Take()
	}
	return r.last
}

// Take returns the next batch, as Next does, for those who share it: it is theirs until [Reader.Return].
func (r *Reader) Take() *Batch {
	b := <-r.filled
	if b == nil && r.panicked != nil {
		panic(r.panicked)
	}
	return b
}

// Return takes back a batch. They come in the order in which they were taken.
func (r *Reader) Return(b *Batch) {
	r.takeBack(b)
	if r.large.Load() {
		clear(b.frames[:b.n]) // so that they do not keep a large buffer
		clear(b.notes[:b.noted])
		if b.packets != nil {
			clear(b.packets[:b.noted])
		}
	}
	r.done <- b
}

// Peek returns the batch that Next will return, if it is there by now; else nil. Its frames and notes may be
// looked at until Next is called.
func (r *Reader) Peek() *Batch {
	if r.next == nil {
		select {
		case r.next = <-r.filled:
		default:
		}
	}
	return r.next
}

// takeBack makes the buffer of a batch free.
func (r *Reader) takeBack(b *Batch) {
	buf := b.buf
	switch b.buf = nil; {
	case buf == nil:
		return
	case len(buf) > pcapng.LentSize:
		r.released <- struct{}{}
		buf = nil
	case len(buf) < pcapng.LentSize:
		buf = nil
	}
	r.free <- buf
}

// Close ends the reading. When it returns, the source is no longer in use.
func (r *Reader) Close() {
	r.once.Do(func() {
		close(r.quit)
		for range r.filled { // until it is closed
		}
	})
}

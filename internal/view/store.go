package view

import (
	"context"
	"io"
	"sync"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Store is a capture that can be read again and again.
type Store interface {
	// Open begins a reading at the first frame that is still there. It ends early when the
	// context does. Frames that come while it reads are read too, if grows is set; else it may
	// end before them.
	Open(ctx context.Context, grows bool) (capture.Source, error)
	// Gone is how many frames at its beginning are no longer there.
	Gone() uint64
}

// File is a Store of something that can be opened again.
type File struct {
	// Source opens it.
	Source func() (capture.Source, error)
}

// Open implements [Store].
func (f File) Open(context.Context, bool) (capture.Source, error) { return f.Source() }

// Gone implements [Store]: a file has all of its frames.
func (f File) Gone() uint64 { return 0 }

// Frames is a Store of frames that come once, from an interface or a pipe: the last ones are
// kept in memory. One goroutine adds frames. The reading that is opened first is the main one:
// it misses no frame, who adds frames waits for it.
type Frames struct {
	most int

	mu     sync.Mutex
	news   *sync.Cond
	chunks []*chunk
	octets int
	gone   uint64 // frames that were dropped
	count  uint64
	over   bool
	err    error
	ticks  uint64
	ifaces []pcapng.Interface
	main   *reading
}

// chunk has the octets of some frames.
type chunk struct {
	frames []capture.Frame
	octets []byte
}

// chunkSize is how many octets are dropped together.
const chunkSize = 1 << 20

// NewFrames makes a store that keeps about so many octets.
func NewFrames(most int) *Frames {
	f := &Frames{most: max(most, 4*chunkSize)}
	f.news = sync.NewCond(&f.mu)
	return f
}

// frameWeight is what a frame takes besides its octets.
const frameWeight = 80

// Add adds a frame, whose octets are copied. It reports false when nobody wants more.
func (s *Frames) Add(f *capture.Frame) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	var c *chunk
	if n := len(s.chunks); n > 0 {
		c = s.chunks[n-1]
	}
	if c == nil || len(c.octets)+len(f.Data) > cap(c.octets) {
		c = &chunk{octets: make([]byte, 0, max(chunkSize, len(f.Data)))}
		s.chunks = append(s.chunks, c)
		s.octets += cap(c.octets)
	}
	own := *f
	at := len(c.octets)
	c.octets = append(c.octets, f.Data...)
	own.Data = c.octets[at:len(c.octets):len(c.octets)]
	c.frames = append(c.frames, own)
	s.octets += frameWeight
	s.count++
	s.news.Broadcast()
	for s.octets > s.most && len(s.chunks) > 1 {
		for s.needed() && !s.over {
			s.news.Wait()
		}
		was := s.chunks[0]
		s.octets -= cap(was.octets) + len(was.frames)*frameWeight
		s.gone += uint64(len(was.frames))
		s.chunks[0] = nil
		s.chunks = s.chunks[1:]
	}
	return true
}

// needed reports whether the main reading has not seen all of the oldest frames.
func (s *Frames) needed() bool {
	return s.main == nil || s.main.next < s.gone+uint64(len(s.chunks[0].frames))
}

// Interfaces says what the interfaces are.
func (s *Frames) Interfaces(of []pcapng.Interface) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ifaces = of
}

// End says that no more frames come, and why; nil: they are all.
func (s *Frames) End(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over, s.err = true, err
	}
	s.news.Broadcast()
}

// Gone implements [Store].
func (s *Frames) Gone() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// Open implements [Store]. A reading that grows waits for frames until End is called.
func (s *Frames) Open(ctx context.Context, grows bool) (capture.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &reading{s: s, ctx: ctx, next: s.gone, until: ^uint64(0)}
	if !grows {
		r.until = s.count
	} else if s.main == nil {
		s.main = r
	}
	r.forget = context.AfterFunc(ctx, s.wake)
	return r, nil
}

// Tick says that time passes without frames.
func (s *Frames) Tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ticks++
	s.news.Broadcast()
}

func (s *Frames) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news.Broadcast()
}

// reading is a source of the frames of a store.
type reading struct {
	s      *Frames
	ctx    context.Context //nolint:containedctx // of this reading alone
	forget func() bool
	next   uint64 // the frame to hand out, from 0
	until  uint64 // the frame that it ends before
	chunk  *chunk
	first  uint64 // frame of chunk
}

// Next implements [capture.Source].
func (r *reading) Next(f *capture.Frame) error {
	ok, err := r.wait(f, nil)
	if !ok && err == nil {
		return io.EOF
	}
	return err
}

// wait returns the next frame. It reports false when the store was told to tick since tick, which
// it sets; nil never ends the waiting.
func (r *reading) wait(f *capture.Frame, tick *uint64) (bool, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if r.ctx.Err() != nil || r.next >= r.until {
			return false, io.EOF
		}
		if r.next < s.gone {
			r.next, r.chunk = s.gone, nil
		}
		if r.find() {
			*f = r.chunk.frames[r.next-r.first]
			r.next++
			if s.main == r {
				s.news.Broadcast()
			}
			return true, nil
		}
		if s.over {
			if s.err != nil && s.main == r {
				return false, s.err
			}
			return false, io.EOF
		}
		if tick != nil && *tick != s.ticks {
			*tick = s.ticks
			return false, nil
		}
		s.news.Wait()
	}
}

// find finds the chunk of the next frame.
func (r *reading) find() bool {
	if r.chunk != nil && r.next-r.first < uint64(len(r.chunk.frames)) {
		return true
	}
	at := r.s.gone
	for _, c := range r.s.chunks {
		if r.next < at+uint64(len(c.frames)) {
			r.chunk, r.first = c, at
			return true
		}
		at += uint64(len(c.frames))
	}
	return false
}

// Name implements [capture.Source].
func (r *reading) Name() string { return "-" }

// Interfaces are those of the capture.
func (r *reading) Interfaces() []pcapng.Interface {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.ifaces
}

// Close implements [capture.Source].
func (r *reading) Close() error {
	r.forget()
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.main == r { // nobody misses frames any more
		s := r.s
		r.next = ^uint64(0)
		s.news.Broadcast()
	}
	return nil
}

package link

import (
	"container/heap"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Feed is what a capture point hands to [Merge] in place of writing it: frames
// in blocks, in the order of their stamps.
type Feed struct {
	full, empty chan *block
	stop        atomic.Bool
}

// block is a run of frames.
type block struct {
	frames []feedFrame
	octets []byte
}

type feedFrame struct {
	rec  pcapng.Record
	size int
}

const (
	blockSize = 256 << 10
	// blocks are under way at most for each feed; they bound the memory.
	blocks = 2
)

// NewFeed returns a capture point that writes nothing itself. Its capture has
// neither clock steps nor an offset nor another order than that of time.
func NewFeed(c Capture) (*Tap, *Feed) {
	f := &Feed{full: make(chan *block, blocks), empty: make(chan *block, blocks+1)}
	t := &Tap{cfg: c, feed: f, rnd: rand.New(rand.NewPCG(c.Seed, 9))}
	t.block = &block{}
	return t, f
}

// add keeps a frame for the next block.
func (t *Tap) add(rec *pcapng.Record) {
	b := t.block
	b.frames = append(b.frames, feedFrame{*rec, len(rec.Data)})
	b.octets = append(b.octets, rec.Data...)
	if len(b.octets) >= blockSize {
		t.hand()
	}
}

// hand hands the block on.
func (t *Tap) hand() {
	t.feed.full <- t.block
	if t.feed.stop.Load() {
		t.failed.Store(true)
	}
	select {
	case t.block = <-t.feed.empty:
		t.block.frames, t.block.octets = t.block.frames[:0], t.block.octets[:0]
	default:
		t.block = &block{}
	}
}

// source is a feed in the merger: the block at hand and how far it is written.
type source struct {
	feed  *Feed
	order int
	block *block
	next  int
	at    int
}

// fill sees to it that there is a current frame, and reports whether there is.
func (s *source) fill() bool {
	for s.block == nil || s.next == len(s.block.frames) {
		if s.block != nil {
			select {
			case s.feed.empty <- s.block:
			default:
			}
		}
		b, ok := <-s.feed.full
		if !ok {
			return false
		}
		s.block, s.next, s.at = b, 0, 0
	}
	return true
}

// sources is a heap by the stamp of the current frame.
type sources []*source

func (h sources) Len() int { return len(h) }
func (h sources) Less(i, j int) bool {
	a, b := h[i].block.frames[h[i].next].rec.Time, h[j].block.frames[h[j].next].rec.Time
	return a < b || a == b && h[i].order < h[j].order
}
func (h sources) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *sources) Push(x any)   { *h = append(*h, x.(*source)) }
func (h *sources) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Merge writes what the feeds give as one capture, by time; of frames of one
// moment those of the earlier feed come first. It returns when all feeds have
// ended, with the number of frames and octets.
func Merge(w io.Writer, c Capture, feeds []*Feed) (frames, octets uint64, err error) {
	t, err := NewTap(w, c)
	var h sources
	for i, f := range feeds {
		if s := (&source{feed: f, order: i}); s.fill() {
			h = append(h, s)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		s := h[0]
		f := &s.block.frames[s.next]
		if err == nil {
			f.rec.Data = s.block.octets[s.at : s.at+f.size]
			t.write(&f.rec)
			if err = t.err; err != nil {
				for _, f := range feeds {
					f.stop.Store(true)
				}
			}
		}
		s.next++
		s.at += f.size
		if s.fill() {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	if err == nil {
		err = t.Close()
		frames, octets = t.count, t.octets
	}
	return frames, octets, err
}

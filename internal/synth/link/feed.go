package link

import (
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

// feedFrame is a frame of a block: what the block knows of its record.
type feedFrame struct {
	time       int64
	size, orig uint32
	side       uint32 // the interface
}

const (
	blockSize = 256 << 10
	// fullBlocks wait at most for each feed, and one empty one; with the one that is filled and
	// the one that is written they bound the memory.
	fullBlocks = 1
	// margin is what a block may have more, for the frame that fills it.
	margin = 4 << 10
)

// NewFeeds returns capture points that write nothing themselves. Their capture has
// neither clock steps nor an offset nor another order than that of time.
func NewFeeds(c Capture, n int) ([]*Tap, []*Feed) {
	taps, feeds := make([]*Tap, n), make([]*Feed, n)
	empty := make(chan *block, n)
	for i := range feeds {
		feeds[i] = &Feed{full: make(chan *block, fullBlocks), empty: empty}
		taps[i] = &Tap{cfg: c, feed: feeds[i], rnd: rand.New(rand.NewPCG(c.Seed, 9))}
	}
	return taps, feeds
}

// feeds is told of a packet that passes. Its frame is made where it is to be, unless there is
// more to it than that.
func (t *Tap) feeds(now int64, p *Packet) {
	if t.tunnels != nil || t.fragment > 0 || p.Orders.BadChecksum || t.cfg.Offload[p.Side] {
		t.render(now, p, t.fragment)
		return
	}
	b := t.filling()
	at := len(b.octets)
	b.octets = p.frame(&t.build).Append(b.octets)
	rec := &t.rec
	if !t.record(rec, now, p, len(b.octets)-at) {
		b.octets = b.octets[:at]
		return
	}
	if n := t.cfg.Snaplen; n > 0 && len(b.octets)-at > n {
		b.octets = b.octets[:at+n]
	}
	t.added(rec, len(b.octets)-at)
}

// add keeps a frame for the next block.
func (t *Tap) add(rec *pcapng.Record) {
	b := t.filling()
	b.octets = append(b.octets, rec.Data...)
	t.added(rec, len(rec.Data))
}

// added is told that the octets of a frame are in the block.
func (t *Tap) added(rec *pcapng.Record, size int) {
	b := t.block
	b.frames = append(b.frames, feedFrame{rec.Time, uint32(size), rec.OrigLen, uint32(rec.Interface)}) //nolint:gosec // of a frame
	if len(b.octets) >= blockSize {
		t.hand()
	}
}

// filling is the block at hand.
func (t *Tap) filling() *block {
	if t.block != nil {
		return t.block
	}
	select {
	case t.block = <-t.feed.empty:
		t.block.frames, t.block.octets = t.block.frames[:0], t.block.octets[:0]
	default:
		t.block = &block{octets: make([]byte, 0, blockSize+margin)}
	}
	return t.block
}

// hand hands the block on, if there is one.
func (t *Tap) hand() {
	if t.block == nil {
		return
	}
	t.feed.full <- t.block
	t.block = nil
	if t.feed.stop.Load() {
		t.failed.Store(true)
	}
}

// source is a feed in the merger: the block at hand and how far it is written.
type source struct {
	time  int64 // of the current frame
	order int
	feed  *Feed
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
	s.time = s.block.frames[s.next].time
	return true
}

// take is the current frame; the next one is current then.
func (s *source) take(rec *pcapng.Record) {
	f := &s.block.frames[s.next]
	rec.Time, rec.OrigLen, rec.Interface = f.time, f.orig, int(f.side)
	rec.Data = s.block.octets[s.at : s.at+int(f.size)]
	s.next++
	s.at += int(f.size)
}

// sources is a heap by the stamp of the current frame.
type sources []*source

func (s *source) before(o *source) bool {
	return s.time < o.time || s.time == o.time && s.order < o.order
}

// down lets the i-th source sink to its place.
func (h sources) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
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
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	rec := pcapng.Record{Link: pcapng.LinkType(c.Link)}
	for len(h) > 0 {
		s := h[0]
		s.take(&rec)
		if err == nil {
			t.write(&rec)
			if err = t.err; err != nil {
				for _, f := range feeds {
					f.stop.Store(true)
				}
			}
		}
		if !s.fill() {
			last := len(h) - 1
			h[0] = h[last]
			h = h[:last]
		}
		h.down(0)
	}
	if err == nil {
		err = t.Close()
		frames, octets = t.count, t.octets
	}
	return frames, octets, err
}

package capture

import (
	"fmt"
	"sync"
	"time"
)

// remarks are what is odd about the times of files that are read as one capture, in sentences.
// They are filled by the goroutine that reads, and may be asked by any other.
type remarks struct {
	mu   sync.Mutex
	list []string
}

func (r *remarks) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf(format, args...))
}

// all are those so far.
func (r *remarks) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list[:len(r.list):len(r.list)]
}

// span is the time that frames of a file take.
type span struct {
	name        string
	first, last int64 // last is the latest
	known       bool

	// Of frames that are earlier than one before them: how many, the first of them, and by
	// how much at most.
	back    uint64
	backAt  uint64
	largest int64
}

const (
	// leastBack is by how much a frame has to be earlier than one before it to be worth a
	// word: several queues of an adapter, or processors, mix frames that are closer.
	leastBack = int64(10 * time.Millisecond)
	// leastHole is how long nothing was captured between two files, at least, to be worth a
	// word, if it is also half as long as the shorter of them.
	leastHole = int64(time.Second)
)

// see takes in a frame, by its number in the file.
func (s *span) see(fr *Frame, own uint64) {
	switch {
	case fr.NoTime:
	case !s.known:
		s.first, s.last, s.known = fr.Time, fr.Time, true
	case fr.Time >= s.last:
		s.last = fr.Time
	case s.last-fr.Time >= leastBack:
		if s.back++; s.back == 1 {
			s.backAt = own
		}
		s.largest = max(s.largest, s.last-fr.Time)
	}
}

// end remarks on a file that was read.
func (s *span) end(r *remarks) {
	if s.back > 0 {
		frames := "1 frame"
		if s.back > 1 {
			frames = fmt.Sprintf("%d frames", s.back)
		}
		r.add("%s: time goes back: %s, the first is frame %d, by up to %v", s.name, frames, s.backAt, rounded(s.largest))
	}
}

// follows remarks on a file that begins behind another one.
func (s *span) follows(before *span, r *remarks) {
	if !before.known || !s.known {
		return
	}
	gap := s.first - before.last
	switch shorter := min(before.last-before.first, s.last-s.first); {
	case gap < 0 && -gap >= leastBack:
		r.add("%s begins %v before %s ends: if they are of two taps or queues of one point, read them with --merge", s.name, rounded(-gap), before.name)
	case gap >= leastHole && gap >= shorter/2:
		r.add("nothing was captured for %v between %s and %s: a file between them may be missing", rounded(gap), before.name, s.name)
	}
}

// rounded is a duration that is easy to read.
func rounded(ns int64) time.Duration {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			return d.Round(unit / 10)
		}
	}
	return d
}

package pipeline

import (
	"sync"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// Hope is that all CRCs are right, and the checksums of senders whose checksums are:
// they are verified behind the run, by whoever reads the file, as long as the octets
// are in its cache. A sink that keeps back what it was shown until that much of it
// has come true may write in a hopeful run.
type Hope struct {
	crcs *mpa.Deferred
	// claims are the checksums of TCP, packets those of SCTP with what they are of.
	claims  *later[packet.Claim]
	packets *later[[]byte]
	file    *capture.File

	taken uint64 // parts of the work that were taken
	sure  atomic.Uint64
	mu    sync.Mutex
	done  map[uint64]bool // parts that were done before their turn
}

func newHope(f *capture.File) *Hope {
	return &Hope{
		crcs: mpa.NewDeferred(), claims: newLater((*packet.Claim).Holds), file: f,
		packets: newLater(func(b *[]byte) bool { return sctp.Check(*b, len(*b)) == sctp.Good }),
	}
}

// take returns the next part of the work: what verifies all that was put off since
// the last call. It may be done in another goroutine, and parts out of order.
func (h *Hope) take() func() {
	crcs, sums, packets, n := h.crcs.Take(), h.claims.take(), h.packets.take(), h.taken
	h.taken++
	return func() {
		crcs()
		sums()
		packets()
		if !h.bad() {
			h.over(n)
		}
	}
}

// over notes that a part of the work showed nothing wrong.
func (h *Hope) over(n uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := h.sure.Load()
	if n > next {
		if h.done == nil {
			h.done = map[uint64]bool{}
		}
		h.done[n] = true
		return
	}
	for next++; h.done[next]; next++ {
		delete(h.done, next)
	}
	h.sure.Store(next)
}

// Mark names what the run has shown so far: it has come true with the part of the
// work that is taken next.
func (h *Hope) Mark() uint64 { return h.taken + 1 }

// Sure reports whether all that was shown up to a mark has come true.
func (h *Hope) Sure(mark uint64) bool { return h.sure.Load() >= mark }

// bad reports whether something was wrong.
func (h *Hope) bad() bool { return h.crcs.Bad() || h.claims.broken.Load() || h.packets.broken.Load() }

// Settle verifies what is left, and waits for what is under way.
func (h *Hope) Settle() {
	h.take()()
	h.file.Settled()
}

// later are things to be verified.
type later[T any] struct {
	holds   func(*T) bool
	pending []T
	spare   chan []T
	broken  atomic.Bool
}

func newLater[T any](holds func(*T) bool) *later[T] {
	return &later[T]{holds: holds, spare: make(chan []T, maxSpare)}
}

// maxSpare is more lists than there are blocks.
const maxSpare = 16

func (l *later[T]) add(x T) { l.pending = append(l.pending, x) }

func (l *later[T]) take() func() {
	list := l.pending
	select {
	case l.pending = <-l.spare:
	default:
		l.pending = nil
	}
	holds := l.holds // not to share a cache line with who adds
	return func() {
		for i := range list {
			if !holds(&list[i]) {
				l.broken.Store(true)
				break
			}
		}
		clear(list)
		select {
		case l.spare <- list[:0]:
		default:
		}
	}
}

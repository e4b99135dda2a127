package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// groupRetire is [Options].Retire of the captures of a group: while one
	// interface is idle but for a few packets, those of the others wait for
	// its blocks.
	groupRetire = 10 * time.Millisecond
	// settled is how old a packet must be for others that came before it to
	// lie in the rings of their interfaces.
	settled = 3 * time.Millisecond
)

// Group is several captures at once, whose packets come in the order of their
// time. As with [Handle], Next and Release belong to one goroutine; Close,
// Stats and LinkTypes may be called from any.
type Group struct {
	handles []*Handle
	// Owned by the goroutine that calls Next.
	pending []Packet // the next packet of each capture, if has
	has     []bool
	over    []bool // nothing more comes
	polled  []unix.PollFd
	failure error
}

// OpenAll starts to capture on several interfaces, or on one.
func OpenAll(opts []Options) (*Group, error) {
	g := &Group{
		pending: make([]Packet, len(opts)), has: make([]bool, len(opts)), over: make([]bool, len(opts)),
	}
	for _, o := range opts {
		if len(opts) > 1 && o.Retire == 0 {
			o.Retire = groupRetire
		}
		h, err := Open(o)
		if err != nil {
			_ = g.Release() // the first error is the one to report
			return nil, err
		}
		g.handles = append(g.handles, h)
	}
	return g, nil
}

// LinkTypes returns the link type of each capture.
func (g *Group) LinkTypes() []uint16 {
	types := make([]uint16, len(g.handles))
	for i, h := range g.handles {
		types[i] = h.LinkType()
	}
	return types
}

// Next is [Handle.Next] of all captures: the packet with the earliest time
// comes first, as far as the rings tell. If one of the interfaces goes away,
// the whole group ends, with the error behind the last packet.
func (g *Group) Next(p *Packet, wait time.Duration) (bool, error) {
	if len(g.handles) == 1 {
		return g.handles[0].Next(p, wait)
	}
	var deadline time.Time
	for {
		first, all, err := g.look()
		if err != nil {
			return false, err
		}
		now := time.Now()
		left := time.Duration(-1)
		if first >= 0 {
			if left = g.unsettled(first, all, now); left <= 0 {
				*p = g.pending[first]
				p.Source = first
				g.has[first] = false
				return true, nil
			}
		}
		if wait >= 0 {
			if deadline.IsZero() {
				deadline = now.Add(wait)
			}
			until := deadline.Sub(now)
			if until <= 0 {
				return false, nil
			}
			if left < 0 || until < left {
				left = until
			}
		}
		if err := g.poll(left); err != nil {
			return false, err
		}
	}
}

// look takes the next packet of each capture, and returns which of them is the
// first; -1 if there is none. all tells that each capture has one or is over.
func (g *Group) look() (first int, all bool, err error) {
	first, all = -1, true
	over := true
	for i, h := range g.handles {
		if !g.has[i] && !g.over[i] {
			ok, err := h.Next(&g.pending[i], 0)
			switch {
			case errors.Is(err, io.EOF):
				g.over[i] = true
			case err != nil:
				g.over[i] = true
				if g.failure == nil {
					g.failure = err
				}
				_ = g.Close() // the failure is the one to report
			}
			g.has[i] = ok
		}
		over = over && g.over[i] && !g.has[i]
		all = all && (g.has[i] || g.over[i])
		if g.has[i] && (first < 0 || g.pending[i].Time < g.pending[first].Time) {
			first = i
		}
	}
	if over {
		if g.failure != nil {
			return first, all, g.failure
		}
		return first, all, io.EOF
	}
	return first, all, nil
}

// unsettled is how long the first packet has to wait for others that may be
// earlier.
func (g *Group) unsettled(first int, all bool, now time.Time) time.Duration {
	if all {
		return 0
	}
	hold := settled
	for i, h := range g.handles {
		if !g.has[i] && !g.over[i] && h.open() {
			hold = 2*h.retire + settled
		}
	}
	// A clock that was set must not hold anything up.
	left := hold - time.Duration(now.UnixNano()-g.pending[first].Time)
	if left > hold {
		return 0
	}
	return left
}

// open reports whether packets lie in a block that the kernel has not handed
// over. The number may be that of a moment ago.
func (h *Handle) open() bool {
	if h.mem == nil {
		return false
	}
	b := h.block(h.current)
	return atomic.LoadUint32(blockStatus(b))&statusUser == 0 && binary.NativeEndian.Uint32(b[blockPacketsOff:]) > 0
}

// poll sleeps until one of the captures that have no packet gets one, Close is
// called, or left has passed; negative is for ever.
func (g *Group) poll(left time.Duration) error {
	g.polled = g.polled[:0]
	for i, h := range g.handles {
		if g.has[i] || g.over[i] {
			continue
		}
		g.polled = append(g.polled, unix.PollFd{Fd: int32(h.sock), Events: unix.POLLIN | unix.POLLERR}) //nolint:gosec // a descriptor
		if h.closed.Load() {
			// Its wake descriptor stays readable, so it is looked at now and then.
			if left < 0 || left > h.retire {
				left = h.retire
			}
			continue
		}
		g.polled = append(g.polled, unix.PollFd{Fd: int32(h.wake), Events: unix.POLLIN}) //nolint:gosec // as above
	}
	ms := -1
	if left >= 0 {
		ms = int((min(left, longestPoll) + time.Millisecond - 1) / time.Millisecond)
	}
	if _, err := unix.Poll(g.polled, ms); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("live: wait for packets: %w", err)
	}
	for _, fd := range g.polled {
		if fd.Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) == 0 {
			continue
		}
		for i, h := range g.handles {
			if !g.over[i] && h.sock == int(fd.Fd) {
				h.fail()
			}
		}
	}
	return nil
}

// Stats returns the sum of the kernel's counters.
func (g *Group) Stats() (Stats, error) {
	var sum Stats
	errs := make([]error, 0, len(g.handles))
	for _, h := range g.handles {
		s, err := h.Stats()
		errs = append(errs, err)
		sum.Received += s.Received
		sum.Dropped += s.Dropped
		sum.FreezeCount += s.FreezeCount
	}
	return sum, errors.Join(errs...)
}

// Close is [Handle.Close] of all captures.
func (g *Group) Close() error {
	errs := make([]error, 0, len(g.handles))
	for _, h := range g.handles {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// Release is [Handle.Release] of all captures.
func (g *Group) Release() error {
	errs := make([]error, 0, len(g.handles))
	for i, h := range g.handles {
		g.has[i], g.over[i] = false, true
		errs = append(errs, h.Release())
	}
	return errors.Join(errs...)
}

package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// drainLimit bounds how long Next waits for a block that holds packets but is
// not handed over, when the capture has been closed.
const drainLimit = time.Second

// longestPoll keeps the wait of one poll within the range of a C int; Next
// polls again.
const longestPoll = time.Hour

// Handle is an open capture. Next and Release belong to one goroutine; Close,
// Stats and LinkType may be called from any.
type Handle struct {
	name   string
	link   uint16
	retire time.Duration

	// Owned by the goroutine that calls Next.
	mem        []byte
	blockBytes int
	blocks     int
	current    int  // the block that is walked or comes next
	held       bool // current belongs to us and not to the kernel
	walk       walker
	polled     [2]unix.PollFd
	drainSince time.Time
	failure    error // why the capture ended by itself

	closed atomic.Bool

	mu    sync.Mutex // guards the descriptors against reuse, and stats
	sock  int
	wake  int
	stats Stats
}

// LinkType returns the link type of the frames, numbered as in capture files.
func (h *Handle) LinkType() uint16 { return h.link }

// Next describes the next packet in p. It returns false without an error when
// none came within wait; a negative wait has no end, zero does not wait. After
// Close it returns the packets that were captured before, then io.EOF. When
// the interface goes away it does the same, with an error that says so.
func (h *Handle) Next(p *Packet, wait time.Duration) (bool, error) {
	var deadline time.Time
	for {
		if ok, err := h.walk.next(p); ok || err != nil {
			return ok, err
		}
		h.giveBack()
		if h.mem == nil {
			return false, h.end()
		}
		ready, err := h.take()
		if err != nil {
			return false, err
		}
		if ready {
			continue
		}
		now := time.Now()
		if deadline.IsZero() && wait >= 0 {
			deadline = now.Add(wait)
		}
		left := time.Duration(-1)
		if h.closed.Load() {
			if left = h.drainFor(now); left <= 0 {
				_ = h.Release() // what was captured is delivered; nothing can be lost now
				return false, h.end()
			}
		}
		if wait >= 0 {
			until := deadline.Sub(now)
			if until <= 0 {
				return false, nil
			}
			if left < 0 || until < left {
				left = until
			}
		}
		if err := h.poll(left); err != nil {
			return false, err
		}
	}
}

func (h *Handle) end() error {
	if h.failure != nil {
		return h.failure
	}
	return io.EOF
}

// block returns block i of the ring.
func (h *Handle) block(i int) []byte {
	return h.mem[i*h.blockBytes : (i+1)*h.blockBytes : (i+1)*h.blockBytes]
}

// blockStatus is the word by which a block changes hands. It is read and
// written atomically: what the kernel wrote before it must be seen after it.
func blockStatus(block []byte) *uint32 {
	return (*uint32)(unsafe.Pointer(&block[blockStatusOff]))
}

// take starts the current block when the kernel has handed it over.
func (h *Handle) take() (bool, error) {
	b := h.block(h.current)
	if atomic.LoadUint32(blockStatus(b))&statusUser == 0 {
		return false, nil
	}
	h.held = true
	return true, h.walk.reset(b)
}

// giveBack returns the current block to the kernel. The count is cleared so
// that drainFor can tell packets of the next round from those of this one.
func (h *Handle) giveBack() {
	if !h.held {
		return
	}
	b := h.block(h.current)
	binary.NativeEndian.PutUint32(b[blockPacketsOff:], 0)
	atomic.StoreUint32(blockStatus(b), 0)
	h.held = false
	h.current = (h.current + 1) % h.blocks
}

// drainFor returns how long to wait for packets that were captured before
// Close and lie in a block that is not full: it comes after one to two periods
// of the kernel's timer, later on a busy machine. Zero means there are none.
func (h *Handle) drainFor(now time.Time) time.Duration {
	if h.drainSince.IsZero() {
		h.drainSince = now
	}
	waited := now.Sub(h.drainSince)
	if waited < 2*h.retire {
		return 2*h.retire - waited
	}
	if binary.NativeEndian.Uint32(h.block(h.current)[blockPacketsOff:]) > 0 && waited < drainLimit {
		return min(h.retire, drainLimit-waited)
	}
	return 0
}

// poll sleeps until a block is handed over, Close is called, or left has
// passed; negative is for ever. A signal may end it early.
func (h *Handle) poll(left time.Duration) error {
	h.polled[0] = unix.PollFd{Fd: int32(h.sock), Events: unix.POLLIN | unix.POLLERR}
	h.polled[1] = unix.PollFd{Fd: int32(h.wake), Events: unix.POLLIN}
	fds := h.polled[:]
	if h.closed.Load() {
		fds = fds[:1] // the wake descriptor stays readable
	}
	ms := -1
	if left >= 0 {
		ms = int((min(left, longestPoll) + time.Millisecond - 1) / time.Millisecond)
	}
	if _, err := unix.Poll(fds, ms); err != nil {
		if errors.Is(err, unix.EINTR) {
			return nil
		}
		return fmt.Errorf("live: wait for packets: %w", err)
	}
	if h.polled[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
		h.fail()
	}
	return nil
}

// fail ends the capture for the error pending on the socket. What is in the
// ring is delivered first, as after Close.
func (h *Handle) fail() {
	code, err := unix.GetsockoptInt(h.sock, unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		h.failure = fmt.Errorf("live: capture on %q: %w", h.name, err)
	case code == 0:
		return
	case unix.Errno(code) == unix.ENETDOWN:
		h.failure = &Error{fmt.Sprintf("interface %q went down or was removed", h.name), unix.ENETDOWN}
	default:
		h.failure = fmt.Errorf("live: capture on %q: %w", h.name, unix.Errno(code))
	}
	_ = h.Close() // the failure that ended the capture is the one to report
}

// Stats returns the kernel's counters since Open. It may be called after the
// end of the capture.
func (h *Handle) Stats() (Stats, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.addStats()
	return h.stats, err
}

// addStats adds what the kernel counted since the last call: it starts again
// from zero with every read.
func (h *Handle) addStats() error {
	if h.sock < 0 {
		return nil
	}
	s, err := unix.GetsockoptTpacketStatsV3(h.sock, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return fmt.Errorf("live: kernel counters: %w", err)
	}
	h.stats.Received += uint64(s.Packets)
	h.stats.Dropped += uint64(s.Drops)
	h.stats.FreezeCount += uint64(s.Freeze_q_cnt)
	return nil
}

// Close stops the reception and wakes Next, which delivers what was captured
// so far and then returns io.EOF. It does not wait, may be called from any
// goroutine, and more than once.
func (h *Handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sock < 0 || h.closed.Load() {
		return nil
	}
	// A filter that drops everything stops the flow without touching what is
	// in the ring; closing the socket would not wake a thread in poll.
	err := attach(h.sock, []bpf.RawInstruction{{Op: opRetConstant, K: dropAll}})
	h.closed.Store(true)
	one := [8]byte{}
	binary.NativeEndian.PutUint64(one[:], 1)
	if _, werr := unix.Write(h.wake, one[:]); err == nil {
		err = werr
	}
	if err != nil {
		return fmt.Errorf("live: stop capture: %w", err)
	}
	return nil
}

// Release ends the capture at once and gives its memory back, with whatever is
// unread. Only the goroutine that calls Next may call it, and the Data of the
// last packet is gone with it. It does nothing after Next has returned io.EOF.
func (h *Handle) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed.Store(true)
	h.held, h.walk.left, h.walk.block = false, 0, nil
	if h.sock < 0 {
		return nil
	}
	errs := []error{h.addStats()}
	if h.mem != nil {
		errs = append(errs, unix.Munmap(h.mem))
		h.mem = nil
	}
	if h.wake >= 0 {
		errs = append(errs, unix.Close(h.wake))
	}
	errs = append(errs, unix.Close(h.sock))
	h.sock, h.wake = -1, -1
	return errors.Join(errs...)
}

// networkOrder returns v such that its octets lie in memory in network order.
func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

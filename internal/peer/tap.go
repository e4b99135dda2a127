package peer

import (
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Tap writes a capture of connections on sockets. One of TCP shows no segments, so the packets are
// made up: one for each FPDU or startup frame that was written, one for each run of octets that
// was read, with an acknowledgement right behind it. What the peer acknowledges is asked of the kernel. The options of the SYNs are cut off, as
// by a snap length, so that there is no MSS: rules about segment sizes and alignment have no
// evidence then.
type Tap struct {
	mu   sync.Mutex
	w    *pcapng.Writer
	last int64
	err  error
}

// TapNote is what the interface description of such a capture says.
const TapNote = "written by a peer on a socket: packets and acknowledgements of TCP, and the headers below SCTP, are made up; segment sizes of TCP say nothing"

// NewTap returns a tap that writes pcapng.
func NewTap(w io.Writer) (*Tap, error) {
	pw, err := pcapng.NewWriter(w, pcapng.WriterOptions{Format: pcapng.PCAPNG, Application: "iwdissect", Comment: TapNote})
	if err != nil {
		return nil, err
	}
	if _, err := pw.AddInterface(pcapng.Interface{Link: pcapng.LinkType(packet.LinkRaw), Name: "socket", Description: TapNote}); err != nil {
		return nil, err
	}
	return &Tap{w: pw}, nil
}

// Empty reports whether no frame was written.
func (t *Tap) Empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last == 0
}

// Flush writes what was collected. The error is the first of writing.
func (t *Tap) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

// tapped is one connection on its taps.
type tapped struct {
	mu    sync.Mutex
	taps  []*Tap
	ends  [2]netip.AddrPort
	seq   [2]uint64 // of the next octet, by sender
	ended [2]bool
	reset bool
	// acked is what the peer has acknowledged, as far as is known; kernel tells of it, nil: it does not.
	acked  uint64
	kernel func() (p peerTCP, ok bool)
	// fullSince is since when the peer has no room, full that the capture says so.
	fullSince time.Time
	full      bool
	buf       []byte
}

// peerTCP is what the kernel knows of the peer.
type peerTCP struct {
	acked uint64 // octets that it has acknowledged, a FIN among them
	full  bool   // it announces a window of 0
}

// The senders of a connection.
const (
	here = iota
	there
)

const (
	firstSeq = 1
	// tapWindow is the window that packets announce.
	tapWindow = 0xffff
	// unseenOptions are those of a SYN, in octets, of which the capture has none.
	unseenOptions = 4
	// fullFor is how long a peer has no room before the capture says so: a receiver that is only slower
	// than this side has none for moments.
	fullFor = 100 * time.Millisecond
	// tapPayload is how much a packet carries at most, in octets: an IP packet holds no more.
	tapPayload = 65000
)

// newTapped begins a connection that one side has opened.
func newTapped(taps []*Tap, local, remote netip.AddrPort, opened bool, kernel func() (peerTCP, bool)) *tapped {
	c := &tapped{taps: taps, ends: [2]netip.AddrPort{local, remote}, seq: [2]uint64{firstSeq - 1, firstSeq - 1}, acked: firstSeq, kernel: kernel}
	from := there
	if opened {
		from = here
	}
	c.packet(from, nil, 0, packet.FlagSYN)
	c.seq[from]++
	c.packet(1-from, nil, c.seq[from], packet.FlagSYN|packet.FlagACK)
	c.seq[1-from]++
	c.packet(from, nil, c.seq[1-from], packet.FlagACK)
	return c
}

// sent writes down octets that are about to be written. Nothing is read between the moment in
// which they were made and this one.
func (c *tapped) sent(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.octets(here, b, c.seq[there])
}

// read writes down octets that were read, and their acknowledgement. The peer acknowledges what
// the kernel has taken in as acknowledged, which is no less than what the peer knew when it sent them.
func (c *tapped) read(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ask()
	if c.acked == firstSeq && c.seq[here] > firstSeq {
		// An answer without an acknowledgement: this kernel does not count them.
		c.kernel = nil
		c.ask()
	}
	c.octets(there, b, c.acked)
	c.packet(here, nil, c.seq[there], packet.FlagACK)
}

// acknowledge writes down what the peer has acknowledged since, and reports whether that is all
// that it ever will.
func (c *tapped) acknowledge() (all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reset || len(c.taps) == 0 {
		return true
	}
	c.catchUp()
	return c.acked == c.seq[here]
}

// taken is how many octets the peer has acknowledged, as far as is known.
func (c *tapped) taken() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reset {
		c.catchUp()
	}
	return c.acked
}

// pending is how many octets of this side the peer has not acknowledged.
func (c *tapped) pending() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seq[here] - c.acked
}

// catchUp writes down an acknowledgement of the peer, if there is another one, or its window opened or closed.
func (c *tapped) catchUp() {
	before, full := c.acked, c.full
	if c.ask(); c.acked > before || c.full != full {
		c.packet(there, nil, c.acked, packet.FlagACK)
	}
}

// ask asks the kernel what the peer has acknowledged. A kernel that does not tell is taken to have
// an acknowledgement of everything: that it is late would be said without evidence.
func (c *tapped) ask() {
	n := c.seq[here]
	if c.kernel != nil {
		got, ok := c.kernel()
		if !ok {
			return // the socket is closed
		}
		n = min(n, firstSeq+got.acked)
		c.fills(got.full)
	}
	c.acked = max(c.acked, n)
}

// fills notes whether the peer has room.
func (c *tapped) fills(full bool) {
	switch {
	case !full:
		c.fullSince, c.full = time.Time{}, false
	case c.fullSince.IsZero():
		c.fullSince = time.Now()
	case time.Since(c.fullSince) >= fullFor:
		c.full = true
	}
}

// end writes down that a side closed, or reset.
func (c *tapped) end(side int, reset bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended[side] {
		return
	}
	c.ended[side] = true
	flags := packet.FlagFIN | packet.FlagACK
	if reset {
		flags = packet.FlagRST | packet.FlagACK
		c.ended[1-side], c.reset = true, true
	}
	ack := c.seq[there]
	if side == there {
		c.ask()
		ack = c.acked
	} else {
		c.catchUp()
	}
	c.packet(side, nil, ack, uint16(flags))
	c.seq[side]++
	if !reset && side == there {
		c.packet(here, nil, c.seq[there], packet.FlagACK)
	}
}

func (c *tapped) octets(side int, b []byte, ack uint64) {
	for len(b) > 0 {
		n := min(len(b), tapPayload)
		c.packet(side, b[:n], ack, packet.FlagACK|packet.FlagPSH)
		c.seq[side] += uint64(n)
		b = b[n:]
	}
}

func (c *tapped) packet(side int, b []byte, ack uint64, flags uint16) {
	if len(c.taps) == 0 {
		return
	}
	from, to := c.ends[side], c.ends[1-side]
	p := packet.Build{
		Link: packet.LinkRaw, Src: packet.AddrFrom(from.Addr()), Dst: packet.AddrFrom(to.Addr()),
		SrcPort: from.Port(), DstPort: to.Port(), DontFragment: true,
		Seq: uint32(c.seq[side]), Ack: uint32(ack), Flags: flags, Window: tapWindow, Payload: b, //nolint:gosec // modulo 2^32 by design
	}
	if side == there && c.full {
		p.Window = 0
	}
	kept := 0
	if flags&packet.FlagSYN != 0 {
		p.Options = make([]byte, unseenOptions)
		kept = -unseenOptions
	}
	c.buf = p.Append(c.buf[:0])
	kept += len(c.buf)
	for _, t := range c.taps {
		t.write(c.buf[:kept], len(c.buf))
	}
}

func (t *Tap) write(frame []byte, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(frame, size)
}

// put writes a frame. The lock is held.
func (t *Tap) put(frame []byte, size int) {
	if t.err != nil {
		return
	}
	t.last = max(t.last, time.Now().UnixNano())
	t.err = t.w.WritePacket(&pcapng.Record{
		Time: t.last, Link: pcapng.LinkType(packet.LinkRaw), Data: frame, OrigLen: uint32(size), //nolint:gosec // a frame
	})
}

// endpointOf is the address of an end of a connection, or one for documentation if it has
// none, as a pipe in memory.
func endpointOf(a interface{ String() string }, other netip.AddrPort) netip.AddrPort {
	p, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return other
	}
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}

package link

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Capture says what the capture point writes down of what it sees.
type Capture struct {
	// Format of the file. Micro gives microseconds instead of nanoseconds (pcap
	// only).
	Format pcapng.Format
	Micro  bool
	// Link is the link type, one that packet.Build knows.
	Link uint16
	// Epoch is the time of day when the queue began, in nanoseconds since 1970.
	Epoch int64
	// Snaplen cuts frames to that many octets, if not 0.
	Snaplen int
	// Skip leaves out the first packets, Start those before that time (since
	// the queue began, ns); Stop those from that time on, if not 0.
	Skip        int
	Start, Stop int64
	// Only leaves out the packets of the other side, if not Both.
	Only Direction
	// Drop leaves out a share of the packets, from 0 to 1; Missing leaves out
	// the packets with these numbers, from 1, as they pass.
	Drop    float64
	Missing []int
	// PerSide gives each side's packets an interface of their own (pcapng
	// only). ClockOffset is added to the time of the second one, and the file
	// keeps the order in which packets passed unless Merge sorts them by their
	// stamps, as merging two captures does. Frames that are out of order by more
	// than 4096 others stay so.
	PerSide     bool
	ClockOffset int64
	Merge       bool
	// Steps are jumps of the clock.
	Steps []Step
	// Offload leaves in the packets of a side only the sum over the pseudo
	// header as checksum, as a capture on a sender with checksum offload sees.
	Offload [2]bool
	// Comment is put into the file (pcapng only).
	Comment string
	// Seed of Drop.
	Seed uint64
}

// Step is a jump of the capture clock by By, at time At (since the queue
// began), in nanoseconds.
type Step struct{ At, By int64 }

// Direction picks the packets of a side.
type Direction uint8

// The directions.
const (
	Both Direction = iota
	FromClient
	FromServer
)

// mergeWindow is how many frames are sorted by their stamps at a time: stamps
// that are out of order by more frames than that stay so.
const mergeWindow = 4096

// Tap is the capture point. What passes is collected in batches; from the
// second one on another goroutine renders and writes them, in order.
type Tap struct {
	batch    []seen
	waiting  int // octets in it
	full     chan []seen
	empty    chan []seen
	finished chan struct{}
	failed   atomic.Bool
	fragment int
	tunnels  *tunnels // nil: none

	// The rest belongs to whoever writes.
	cfg    Capture
	w      *pcapng.Writer
	rnd    *rand.Rand
	build  packet.Build // of the frame at hand
	buf    []byte
	seg    []byte
	rec    pcapng.Record // of the frame at hand
	passed int
	last   int64 // when a packet passed
	count  uint64
	octets uint64
	err    error
	held   []held
	feed   *Feed // to write to, in place of w
	block  *block
}

// held is a frame that waits to be sorted.
type held struct {
	pcapng.Record
	data []byte
}

// NewTap returns a capture point that writes to w.
func NewTap(w io.Writer, c Capture) (*Tap, error) {
	if c.PerSide && c.Format == pcapng.PCAP {
		return nil, errors.New("a pcap file has one interface only")
	}
	snap := uint32(max(c.Snaplen, 0)) //nolint:gosec // an int of a snaplen
	pw, err := pcapng.NewWriter(w, pcapng.WriterOptions{
		Format: c.Format, Nano: !c.Micro, SnapLen: snap, Link: pcapng.LinkType(c.Link), Comment: c.Comment,
	})
	if err != nil {
		return nil, err
	}
	if c.Format == pcapng.PCAPNG {
		names := []string{"tap"}
		if c.PerSide {
			names = []string{"client", "server"}
		}
		for _, name := range names {
			if _, err := pw.AddInterface(pcapng.Interface{Link: pcapng.LinkType(c.Link), SnapLen: snap, Name: name}); err != nil {
				return nil, err
			}
		}
	}
	return &Tap{cfg: c, w: pw, rnd: rand.New(rand.NewPCG(c.Seed, 9))}, nil
}

// seen is a packet as it passes.
type seen struct {
	now    int64
	packet Packet
}

const (
	batchSize = 512
	// batchOctets bounds the payload of a batch that has segments larger than
	// a packet.
	batchOctets = 1 << 20
	// batches are under way at most; they bound the memory.
	batches = 8
)

// see is told of every packet that passes, at time now since the queue began.
// Its octets may not change any more.
func (t *Tap) see(now int64, p *Packet) {
	if t.feed != nil {
		t.feeds(now, p)
		return
	}
	t.batch = append(t.batch, seen{now, Packet{Side: p.Side, Build: p.Build, Own: p.Own, Orders: p.Orders}})
	t.waiting += len(p.Own.Payload)
	if len(t.batch) < batchSize && t.waiting < batchOctets {
		return
	}
	t.waiting = 0
	if t.full == nil {
		t.full, t.empty = make(chan []seen, batches), make(chan []seen, batches)
		t.finished = make(chan struct{})
		go t.serve()
	}
	t.full <- t.batch
	select {
	case t.batch = <-t.empty:
	default:
		t.batch = make([]seen, 0, batchSize)
	}
}

// serve writes batches until there are no more.
func (t *Tap) serve() {
	defer close(t.finished)
	for b := range t.full {
		t.all(b)
		clear(b)
		select {
		case t.empty <- b[:0]:
		default:
		}
	}
}

func (t *Tap) all(b []seen) {
	for i := range b {
		t.render(b[i].now, &b[i].packet, t.fragment)
	}
}

// wants reports whether the capture has the next frame.
func (t *Tap) wants(now int64, side int) bool {
	t.passed++
	t.last = now
	dropped := t.cfg.Drop > 0 && t.rnd.Float64() < t.cfg.Drop
	switch {
	case t.passed <= t.cfg.Skip, now < t.cfg.Start, t.cfg.Stop > 0 && now >= t.cfg.Stop:
		return false
	case t.cfg.Only == FromClient && side != Client, t.cfg.Only == FromServer && side != Server:
		return false
	}
	return !dropped && !slices.Contains(t.cfg.Missing, t.passed)
}

// frame writes a frame that passes.
func (t *Tap) frame(now int64, p *Packet, data []byte) {
	rec := &t.rec
	if !t.record(rec, now, p, len(data)) {
		return
	}
	if t.cfg.Snaplen > 0 {
		data = data[:min(len(data), t.cfg.Snaplen)]
	}
	if t.cfg.Merge {
		t.held = append(t.held, held{*rec, slices.Clone(data)})
		if len(t.held) >= 2*mergeWindow {
			t.release(mergeWindow)
		}
		return
	}
	rec.Data = data
	t.write(rec)
}

// record fills in the record of a frame of so many octets. It reports whether the capture
// has it.
func (t *Tap) record(rec *pcapng.Record, now int64, p *Packet, size int) bool {
	if t.err != nil || !t.wants(now, p.Side) {
		return false
	}
	stamp := t.cfg.Epoch + now
	for _, s := range t.cfg.Steps {
		if s.At <= now {
			stamp += s.By
		}
	}
	*rec = pcapng.Record{Link: pcapng.LinkType(t.cfg.Link), OrigLen: uint32(size)} //nolint:gosec // a frame
	if t.cfg.PerSide {
		rec.Interface = p.Side
		stamp += t.cfg.ClockOffset * int64(p.Side)
	}
	rec.Time = max(stamp, 0)
	return true
}

// release writes the first n held frames in the order of their stamps.
func (t *Tap) release(n int) {
	slices.SortStableFunc(t.held, func(a, b held) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	for i := range n {
		h := &t.held[i]
		h.Data = h.data
		t.write(&h.Record)
	}
	t.held = slices.Delete(t.held, 0, n)
}

func (t *Tap) write(rec *pcapng.Record) {
	if t.err != nil {
		return
	}
	if t.feed != nil {
		t.add(rec)
		return
	}
	if t.err = t.w.WritePacket(rec); t.err != nil {
		t.failed.Store(true)
		return
	}
	t.count++
	t.octets += uint64(len(rec.Data))
}

// Close writes what is still held back. The error is the first of writing.
func (t *Tap) Close() error {
	if t.full != nil {
		close(t.full)
		<-t.finished
		t.full = nil
	}
	t.all(t.batch)
	t.batch = nil
	t.release(len(t.held))
	if t.feed != nil {
		t.hand()
		close(t.feed.full)
		return nil
	}
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

// Failed reports whether writing has failed; Close tells why.
func (t *Tap) Failed() bool { return t.failed.Load() }

// Passed is the number of packets that passed, once the capture is closed.
func (t *Tap) Passed() int { return t.passed }

// Last is when the last of them did, in nanoseconds since the queue began, once the capture is
// closed.
func (t *Tap) Last() int64 { return t.last }

// Count is the number of frames written, once the capture is closed.
func (t *Tap) Count() uint64 { return t.count }

// Octets is the number of captured octets in them, once the capture is closed.
func (t *Tap) Octets() uint64 { return t.octets }

package link

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// build is a data segment, number n in its sequence number.
func build(n, size int) *packet.Build {
	return &packet.Build{
		Link: packet.LinkEthernet, Src: packet.Addr4(192, 0, 2, 1), Dst: packet.Addr4(192, 0, 2, 2),
		SrcPort: 40000, DstPort: 5001, Seq: uint32(n), Flags: packet.FlagACK, Window: 1000,
		Payload: bytes.Repeat([]byte{byte(n + 1)}, size),
	}
}

// build6 is the same over IPv6.
func build6(n, size int) *packet.Build {
	b := build(n, size)
	b.Src, b.Dst = packet.Addr{0x20, 1, 15: 1}, packet.Addr{0x20, 1, 15: 2}
	return b
}

// world is a link with a capture point and what became of what was sent.
type world struct {
	queue Queue
	link  *Link
	tap   *Tap
	file  bytes.Buffer
	// arrived has the numbers of the packets, times when they arrived.
	arrived []int
	times   []int64
}

func newWorld(t *testing.T, cfg Config, c Capture) *world {
	t.Helper()
	w := &world{}
	var err error
	if w.tap, err = NewTap(&w.file, c); err != nil {
		t.Fatal(err)
	}
	w.link = New(&w.queue, cfg, w.tap)
	return w
}

// send lets a packet set out at a time.
func (w *world) send(at int64, n int, p Packet) {
	p.To, p.Own = arrival{w, n}, own(p.Build)
	w.queue.At(at, func() { w.link.Send(&p) })
}

// own is what a frame has of its own.
func own(b *packet.Build) Own {
	return Own{b.ID, b.Seq, b.Ack, b.Flags, b.Window, b.Options, b.Payload}
}

// arrival notes that the packet with a number arrives.
type arrival struct {
	world *world
	n     int
}

// Arrive implements [Receiver].
func (a arrival) Arrive(*Packet) {
	a.world.arrived = append(a.world.arrived, a.n)
	a.world.times = append(a.world.times, a.world.queue.Now())
}

// sendAll sends packets of 100 octets, every so many nanoseconds.
func (w *world) sendAll(count int, every int64) {
	for n := range count {
		w.send(int64(n)*every, n, Packet{Build: build(n, 100)})
	}
}

// run lets everything happen and returns the frames captured.
func (w *world) run(t *testing.T) []frame {
	t.Helper()
	for w.queue.Step() {
	}
	if err := w.tap.Close(); err != nil {
		t.Fatal(err)
	}
	frames, _ := read(t, w.file.Bytes())
	if w.tap.Count() != uint64(len(frames)) {
		t.Errorf("%d frames counted, %d in the file", w.tap.Count(), len(frames))
	}
	return frames
}

// frame is a captured frame and what it decodes to.
type frame struct {
	rec      pcapng.Record
	status   packet.Status
	packet   packet.Packet
	checksum packet.Checksum
}

// read decodes a capture.
func read(t *testing.T, file []byte) ([]frame, []pcapng.Interface) {
	t.Helper()
	r, err := pcapng.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	d := packet.NewDecoder()
	var frames []frame
	for {
		var f frame
		err := r.Next(&f.rec)
		if errors.Is(err, io.EOF) {
			return frames, r.Interfaces()
		}
		if err != nil {
			t.Fatal(err)
		}
		f.rec.Data = bytes.Clone(f.rec.Data)
		f.status = d.Decode(uint16(f.rec.Link), f.rec.Data, f.rec.OrigLen, uint64(len(frames)+1), f.rec.Time, &f.packet)
		f.checksum = f.packet.VerifyChecksum()
		f.packet.Payload = bytes.Clone(f.packet.Payload)
		frames = append(frames, f)
	}
}

// seqs are the sequence numbers of frames: the numbers of the packets.
func seqs(frames []frame) []int {
	var s []int
	for i := range frames {
		s = append(s, int(frames[i].packet.Seq))
	}
	return s
}

// times are the stamps of frames.
func times(frames []frame) []int64 {
	var s []int64
	for i := range frames {
		s = append(s, frames[i].rec.Time)
	}
	return s
}

// upTo are the numbers from 0 below n.
func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// usual is a capture of nothing special.
func usual() Capture { return Capture{Format: pcapng.PCAPNG, Link: packet.LinkEthernet} }

// both gives both sides the same line.
func both(l Line) [2]Line { return [2]Line{l, l} }

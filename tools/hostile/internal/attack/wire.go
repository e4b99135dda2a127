package attack

import (
	"fmt"
	"io"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/hostile"
)

// wire takes frames down in a capture, one each microsecond. Its first error stays.
type wire struct {
	w   *pcapng.Writer
	now int64
	buf []byte
	err error
}

// write writes a pcap file of what put takes down.
func write(out io.Writer, put func(w *wire)) error {
	w := &wire{now: tracetest.Start}
	if w.w, w.err = pcapng.NewWriter(out, pcapng.WriterOptions{Nano: true, Link: pcapng.Ethernet}); w.err != nil {
		return w.err
	}
	put(w)
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

// shared writes the frames of an attack that tests of packages make as well.
func shared(name string) func(out io.Writer, size int) error {
	return func(out io.Writer, size int) error {
		a, ok := hostile.Find(name)
		if !ok {
			return fmt.Errorf("no attack %q", name)
		}
		return write(out, func(w *wire) {
			a.Frames(size, func(f *capture.Frame) { w.take(f.Data) })
		})
	}
}

// put takes a packet down.
func (w *wire) put(b *packet.Build) {
	b.Link = packet.LinkEthernet
	w.buf = b.Append(w.buf[:0])
	w.take(w.buf)
}

// take takes a frame down.
func (w *wire) take(frame []byte) {
	if w.err != nil {
		return
	}
	w.now += 1000
	w.err = w.w.WritePacket(&pcapng.Record{Data: frame, Time: w.now, Link: pcapng.Ethernet})
}

// mss is how much a segment of a flow carries.
const mss = 1448

// The sides of a flow.
const (
	client = tracetest.Client
	server = tracetest.Server
)

// flow is a TCP connection.
type flow struct {
	w     *wire
	addrs [2]packet.Addr
	ports [2]uint16
	next  [2]uint32
}

// flowOf is the ith one of many, on addresses of their own.
func flowOf(w *wire, i int) *flow {
	return &flow{
		w: w, addrs: [2]packet.Addr{address(i), packet.Addr4(10, 255, 0, 1)},
		ports: [2]uint16{uint16(1024 + i%50_000), 5001}, //nolint:gosec // below 65536
		next:  [2]uint32{1000, 2000},
	}
}

// address is the ith address of hosts.
func address(i int) packet.Addr {
	return packet.Addr4(10, byte(i>>16&0x7f), byte(i>>8), byte(i)) //nolint:gosec // the octets of the number
}

// segment sends one segment.
func (f *flow) segment(side int, flags uint16, data []byte) {
	b := packet.Build{
		Src: f.addrs[side], Dst: f.addrs[1-side], SrcPort: f.ports[side], DstPort: f.ports[1-side],
		Seq: f.next[side], Flags: flags, Window: 0xffff, Payload: data,
	}
	if flags&packet.FlagACK != 0 {
		b.Ack = f.next[1-side]
	}
	f.w.put(&b)
	f.next[side] += uint32(len(data)) //nolint:gosec // a segment
	if flags&packet.FlagSYN != 0 {
		f.next[side]++
	}
}

// open is the handshake of TCP.
func (f *flow) open() {
	f.segment(client, packet.FlagSYN, nil)
	f.segment(server, packet.FlagSYN|packet.FlagACK, nil)
	f.segment(client, packet.FlagACK, nil)
}

// say sends octets.
func (f *flow) say(side int, data []byte) {
	for len(data) > 0 {
		n := min(len(data), mss)
		f.segment(side, packet.FlagACK|packet.FlagPSH, data[:n])
		data = data[n:]
	}
}

// skip has octets that the capture lost.
func (f *flow) skip(side int, n uint32) { f.next[side] += n }

// start is the startup of MPA, with CRC.
func (f *flow) start() {
	f.open()
	f.say(client, mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1}.Append(nil))
	f.say(server, mpa.Startup{Kind: mpa.StartupReply, C: true, Rev: 1}.Append(nil))
}

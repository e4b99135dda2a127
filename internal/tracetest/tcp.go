package tracetest

import (
	"bytes"
	"errors"
	"io"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Packet is a TCP packet of a connection.
type Packet struct {
	// Side sends it.
	Side int
	// Off is the stream offset of its first octet, from the first octet after
	// the SYN; a SYN itself has -1.
	Off int64
	// Ack is the offset in the other stream that it acknowledges, a FIN counted.
	Ack int64
	// Flags of the TCP header.
	Flags uint16
	Data  []byte
	// Time in nanoseconds since the epoch.
	Time int64
	// Shut says that its receive window is 0.
	Shut bool
}

// Start is when captures begin.
const Start = 1_700_000_000_000_000_000

// MaxSegment is how much a packet carries when nothing bounds it, as segmentation
// offload makes it.
const MaxSegment = 65000

// TCP makes the packets of a connection.
type TCP struct {
	// Size is the payload of a packet, by side; 0 stands for MaxSegment.
	Size [2]int
	// AckEvery makes the receiver acknowledge after that many packets; 0 leaves
	// it to the next packet with octets.
	AckEvery int
	// Step is the time between packets in nanoseconds, 1000 if it is 0.
	Step int64
	// Packets so far.
	Packets []Packet

	next [2]int64
	now  int64
}

func (t *TCP) add(side int, off int64, flags uint16, data []byte) {
	if t.now == 0 {
		t.now = Start
	}
	if t.Step == 0 {
		t.Step = 1000
	}
	t.Packets = append(t.Packets, Packet{
		Side: side, Off: off, Ack: t.next[1-side], Flags: flags, Data: data, Time: t.now,
	})
	t.now += t.Step
}

// Handshake opens the connection.
func (t *TCP) Handshake() {
	t.add(Client, -1, packet.FlagSYN, nil)
	t.add(Server, -1, packet.FlagSYN|packet.FlagACK, nil)
	t.add(Client, 0, packet.FlagACK, nil)
}

// Send sends octets.
func (t *TCP) Send(side int, b []byte) {
	size := t.Size[side]
	if size == 0 {
		size = MaxSegment
	}
	for i := 1; len(b) > 0; i++ {
		n := min(size, len(b))
		flags := uint16(packet.FlagACK)
		if n == len(b) {
			flags |= packet.FlagPSH
		}
		t.add(side, t.next[side], flags, b[:n])
		t.next[side] += int64(n)
		b = b[n:]
		if t.AckEvery > 0 && i%t.AckEvery == 0 {
			t.Ack(1 - side)
		}
	}
}

// Ack acknowledges what the other side has sent.
func (t *TCP) Ack(side int) { t.add(side, t.next[side], packet.FlagACK, nil) }

// FIN closes a side.
func (t *TCP) FIN(side int) {
	t.add(side, t.next[side], packet.FlagFIN|packet.FlagACK, nil)
	t.next[side]++
}

// RST resets the connection.
func (t *TCP) RST(side int) { t.add(side, t.next[side], packet.FlagRST|packet.FlagACK, nil) }

// Close closes both sides in order.
func (t *TCP) Close() {
	t.FIN(Client)
	t.FIN(Server)
	t.Ack(Client)
}

// Wait lets time pass.
func (t *TCP) Wait(ns int64) { t.now += ns }

// Play sends the turns of a dialog.
func (t *TCP) Play(d *Dialog) {
	for _, turn := range d.Turns {
		t.Wait(turn.Wait)
		t.Send(turn.Side, turn.Data)
	}
}

// Connection returns the packets of a dialog from handshake to close, in
// segments of size octets (0: as large as they get).
func Connection(d *Dialog, size int) []Packet {
	t := TCP{Size: [2]int{size, size}}
	t.Handshake()
	t.Play(d)
	t.Close()
	return t.Packets
}

// Net is how packets look on the wire.
type Net struct {
	V6    bool
	VLANs []packet.VLAN
	// Link type, Ethernet if it is 0 and not Null.
	Link uint16
	// Pair numbers the endpoints, so that captures can hold several
	// connections.
	Pair int
	// Hosts are the addresses by side, if they are not the usual ones.
	Hosts [2]packet.Addr
	// ServerPort, 5001 if it is 0.
	ServerPort uint16
	// ISN are the initial sequence numbers by side.
	ISN [2]uint32
	// Snap cuts frames to that many octets, if it is not 0.
	Snap int
	// MSS is the option of SYNs, if it is not 0.
	MSS uint16
}

// Frames turns packets into frames, numbered from 1.
func (n Net) Frames(ps []Packet) []capture.Frame {
	out := make([]capture.Frame, 0, len(ps))
	for i := range ps {
		out = append(out, n.frame(&ps[i]))
	}
	return Number(out)
}

func (n Net) frame(p *Packet) capture.Frame {
	port := n.ServerPort
	if port == 0 {
		port = 5001
	}
	addr := [2]packet.Addr{packet.Addr4(10, 0, 0, 1), packet.Addr4(10, 0, 0, 2)}
	if n.V6 {
		addr = [2]packet.Addr{{0: 0xfd, 15: 1}, {0: 0xfd, 15: 2}}
	}
	if n.Hosts != [2]packet.Addr{} {
		addr = n.Hosts
	}
	ports := [2]uint16{uint16(40000 + n.Pair), port} //nolint:gosec // a test knows its numbers
	link := n.Link
	if link == 0 {
		link = packet.LinkEthernet
	}
	b := packet.Build{
		Link: link, VLANs: n.VLANs, Src: addr[p.Side], Dst: addr[1-p.Side],
		SrcPort: ports[p.Side], DstPort: ports[1-p.Side],
		Seq:   n.ISN[p.Side] + 1 + uint32(p.Off), //nolint:gosec // wraps by design
		Flags: p.Flags, Window: 0xffff, Payload: p.Data, DontFragment: true,
	}
	if n.MSS > 0 && p.Flags&packet.FlagSYN != 0 {
		b.Options = packet.AppendMSS(nil, n.MSS)
	}
	if p.Shut {
		b.Window = 0
	}
	if p.Flags&packet.FlagACK != 0 {
		b.Ack = n.ISN[1-p.Side] + 1 + uint32(p.Ack) //nolint:gosec // wraps by design
	}
	data := b.Append(nil)
	f := capture.Frame{
		Time: p.Time, Link: pcapng.LinkType(link), OrigLen: uint32(len(data)), Data: data, //nolint:gosec // a frame
	}
	if n.Snap > 0 && len(data) > n.Snap {
		f.Data = data[:n.Snap]
	}
	return f
}

// Number numbers frames from 1.
func Number(fs []capture.Frame) []capture.Frame {
	for i := range fs {
		fs[i].Number = uint64(i) + 1
	}
	return fs
}

// Join puts captures one behind the other, as if they had been one.
func Join(parts ...[]capture.Frame) []capture.Frame {
	var out []capture.Frame
	for _, p := range parts {
		out = append(out, p...)
	}
	return Number(out)
}

// Mix takes frames of each capture in turn.
func Mix(parts ...[]capture.Frame) []capture.Frame {
	var out []capture.Frame
	for i, more := 0, true; more; i++ {
		more = false
		for _, p := range parts {
			if i < len(p) {
				out, more = append(out, p[i]), true
			}
		}
	}
	return Number(out)
}

// PCAP writes frames as a file; all must have the same link type.
func PCAP(fs []capture.Frame) []byte {
	var buf bytes.Buffer
	opt := pcapng.WriterOptions{Format: pcapng.PCAP, Nano: true, Link: pcapng.LinkType(packet.LinkEthernet)}
	if len(fs) > 0 {
		opt.Link = fs[0].Link
	}
	w, err := pcapng.NewWriter(&buf, opt)
	for i := range fs {
		if err == nil {
			err = w.WritePacket(&pcapng.Record{Data: fs[i].Data, Time: fs[i].Time, OrigLen: fs[i].OrigLen, Link: fs[i].Link})
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		panic(err) // the test gave something that no file can hold
	}
	return buf.Bytes()
}

// Source gives frames from memory.
func Source(fs []capture.Frame) capture.Source { return &source{fs: fs} }

type source struct{ fs []capture.Frame }

func (s *source) Next(f *capture.Frame) error {
	if len(s.fs) == 0 {
		return io.EOF
	}
	*f = s.fs[0]
	s.fs = s.fs[1:]
	return nil
}

func (s *source) Name() string { return "memory" }
func (s *source) Close() error { return nil }

// ReadFile reads the frames of a capture file, the reverse of [PCAP].
func ReadFile(file []byte) ([]capture.Frame, error) {
	r, err := pcapng.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var out []capture.Frame
	for {
		var rec pcapng.Record
		err := r.Next(&rec)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, capture.Frame{
			Number: uint64(len(out)) + 1, Time: rec.Time, Link: rec.Link, Data: bytes.Clone(rec.Data), OrigLen: rec.OrigLen,
			Section: rec.Section, Interface: rec.Interface,
		})
	}
}

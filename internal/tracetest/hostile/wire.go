package hostile

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// step is the time from a frame to the next, in nanoseconds.
const step = 1000

// wire takes packets down as frames.
type wire struct {
	yield func(*capture.Frame)
	now   int64
	n     uint64
	buf   []byte
	// fragments cuts datagrams into pieces of so many octets, if it is not 0.
	fragments int
}

// side is one side of a connection.
type side struct {
	w                *wire
	src, dst         packet.Addr
	srcPort, dstPort uint16
}

// side returns a side of the ith connection.
func (w *wire) side(i, which int) side {
	client, server := packet.Addr4(10, byte(i>>16), byte(i>>8), byte(i)), packet.Addr4(192, 0, 2, 1)
	port := uint16(20000 + i%1000)
	if which == 0 {
		return side{w, client, server, port, 5001}
	}
	return side{w, server, client, 5001, port}
}

// tcp sends a segment; seq and ack count from the SYN.
func (s side) tcp(flags uint16, seq, ack uint32, payload []byte) {
	b := packet.Build{
		SrcPort: s.srcPort, DstPort: s.dstPort, Seq: 1000 + seq, Flags: flags, Window: 0xffff, Payload: payload,
	}
	if flags&packet.FlagACK != 0 {
		b.Ack = 1000 + ack
	}
	s.send(b)
}

// sctp sends a packet.
func (s side) sctp(b []byte) { s.send(packet.Build{Proto: packet.ProtoSCTP, Raw: b}) }

func (s side) send(b packet.Build) {
	w := s.w
	b.Link, b.Src, b.Dst, b.ID = packet.LinkEthernet, s.src, s.dst, uint32(w.n)
	if w.fragments == 0 {
		w.frame(b)
		return
	}
	whole := b
	const header = 14 + 20
	ip := whole.Append(nil)[header:]
	if b.Proto == 0 {
		b.Proto = packet.ProtoTCP
	}
	for off := 0; off < len(ip); off += w.fragments {
		end := min(off+w.fragments, len(ip))
		b.Raw, b.FragmentOffset, b.MoreFragments = ip[off:end], off, end < len(ip)
		w.frame(b)
	}
}

func (w *wire) frame(b packet.Build) {
	w.buf = b.Append(w.buf[:0])
	w.n++
	w.now += step
	w.yield(&capture.Frame{
		Number: w.n, Time: w.now, Link: pcapng.LinkType(packet.LinkEthernet), OrigLen: uint32(len(w.buf)), Data: w.buf,
	})
}

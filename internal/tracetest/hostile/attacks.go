package hostile

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// Attack makes frames.
type Attack struct {
	Name, Makes string
	// Size is how large it is in docs: connections, unless Makes says otherwise.
	Size int
	make func(n int, w *wire)
}

// Attacks are all of them.
func Attacks() []Attack {
	return []Attack{
		{"syns", "a SYN each, which nothing answers", 1_000_000, syns},
		{"atomics", "200 atomic operations each, which nothing answers", 100_000, atomics},
		{"reads", "100 RDMA Read Requests each, which nothing answers", 100_000, reads},
		{"findings", "100 segments with reserved bits each: as many findings", 10_000, findings},
		{"datagram", "repetitions of a datagram in 1,300 fragments, in an FPDU that does not end", 60_000, datagram},
		{"private", "a Request each with 60 kB of private data, the last octet of which does not come", 13_500, private},
		{"inits", "SCTP INITs with a hundred addresses each", 100_000, inits},
		{"holes", "an iWARP connection each with octets behind eight holes", 50_000, holes},
	}
}

// Find returns an attack.
func Find(name string) (Attack, bool) {
	for _, a := range Attacks() {
		if a.Name == name {
			return a, true
		}
	}
	return Attack{}, false
}

// Frames calls yield with each frame of the attack at a size. The frames are borrowed.
func (a *Attack) Frames(n int, yield func(*capture.Frame)) {
	a.make(n, &wire{yield: yield, now: tracetest.Start})
}

func syns(n int, w *wire) {
	for i := range n {
		w.side(i, tracetest.Client).tcp(packet.FlagSYN, 0, 0, nil)
	}
}

// begun opens a connection up to full operation, and returns the numbers of both sides.
func begun(w *wire, i int) (seq [2]uint32) {
	c, s := w.side(i, tracetest.Client), w.side(i, tracetest.Server)
	c.tcp(packet.FlagSYN, 0, 0, nil)
	s.tcp(packet.FlagSYN|packet.FlagACK, 0, 1, nil)
	req := mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1}.Append(nil)
	rep := mpa.Startup{Kind: mpa.StartupReply, C: true, Rev: 1}.Append(nil)
	c.tcp(packet.FlagACK, 1, 1, req)
	s.tcp(packet.FlagACK, 1, 1+uint32(len(req)), rep)
	return [2]uint32{1 + uint32(len(req)), 1 + uint32(len(rep))}
}

// operations opens connections and says FPDUs on each, as many to a packet as fit.
func operations(n int, w *wire, count int, ulpdu func(msn uint32) []byte) {
	var packets [][]byte
	var enc mpa.Encoder
	enc.CRC = true
	var b []byte
	for msn := range uint32(count) {
		u := ulpdu(msn + 1)
		if len(b)+len(u)+10 > 1460 {
			packets, b = append(packets, b), nil
		}
		b = tracetest.Framed(enc.Append(b, u))
	}
	packets = append(packets, b)
	for i := range n {
		seq := begun(w, i)
		for _, b := range packets {
			w.side(i, tracetest.Client).tcp(packet.FlagACK, seq[0], seq[1], b)
			seq[0] += uint32(len(b))
		}
	}
}

func atomics(n int, w *wire) {
	operations(n, w, 200, func(msn uint32) []byte {
		return tracetest.AtomicRequest(msn, rdmap.AtomicRequest{RequestID: msn, RemoteSTag: 7, RemoteTO: uint64(msn) << 13, Data: uint64(msn)})
	})
}

func reads(n int, w *wire) {
	operations(n, w, 100, func(msn uint32) []byte {
		return tracetest.ReadRequest(msn, rdmap.ReadRequest{SinkSTag: msn, SinkTO: uint64(msn) << 33, Size: msn << 3, SrcSTag: ^msn, SrcTO: uint64(msn) << 21})
	})
}

func findings(n int, w *wire) {
	operations(n, w, 100, func(msn uint32) []byte {
		u := tracetest.Write(msn, uint64(msn), true, make([]byte, 16))
		u[0] |= 0x3c // reserved
		return u
	})
}

// datagram repeats the first octets of a long FPDU.
func datagram(n int, w *wire) {
	seq := begun(w, 0)
	c := w.side(0, tracetest.Client)
	var enc mpa.Encoder
	enc.CRC = true
	fpdu := tracetest.Framed(enc.Append(nil, tracetest.Write(1, 0, true, make([]byte, 60_000))))
	var many []byte
	for range 40 {
		many = tracetest.Framed(enc.Append(many, tracetest.Write(1, 0, true, make([]byte, 16))))
	}
	w.fragments = 48
	for range n {
		c.tcp(packet.FlagACK, seq[0], seq[1], fpdu[:len(fpdu)-8])
	}
	w.fragments = 0
	c.tcp(packet.FlagACK, seq[0]+uint32(len(fpdu))-8, seq[1], append(fpdu[len(fpdu)-8:], many...))
}

func private(n int, w *wire) {
	req := mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1, PDLength: 60_000, PrivateData: make([]byte, 60_000)}.Append(nil)
	for i := range n {
		c := w.side(i, tracetest.Client)
		c.tcp(packet.FlagSYN, 0, 0, nil)
		w.side(i, tracetest.Server).tcp(packet.FlagSYN|packet.FlagACK, 0, 1, nil)
		c.tcp(packet.FlagACK, 1, 1, req[:len(req)-1])
	}
}

// holes leaves out every other packet of FPDUs.
func holes(n int, w *wire) {
	var enc mpa.Encoder
	enc.CRC = true
	fpdu := tracetest.Framed(enc.Append(nil, tracetest.Write(1, 0, true, make([]byte, 1000))))
	for i := range n {
		seq := begun(w, i)
		c := w.side(i, tracetest.Client)
		for range 8 {
			seq[0] += 2 * uint32(len(fpdu))
			c.tcp(packet.FlagACK, seq[0], seq[1], fpdu)
		}
	}
}

// inits begins SCTP associations (RFC 9260 section 3.3.2) with IPv6 addresses.
func inits(n int, w *wire) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for i := range n {
		c := w.side(i, tracetest.Client)
		b := binary.BigEndian.AppendUint16(nil, c.srcPort)
		b = binary.BigEndian.AppendUint16(b, c.dstPort)
		b = append(b, make([]byte, 8)...) // tag 0, checksum
		const most = 100
		b = append(b, 1, 0)
		b = binary.BigEndian.AppendUint16(b, 20+8+20*most)
		b = binary.BigEndian.AppendUint32(b, uint32(i)|1)
		b = binary.BigEndian.AppendUint32(b, 1<<20)
		b = append(b, 0, 16, 0, 16, 0, 0, 0, 1)
		b = append(b, 0xc0, 6, 0, 8, 0, 0, 0, 1) // DDP (RFC 5043 section 5.1)
		for k := range most {
			b = append(b, 0, 6, 0, 20, 0xfd)
			b = binary.BigEndian.AppendUint32(b, uint32(i))
			b = append(b, make([]byte, 10)...)
			b = append(b, byte(k))
		}
		binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b, table))
		c.sctp(b)
	}
}

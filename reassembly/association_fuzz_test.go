package reassembly_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// assocRecord is an operation in the input of FuzzAssociation: what and which
// side, flags of the chunk, a TSN (16 bits signed, around the one awaited),
// stream, message, fragment, length and how much of it was captured.
const assocRecord = 9

const (
	opData = iota
	opIData
	opSkip
	opAck
	opForward
	opStart
	opTick // packets of the association that bring nothing
	opSettle
)

// operation writes what FuzzAssociation reads. Flag 0x80 repeats the chunk, each
// time with a TSN two higher, for lists with many holes.
func operation(op, side int, flags byte, tsn int16, sid, mid, fsn, n, captured byte) []byte {
	b := []byte{byte(op) | byte(side)<<3, flags}
	b = binary.BigEndian.AppendUint16(b, uint16(tsn))
	return append(b, sid<<4|mid, fsn, n, captured, 0)
}

// FuzzAssociation turns octets into the life of an association.
func FuzzAssociation(f *testing.F) {
	const b, e, u = beginFlag, endFlag, unorderedFlag
	op := operation
	for _, in := range [][]byte{
		slices.Concat(op(opStart, 0, 0, 0, 0, 0, 0, 0, 0), op(opData, 0, b|e|u, 0, 1, 0, 0, 9, 9), op(opData, 0, b|e, 0, 1, 0, 0, 9, 5), op(opAck, 1, 0, 0, 0, 0, 0, 0, 0)),
		slices.Concat(op(opData, 1, b, 0, 1, 0, 0, 9, 9), op(opData, 1, 0, 1, 1, 0, 0, 9, 9), op(opData, 1, e, 0, 1, 0, 0, 9, 9), op(opData, 1, e, -3, 1, 0, 0, 255, 1)),
		slices.Concat(op(opIData, 0, b, 0, 1, 3, 0, 9, 9), op(opIData, 0, b|u, 0, 1, 3, 0, 9, 9), op(opIData, 0, e, 2, 1, 3, 1, 9, 9), op(opIData, 0, e|u, -1, 1, 3, 1, 9, 9)),
		slices.Concat(op(opData, 0, b, 0, 1, 0, 0, 9, 9), op(opData, 0, e, 3, 1, 0, 0, 9, 9), op(opForward, 0, 0, 9, 0, 0, 0, 0, 0), op(opData, 0, b|e, -2, 1, 0, 0, 9, 9)),
		slices.Concat(op(opData, 0, b|e, 0, 1, 0, 0, 9, 9), op(opData, 0, b|e, 3, 1, 0, 0, 9, 9), op(opAck, 1, 0, 3, 0, 0, 0, 1, 4), op(opTick, 0, 0, 0, 0, 0, 0, 200, 0), op(opSkip, 0, 0, -1, 0, 0, 0, 0, 0)),
		slices.Repeat(op(opData, 0, b, 5, 1, 0, 0, 255, 255), 60),
		slices.Concat(op(opData, 0, b|e|0x80, 1, 1, 0, 0, 255, 255), op(opData, 0, e|0x80, -512, 1, 0, 0, 255, 255), op(opForward, 0, 0, 1024, 0, 0, 0, 0, 0)),
	} {
		f.Add(uint32(0), uint16(0), uint16(0), byte(0), in)
		f.Add(uint32(1<<32-5), uint16(3000), uint16(4000), byte(4), in)
		f.Add(uint32(1<<31-2), uint16(65535), uint16(65535), byte(64), in)
	}
	f.Fuzz(func(t *testing.T, isn uint32, perDirection, total uint16, grace byte, in []byte) {
		z := &fuzzedAssoc{t: t, isn: isn, perDirection: int(perDirection), total: int(total)}
		z.budget = reassembly.NewBudget(z.perDirection, z.total)
		z.budget.Grace = uint64(grace)
		z.a.Init(z.budget)
		for side := range z.chunks {
			z.chunks[side] = map[uint32]*fuzzedChunk{}
		}
		// Fewer than would take the TSN all the way round.
		for n := 0; len(in) >= assocRecord && n < 1000; n++ {
			z.operation(in[:assocRecord])
			in = in[assocRecord:]
		}
		z.end()
	})
}

// fuzzedChunk is a chunk that counts: the first with its TSN.
type fuzzedChunk struct {
	tsn      int64
	wire     int
	captured int
	salt     byte
	out      bool
}

type fuzzedAssoc struct {
	t                   *testing.T
	isn                 uint32
	perDirection, total int
	budget              *reassembly.Budget
	a                   reassembly.Association
	frame               uint64
	chunks              [2]map[uint32]*fuzzedChunk
	out                 [2]uint64
	bursts              int
	// start is the first TSN, early are the chunks from before it.
	start [2]int64
	early [2]int
	buf   [8192]byte
}

func (z *fuzzedAssoc) operation(b []byte) {
	side := int(b[0] >> 3 & 1)
	near := uint32(z.a.FirstMissing(side))
	if !z.a.StartKnown(side) && len(z.chunks[side]) == 0 {
		near = z.isn
	}
	tsn := near + uint32(int32(int16(binary.BigEndian.Uint16(b[2:]))))
	switch op := int(b[0] & 7); op {
	case opData, opIData:
		times := 1
		if b[1]&0x80 != 0 && z.bursts < 8 {
			z.bursts++
			times = 300
		}
		for range times {
			z.data(side, op == opIData, tsn, b)
			tsn += 2
		}
	case opSkip:
		z.packet()
		if len(z.chunks[side]) == 0 {
			z.start[side] = int64(tsn)
		}
		if n := z.a.Skip(side, &reassembly.Chunk{TSN: tsn}); n&(reassembly.Retransmission|reassembly.BeforeStart) == 0 {
			z.chunks[side][tsn] = &fuzzedChunk{out: true}
			z.out[side]++
		}
	case opAck:
		// The other side acknowledges.
		z.packet()
		z.a.Ack(1-side, tsn, blocks(uint16(b[5]), uint16(b[6]), uint16(b[7]), uint16(b[8])*16))
	case opForward:
		z.packet()
		settled := z.a.FirstMissing(side)
		if n := z.a.Forward(side, tsn); n < 0 || z.a.FirstMissing(side) < settled {
			z.t.Fatalf("%d given up, settled %d, before %d", n, z.a.FirstMissing(side), settled)
		}
	case opStart:
		z.a.Start(side, tsn)
	case opTick:
		for range b[6] {
			z.packet()
		}
	}
	if b[0]&0x80 == 0 { // else there is more in the packet
		z.settle(false)
	}
}

func (z *fuzzedAssoc) packet() {
	z.frame++
	z.a.Packet()
}

// octet i of a chunk.
func (c *fuzzedChunk) octet(i int) byte { return byte(i) + c.salt + byte(c.tsn)*7 }

func (z *fuzzedAssoc) data(side int, idata bool, tsn uint32, b []byte) {
	if at := z.a.FirstMissing(side) + int64(int32(tsn-uint32(z.a.FirstMissing(side)))); len(z.chunks[side]) > 0 && at < z.start[side] {
		// Not all of many are remembered.
		if z.early[side]++; z.early[side] >= 1024 {
			return
		}
	}
	z.packet()
	c := &fuzzedChunk{wire: int(b[6]) << (b[1] >> 4 & 3)}
	c.captured, c.salt = min(c.wire, int(b[7])<<(b[1]>>4&3)), b[8]+byte(z.frame)
	c.tsn = int64(tsn) // its low bits
	d := reassembly.Chunk{
		I: idata, Flags: b[1] & 15, TSN: tsn, SID: uint16(b[4] >> 4), PPID: 16, Octets: z.buf[:c.captured],
	}
	if idata {
		d.MID, d.FSN = uint32(b[4]&15), uint32(b[5])
	}
	for i := range d.Octets {
		d.Octets[i] = c.octet(i)
	}
	carriage := reassembly.Carriage{Frame: z.frame, Time: int64(z.frame)}
	if b[1]&0x40 != 0 {
		carriage.Fragments = []uint64{z.frame, z.frame + 1}
		z.frame++
		carriage.Frame, carriage.Time = z.frame, int64(z.frame)
	}
	m, at, note := z.a.Data(side, &d, c.wire, &carriage)
	if uint32(at) != tsn {
		z.t.Fatalf("TSN %d is unwrapped to %d", tsn, at)
	}
	if len(z.chunks[side]) == 0 {
		z.start[side] = at
	}
	fresh := note&(reassembly.Retransmission|reassembly.BeforeStart) == 0
	if old := z.chunks[side][tsn]; fresh {
		if old != nil {
			z.t.Fatalf("TSN %d came before, but it is %q", at, notes(note))
		}
		c.tsn = at
		z.chunks[side][tsn] = c
	}
	if m != nil {
		if !fresh {
			z.t.Fatalf("%v is handed out with TSN %d, which is %q", m.TSNs, at, notes(note))
		}
		z.message(side, m)
	}
	clear(d.Octets)
}

// message checks what is handed out: chunks that came, each for the first time,
// with the octets that they had.
func (z *fuzzedAssoc) message(side int, m *reassembly.Message) {
	z.t.Helper()
	if len(m.TSNs) == 0 || len(m.Frames) == 0 || m.Frame != z.frame || m.Time != int64(z.frame) || m.PPID != 16 {
		z.t.Fatalf("message %+v with frame %d", m, z.frame)
	}
	for i, f := range m.Frames {
		if f == 0 || f > z.frame || i > 0 && f <= m.Frames[i-1] {
			z.t.Fatalf("frames %v", m.Frames)
		}
	}
	at, length, reach := 0, 0, true
	for i, tsn := range m.TSNs {
		c := z.chunks[side][tsn]
		switch {
		case c == nil || c.out:
			z.t.Fatalf("TSN %d of %v was never sent, or handed out before: %+v", tsn, m.TSNs, c)
		case i == 0 && c.tsn != m.First:
			z.t.Fatalf("first TSN %d, want %d", m.First, c.tsn)
		}
		c.out = true
		z.out[side]++
		length += c.wire
		for k := 0; reach && k < c.captured; k++ {
			if at >= len(m.Octets) || m.Octets[at] != c.octet(k) {
				z.t.Fatalf("octet %d of %v is not that of TSN %d", at, m.TSNs, tsn)
			}
			at++
		}
		reach = reach && c.captured == c.wire
	}
	if len(m.Octets) != at || m.Length != length || m.Whole && !reach {
		z.t.Fatalf("%d octets of %d, whole %v, want %d of %d, %v", len(m.Octets), m.Length, m.Whole, at, length, reach)
	}
}

// settle is what a caller does after each packet.
func (z *fuzzedAssoc) settle(end bool) {
	z.t.Helper()
	for side := range 2 {
		settled := z.a.FirstMissing(side)
		if n := z.a.Age(side); n < 0 || z.a.FirstMissing(side)-settled < n {
			z.t.Fatalf("%d given up, settled %d, before %d", n, z.a.FirstMissing(side), settled)
		}
		for range len(z.chunks[side]) + 2 {
			m := z.a.Broken(side, end, z.frame, int64(z.frame))
			if m == nil {
				break
			}
			if m.Whole {
				z.t.Fatalf("%v is whole, but was handed out as broken", m.TSNs)
			}
			if !m.Headless { // it is counted as orphans
				z.message(side, m)
			}
		}
		if z.a.FirstMissing(side) > z.a.High(side) {
			z.t.Fatalf("settled %d beyond %d", z.a.FirstMissing(side), z.a.High(side))
		}
	}
	if used := z.budget.Used(); used > z.total || used > 2*z.perDirection {
		z.t.Fatalf("%d octets in use, may be %d and %d", used, z.perDirection, z.total)
	}
}

func (z *fuzzedAssoc) end() {
	z.settle(true)
	if z.budget.Used() != 0 {
		z.t.Errorf("%d octets in use at the end", z.budget.Used())
	}
	for side := range 2 {
		st := z.a.Stats(side)
		if n := uint64(len(z.chunks[side])); z.out[side]+st.Orphans != n {
			z.t.Errorf("%d chunks, of which %d were handed out and %d orphans", n, z.out[side], st.Orphans)
		}
		if st.Retransmitted+st.Reordered > st.Chunks || st.GapTSNs < st.Gaps {
			z.t.Errorf("counts %+v", st)
		}
	}
}

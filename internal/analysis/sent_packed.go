package analysis

import "github.com/iwdissect/iwdissect/internal/deltas"

// packedRuns are the runs before the latest one, the oldest first. A run is a record for
// its first segment, and one for each few of those behind it.
type packedRuns struct {
	kept deltas.List
	// foreseen is the next run, oldest what was foreseen for the oldest one.
	foreseen, oldest packedRun
}

// packedRun is the first segment of a run in words, and what all have in common.
type packedRun [7]uint64

// behind are the distances of segments of a run, each in half a word.
type behind [7]uint64

// perRecord is how many they are.
const perRecord = 2 * len(behind{})

func (r *sentRun) pack() packedRun {
	return packedRun{
		r.key, r.step, r.pdu, r.frame, uint64(r.offset), uint64(r.name), //nolint:gosec // modulo 2^64
		uint64(r.n) | uint64(r.length)<<8 | uint64(r.control[0])<<40 | uint64(r.control[1])<<48,
	}
}

// next is the run that would go on with a run.
func (p *packedRun) next(r *sentRun) packedRun {
	n := *p
	n[0] += r.step * uint64(r.n)
	for k := range int(r.n) - 1 {
		n[2] += uint64(r.pdus[k])
		n[3] += uint64(r.frames[k])
		n[4] += uint64(r.offsets[k]) * unit
	}
	return n
}

func (p *packedRun) unpack() sentRun {
	return sentRun{
		key: p[0], step: p[1], pdu: p[2], frame: p[3], offset: int64(p[4]), name: uint32(p[5]), //nolint:gosec // as packed
		n: uint8(p[6]), length: uint32(p[6] >> 8), control: [2]byte{byte(p[6] >> 40), byte(p[6] >> 48)}, //nolint:gosec // as packed
	}
}

// distance is that of the kth segment behind the first one.
func (r *sentRun) distance(k int) uint64 {
	return uint64(r.pdus[k]) | uint64(r.frames[k])<<8 | uint64(r.offsets[k])<<16
}

func (r *sentRun) setDistance(k int, v uint64) {
	r.pdus[k], r.frames[k], r.offsets[k] = uint8(v), uint8(v>>8), uint16(v>>16) //nolint:gosec // as packed
}

// foreseen are the distances of FPDUs in frames of their own.
func (r *sentRun) foreseen() (b behind) {
	const around = 6 + unit - 1 // its length, its CRC, and the pad
	one := uint64(1|1<<8) | uint64(r.length+around)/unit<<16&0xffffffff
	for i := range b {
		b[i] = one | one<<32
	}
	return b
}

func (p *packedRuns) add(r *sentRun) {
	next := r.pack()
	p.kept.Add(0, next[:], p.foreseen[:])
	p.foreseen = next.next(r)
	for k := 0; k < int(r.n)-1; k += perRecord {
		like := r.foreseen()
		b := like
		for i := k; i < min(k+perRecord, int(r.n)-1); i++ {
			half := (i - k) % 2 * 32
			w := &b[(i-k)/2]
			*w = *w&^(0xffffffff<<half) | r.distance(i)<<half
		}
		p.kept.Add(0, b[:], like[:])
	}
}

// drop drops the oldest run.
func (p *packedRuns) drop() {
	u := p.unpack()
	u.next()
	p.kept.Drop(&u.read)
	p.oldest = u.foreseen
}

// unpacking are runs that are read.
type unpacking struct {
	read     deltas.Reader
	foreseen packedRun
	run      sentRun
}

// unpack begins with the oldest run.
func (p *packedRuns) unpack() unpacking { return unpacking{read: p.kept.Read(), foreseen: p.oldest} }

// next reads a run. It is borrowed until the next one.
func (u *unpacking) next() *sentRun {
	u.read.Next(u.foreseen[:])
	u.run = u.foreseen.unpack()
	r := &u.run
	for k := 0; k < int(r.n)-1; k += perRecord {
		b := r.foreseen()
		u.read.Next(b[:])
		for i := k; i < min(k+perRecord, int(r.n)-1); i++ {
			r.setDistance(i, b[(i-k)/2]>>((i-k)%2*32))
		}
	}
	u.foreseen = u.foreseen.next(r)
	return r
}

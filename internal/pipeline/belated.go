package pipeline

import "github.com/iwdissect/iwdissect/trace"

// Belated is a sink that counts the PDUs that became known behind their frame: octets were
// missing before them, and where they begin was found out later. What takes a frame with all
// that became known with it as one has them elsewhere.
type Belated struct {
	// Later became known with another frame, Never when there were no more frames.
	Later, Never uint64
	// newest is the highest frame of the PDUs since the last frame, which have are of; others are older.
	newest       uint64
	have, others uint64
}

// PDU implements [trace.Sink].
func (b *Belated) PDU(p *trace.PDU) {
	switch {
	case p.Frame == b.newest:
		b.have++
	case p.Frame > b.newest:
		b.newest, b.have, b.others = p.Frame, 1, b.others+b.have
	default:
		b.others++
	}
}

// Frame implements [Sink].
func (b *Belated) Frame(f *Frame) {
	b.Later += b.others
	if b.newest != f.Number {
		b.Later += b.have
	}
	b.newest, b.have, b.others = 0, 0, 0
}

// Finish takes note that there are no more frames.
func (b *Belated) Finish() {
	b.Never += b.others + b.have
	b.newest, b.have, b.others = 0, 0, 0
}

// Gap implements [trace.Sink].
func (*Belated) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (*Belated) Transaction(*trace.Transaction) {}

var _ Sink = (*Belated)(nil)

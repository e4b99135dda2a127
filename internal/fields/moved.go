package fields

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Moved is a PDU that became known behind the frame in whose row it belongs, with the
// transactions that it completed.
type Moved struct {
	PDU          *trace.PDU
	Transactions []*trace.Transaction
	// Own: the frame is the one that completed the PDU, of which the PDU says that it is its
	// own. If not, octets were missing before the PDU when all of its octets were there.
	Own  bool
	conn uint64
}

// moved are those of a capture. What is kept of them is bounded: the others stay where they
// became known.
type moved struct {
	// at is the frame at hand while the capture is read for the first time, 0 between frames.
	at      uint64
	byFrame map[uint64][]Moved
	numbers map[uint64]bool // by the number of the PDU: Own
	conns   map[uint64]*trace.Connection
	octets  int
	// last is the frame of the PDU that came last, if that belongs to another frame than the one at hand.
	last uint64
}

const (
	// mostMoved bounds the memory of PDUs that are moved, pduWeight is what one takes besides its octets.
	mostMoved = 64 << 20
	pduWeight = 1 << 10
)

// Move has a first run find out which PDUs belong to an earlier frame than the one that made
// them known. That run has to tell of all frames: see Opened and Frame.
func (h *Hindsight) Move() {
	h.moved = &moved{byFrame: map[uint64][]Moved{}, numbers: map[uint64]bool{}, conns: map[uint64]*trace.Connection{}}
}

// Finds reports whether a first run finds out which PDUs are to be moved.
func (h *Hindsight) Finds() bool { return h != nil && h.moved != nil }

// Moves reports whether there are PDUs to move.
func (h *Hindsight) Moves() bool { return h.Finds() && len(h.moved.numbers) > 0 }

// Opened begins a frame of the first run.
func (h *Hindsight) Opened(f *pipeline.Frame) {
	if h.moved != nil {
		h.moved.at, h.moved.last = f.Number, 0
	}
}

// Frame ends one.
func (h *Hindsight) Frame(*pipeline.Frame) {
	if h.moved != nil {
		h.moved.at, h.moved.last = 0, 0
	}
}

// rowOf is the frame in whose row a PDU belongs: that with which the last of its octets came.
// The frame that made it known may have filled a hole before it.
func rowOf(p *trace.PDU) uint64 {
	if _, own := slices.BinarySearch(p.Frames, p.Frame); own || len(p.Frames) == 0 || p.FramesOmitted > 0 {
		return p.Frame
	}
	for _, f := range slices.Backward(p.Frames) {
		if !slices.Contains(p.Retransmitted, f) {
			return f
		}
	}
	return p.Frames[0]
}

// pdu takes a PDU of the first run.
func (m *moved) pdu(p *trace.PDU) {
	at := rowOf(p)
	if m.last = 0; at == m.at {
		return
	}
	size := pduWeight + len(p.Octets) + len(p.StartupRaw)
	if p.FPDU != nil {
		size += len(p.FPDU.Wire) + len(p.FPDU.ULPDU)
	}
	if p.Chunk != nil {
		size += len(p.Chunk.Octets)
	}
	if m.octets+size > mostMoved {
		return
	}
	m.octets += size
	own := p.Clone()
	if own.Conn = m.conns[p.Conn.Number]; own.Conn == nil {
		own.Conn = p.Conn.Clone()
		m.conns[p.Conn.Number] = own.Conn
	}
	own.Frame = at
	m.byFrame[at] = append(m.byFrame[at], Moved{PDU: own, Own: at == p.Frame, conn: p.Conn.Number})
	m.numbers[p.Number], m.last = at == p.Frame, at
}

// transaction takes one of the first run. It comes behind the PDU that completed it.
func (m *moved) transaction(t *trace.Transaction) {
	of := m.byFrame[m.last]
	if m.last == 0 || len(of) == 0 {
		return
	}
	last := &of[len(of)-1]
	own := t.Clone()
	own.Conn, own.Frame = last.PDU.Conn, m.last
	last.Transactions = append(last.Transactions, own)
}

// Elsewhere reports whether a PDU that becomes known in a second run has its place in the row of
// an earlier frame, where MovedTo told of it.
func (h *Hindsight) Elsewhere(pdu uint64) bool {
	if !h.Finds() {
		return false
	}
	_, ok := h.moved.numbers[pdu]
	return ok
}

// ElsewhereOwn is Elsewhere for PDUs of which that frame is their own.
func (h *Hindsight) ElsewhereOwn(pdu uint64) bool { return h.Finds() && h.moved.numbers[pdu] }

// MovedTo are the PDUs that belong to the row of a frame of a second run, and become known later.
func (h *Hindsight) MovedTo(f *pipeline.Frame) []Moved {
	if !h.Moves() {
		return nil
	}
	all := h.moved.byFrame[f.Number]
	for i := range all {
		m := &all[i]
		if m.PDU.Time = f.Moment(); f.Conn != nil && f.Conn.Number == m.conn {
			m.PDU.Conn = f.Conn
		}
		for _, t := range m.Transactions {
			t.Conn = m.PDU.Conn
		}
	}
	return all
}

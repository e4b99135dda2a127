package details

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/trace"
)

// keep takes note of the octets of a PDU that its nodes may have been read from.
func (s *Sink) keep(p *trace.PDU, b *block) {
	if !s.opt.Parts {
		return
	}
	add := func(name string, octets []byte) int {
		s.parts = append(s.parts, Part{name, octets})
		return len(s.parts)
	}
	switch {
	case p.FPDU != nil:
		b.wire = add("FPDU", p.FPDU.Wire)
		if b.stripped {
			bare := binary.BigEndian.AppendUint16(make([]byte, 0, mpaLengthSize+len(p.FPDU.Head)), p.FPDU.ULPDULength)
			if p.FPDU.ULPDU != nil {
				bare = append(bare, p.FPDU.ULPDU...)
			} else {
				bare = append(bare, p.FPDU.Head...)
			}
			b.bare = add("FPDU without markers", bare)
		}
	case p.Chunk != nil:
		head, _, _ := p.ULPDU()
		b.wire = add("DDP segment", head)
	case p.StartupRaw != nil:
		b.wire = add("startup frame", p.StartupRaw)
	default:
		b.wire = add("octets", p.Octets)
	}
}

// ofParts says of the nodes of a PDU in which of its parts they stand.
func (s *Sink) ofParts(b *block) {
	for i := b.from; i < b.own; i++ {
		n := &s.pdus.Nodes[i]
		if n.Part = b.wire; b.stripped && i >= b.ddp {
			n.Part = b.bare
		}
	}
	unread(s.pdus.Nodes[b.own:b.to])
}

// unread marks nodes that were read from no octets.
func unread(nodes []Node) {
	for i := range nodes {
		nodes[i].Part = -1
	}
}

// Alone writes a PDU that became known between frames: its tree, without one of a frame. It is
// called instead of PDU and Frame.
func (s *Sink) Alone(p *trace.PDU) {
	s.forget()
	s.PDU(p)
	s.begin()
	s.tree.reset()
	s.ofParts(&s.blocks[0])
	s.tree.join(&s.pdus)
	s.form.Frame(&s.out, &Frame{Tree: &s.tree, summary: &s.line, parts: s.parts})
	s.forget()
	s.out.done()
}

package model

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// Changes reports whether a segment that goes on with a message has other RsvdULP fields than its first one, in a tagged
// message another opcode. It need not repeat what is wrong there by itself, which other rules report: a version or reserved
// bits that the segment has right, an opcode that is not assigned, here or there, or does not fit the T bit, or an STag to
// invalidate that the opcode does not have.
func (s *Segment) Changes(m *Message) bool {
	g := s.DDP
	if g.RsvdULP == m.Control && (g.Tagged || g.RsvdULP32 == m.Field) {
		return false // nearly always
	}
	first, own := rdmap.ControlOf(m.Control), rdmap.ControlOf(g.RsvdULP)
	if unknown(first.Opcode) || unknown(own.Opcode) || own.Opcode.Assigned() && own.Opcode.Tagged() != g.Tagged {
		first.Opcode = own.Opcode
	}
	if g.Tagged {
		return own.Opcode != first.Opcode
	}
	if first.RV > 1 || s.HasVersions && own.RV == s.RDMAPVersion {
		first.RV = own.RV
	}
	if own.Rsv == 0 {
		first.Rsv = 0
	}
	noSTag := !s.Op.Invalidates() && g.RsvdULP32 == 0
	return own != first || g.RsvdULP32 != m.Field && !noSTag
}

// unknown reports whether an opcode is neither assigned nor reserved for experiments.
func unknown(op rdmap.Opcode) bool { return !op.Assigned() && op != rdmap.OpExperimental }

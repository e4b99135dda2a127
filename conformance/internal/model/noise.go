package model

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Extensions are the opcodes of RFC 7306.
var Extensions = OpcodeSet(rdmap.OpImmediate, rdmap.OpImmediateSE, OpAtomicRequest, OpAtomicResponse)

// Extension reports whether an opcode is of RFC 7306.
func Extension(op rdmap.Opcode) bool { return op >= rdmap.OpImmediate && op <= OpAtomicResponse }

// isNoise reports whether everything in the headers of a segment is impossible; if
// no CRC proves that it is one, whether most of it is or was different so far.
func (s *Segment) isNoise() bool {
	unverified := s.PDU.FPDU != nil && (s.PDU.FPDU.CRCStatus == mpa.CRCUnverifiable || s.PDU.FPDU.CRCStatus == mpa.CRCOff)
	differs := func(now, before uint8) bool { return now > 1 || unverified && s.HasVersions && now != before }
	wrong, asked := 0, 0
	ask := func(bad bool) {
		asked++
		if bad {
			wrong++
		}
	}
	ask(differs(s.DDP.DV, s.DDPVersion))
	ask(differs(s.PDU.Control.RV, s.RDMAPVersion))
	ask(!s.Op.Assigned())
	if s.Op.Assigned() {
		ask(s.DDP.Tagged != s.Op.Tagged())
		if qn, ok := s.Op.Queue(); ok && !s.DDP.Tagged {
			ask(s.DDP.QN != qn)
		}
	}
	const most = 3
	return asked >= most && (wrong == asked || unverified && wrong >= most)
}

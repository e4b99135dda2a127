package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// extensions are the opcodes of RFC 7306.
var extensions = on(rdmap.OpImmediate, rdmap.OpImmediateSE, opAtomicRequest, opAtomicResponse)

// extension reports whether an opcode is of RFC 7306.
func extension(op rdmap.Opcode) bool { return op >= rdmap.OpImmediate && op <= opAtomicResponse }

// isNoise reports whether everything in the headers of a segment is impossible; if
// its CRC was cut off, whether most of it is or was different so far.
func (s *segment) isNoise() bool {
	unverified := s.p.FPDU != nil && s.p.FPDU.CRCStatus == mpa.CRCUnverifiable
	differs := func(now, before uint8) bool { return now > 1 || unverified && s.hasVersions && now != before }
	wrong, asked := 0, 0
	ask := func(bad bool) {
		asked++
		if bad {
			wrong++
		}
	}
	ask(differs(s.seg.DV, s.dv))
	ask(differs(s.p.Control.RV, s.rv))
	ask(!s.op.Assigned())
	if s.op.Assigned() {
		ask(s.seg.Tagged != s.op.Tagged())
		if qn, ok := s.op.Queue(); ok && !s.seg.Tagged {
			ask(s.seg.QN != qn)
		}
	}
	const most = 3
	return asked >= most && (wrong == asked || unverified && wrong >= most)
}

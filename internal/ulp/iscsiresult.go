package ulp

import "github.com/iwdissect/iwdissect/dissect/iser"

// markBlocks is the mark of a SCSI command that moves or compares logical blocks.
const markBlocks = 1

// result is what a response says of its task.
func (p *pdu) result() result {
	switch h := p.h; h.Opcode {
	case iser.SCSIResponse:
		return p.scsi()
	case iser.LoginResponse:
		v := uint16(h.Words[4] >> 16)
		return result{v != 0, iser.OrdinaryLogin(v), iser.LoginStatusName(uint64(v)), uint32(v), 4}
	case iser.TaskResponse:
		return result{h.Two != 0, iser.OrdinaryTask(h.Two), iser.TaskResponseName(uint64(h.Two)), uint32(h.Two), 2}
	case iser.LogoutResponse:
		return result{h.Two != 0, iser.OrdinaryLogout(h.Two), iser.LogoutResponseName(uint64(h.Two)), uint32(h.Two), 2}
	default:
		return result{}
	}
}

// scsi is what a SCSI Response says of its command.
func (p *pdu) scsi() result {
	h := p.h
	switch {
	case h.Two != 0:
		return result{true, false, "no SCSI status: iSCSI response", uint32(h.Two), 2}
	case iser.CheckCondition(h.Three):
		return p.checkCondition()
	}
	r := result{word: iser.SCSIStatusName(uint64(h.Three)), code: uint32(h.Three), digits: 2}
	r.failed, r.ordinary = h.Three != 0 && h.Three != conditionMet, iser.OrdinarySCSIStatus(h.Three)
	return r
}

// checkCondition is what the sense data say. Where they were not captured nothing is known.
func (p *pdu) checkCondition() result {
	if p.h.DataLength == 0 {
		return result{failed: true, word: "CHECK CONDITION without sense data"}
	}
	from := iser.BHSLen + 4*int(p.h.AHSLength)
	s, ok := iser.DecodeSense(p.octets[min(from, len(p.octets)):])
	if !ok {
		return result{failed: true, ordinary: true}
	}
	o := p.n.asked(uint64(p.h.ITT))
	return result{true, s.Ordinary(o != nil && o.Mark == markBlocks), s.Name(), uint32(s.Code), 4}
}

// rejected tells of a Reject, whose data are the header of the PDU that the target rejects (RFC 7143 section 11.17).
func (p *pdu) rejected() {
	name, from := "", iser.BHSLen+4*int(p.h.AHSLength)
	if h, err := iser.DecodeBHS(p.octets[min(from, len(p.octets)):]); err == nil && p.h.DataLength >= iser.BHSLen {
		name = "iSCSI " + h.Opcode.String()
	}
	p.n.fails(nil, name, result{true, iser.OrdinaryReject(p.h.Two), iser.RejectName(uint64(p.h.Two)), uint32(p.h.Two), 2})
}

package ulp

import (
	"github.com/iwdissect/iwdissect/dissect/iser"
)

// pdu is an iSCSI PDU behind an iSER header.
type pdu struct {
	c      *iser.Control
	h      *iser.BHS
	m      *Message
	n      *Note
	octets []byte
}

// conditionMet is the SCSI status of a search or the like that found something.
const conditionMet = 0x04

// describe says what the PDU is, and follows its task.
func (p *pdu) describe() {
	h := p.h
	switch h.Opcode {
	case iser.SCSICommand:
		p.command()
	case iser.SCSIResponse, iser.LoginResponse, iser.TaskResponse, iser.LogoutResponse, iser.TextResponse:
		p.response(p.result())
	case iser.NOPIn:
		if h.ITT != iser.NoTask {
			p.response(result{})
			return
		}
		p.plain()
	case iser.DataOut:
		p.n.Own(uint64(h.ITT))
		p.plain()
	case iser.Reject:
		p.rejected()
		p.plain()
	case iser.AsyncMessage:
		p.plain()
	default:
		p.request()
	}
}

// begin is how the line about the PDU begins.
func (p *pdu) begin() []byte {
	b := append(append(p.n.Info(), "iSCSI "...), p.h.Opcode.String()...)
	if p.h.ITT == iser.NoTask {
		return b
	}
	return appendHex(b, " itt ", uint64(p.h.ITT), 8)
}

// plain describes a PDU that neither asks for anything nor answers.
func (p *pdu) plain() {
	b := p.begin()
	switch p.h.Opcode {
	case iser.Reject:
		b = append(append(b, ": "...), iser.RejectName(uint64(p.h.Two))...)
	case iser.AsyncMessage:
		b = append(append(b, ": "...), iser.AsyncName(uint64(p.h.Words[4]>>24))...)
	case iser.DataOut:
		b = appendUint(b, " offset ", uint64(p.h.Words[5]))
	default:
	}
	p.n.SetInfo(p.data(b))
}

// data says how many octets the PDU carries.
func (p *pdu) data(b []byte) []byte {
	if p.h.DataLength > 0 {
		b = append(appendOctets(append(b, ", "...), uint64(p.h.DataLength)), " in the PDU"...)
	}
	return b
}

// requestNames are those of operations that are no SCSI command.
func requestName(o iser.PDU) string {
	switch o {
	case iser.LoginRequest:
		return "Login"
	case iser.LogoutRequest:
		return "Logout"
	case iser.TextRequest:
		return "Text"
	case iser.TaskRequest:
		return "Task Management"
	case iser.NOPOut:
		return "NOP-Out"
	default:
		return o.String()
	}
}

// request describes a request other than a SCSI command.
func (p *pdu) request() {
	h := p.h
	b := p.begin()
	if h.ITT != iser.NoTask {
		o := p.n.Begin(uint64(h.ITT), requestName(h.Opcode))
		p.announce(o, 0)
	}
	switch h.Opcode {
	case iser.LoginRequest:
		b = appendStages(b, h)
	case iser.LogoutRequest:
		b = append(append(b, ": "...), iser.LogoutReasonName(uint64(h.Flags&0x7f))...)
	case iser.TaskRequest:
		b = append(append(b, ": "...), iser.TaskName(uint64(h.Flags&0x7f))...)
		b = appendHex(b, " of task ", uint64(h.Words[0]), 8)
	default:
	}
	p.n.SetInfo(p.data(b))
}

// appendStages says in which stage a login is, and into which it goes.
func appendStages(b []byte, h *iser.BHS) []byte {
	b = append(append(b, ' '), iser.StageName(uint64(h.Flags>>2&3))...)
	if h.Flags&0x80 != 0 {
		b = append(append(b, " to "...), iser.StageName(uint64(h.Flags&3))...)
	}
	return b
}

// command describes a SCSI command.
func (p *pdu) command() {
	h := p.h
	opcode := uint8(h.Words[3] >> 24)
	name, known := iser.SCSIName(opcode)
	length := h.Words[0]
	o := p.n.Begin(uint64(h.ITT), name)
	if _, _, moves := h.Blocks(); moves {
		o.Mark = markBlocks
	}
	p.announce(o, uint64(length))
	b := append(p.n.Info(), "iSCSI SCSI "...)
	if known {
		b = append(b, name...)
	} else {
		b = appendHex(b, "command ", uint64(opcode), 2)
	}
	b = appendHex(b, " itt ", uint64(h.ITT), 8)
	b = appendLUN(b, h.LUN)
	if lba, blocks, ok := h.Blocks(); ok {
		b = appendUint(b, " lba ", lba)
		b = appendUint(b, " blocks ", uint64(blocks))
	}
	switch reads, writes := h.Flags&0x40 != 0, h.Flags&0x20 != 0; {
	case reads && writes:
		b = append(appendOctets(append(b, ", "...), uint64(length)), " both ways"...)
	case reads:
		b = append(appendOctets(append(b, ", "...), uint64(length)), " to read"...)
	case writes:
		b = append(appendOctets(append(b, ", "...), uint64(length)), " to write"...)
	}
	if p.c.RSV {
		b = appendHex(b, ", read stag ", uint64(p.c.ReadSTag), 8)
	}
	if p.c.WSV {
		b = appendHex(b, ", write stag ", uint64(p.c.WriteSTag), 8)
	}
	p.n.SetInfo(p.data(b))
}

// appendLUN appends a logical unit as a number where it has a simple form.
func appendLUN(b []byte, lun uint64) []byte {
	if lun<<16 == 0 && lun>>62 < 2 {
		return appendUint(b, " lun ", lun>>48&0x3fff)
	}
	return appendHex(b, " lun ", lun, 16)
}

// announce notes the memory that a request lets the target use.
func (p *pdu) announce(o *Operation, length uint64) {
	if p.c.WSV {
		p.n.Announce(o, p.c.WriteSTag, p.c.WriteBase, length)
	}
	if p.c.RSV {
		p.n.Announce(o, p.c.ReadSTag, p.c.ReadBase, length)
	}
}

// response describes the answer to a task.
func (p *pdu) response(r result) {
	h, failed := p.h, r.failed
	o, ok := p.n.End(uint64(h.ITT), r)
	b := append(append(p.n.Info(), "iSCSI "...), h.Opcode.String()...)
	if ok && h.Opcode == iser.SCSIResponse {
		b = append(append(b, ' '), o.Name...)
	}
	b = appendHex(b, " itt ", uint64(h.ITT), 8)
	if failed {
		b = append(b, " FAILED:"...)
	}
	switch h.Opcode {
	case iser.SCSIResponse:
		if h.Two != 0 {
			b = appendHex(b, " response ", uint64(h.Two), 2)
		} else {
			b = append(append(b, ' '), iser.SCSIStatusName(uint64(h.Three))...)
		}
		if h.Flags&6 != 0 {
			b = appendUint(b, " residual ", uint64(h.Words[6]))
		}
	case iser.LoginResponse:
		if failed {
			b = append(append(b, ' '), iser.LoginStatusName(uint64(h.Words[4]>>16))...)
			b = append(appendHex(b, " (", uint64(h.Words[4]>>16), 4), ')')
		} else {
			b = appendStages(b, h)
		}
	case iser.TaskResponse:
		b = append(append(b, ' '), iser.TaskResponseName(uint64(h.Two))...)
	case iser.LogoutResponse:
		b = append(append(b, ' '), iser.LogoutResponseName(uint64(h.Two))...)
	default:
	}
	b = p.data(b)
	if ok {
		b = p.n.appendTook(b, &o)
	}
	p.n.SetInfo(b)
}

package view

import "github.com/iwdissect/iwdissect/trace"

// ID names a PDU of a capture, the same in each reading: its frame, and how many came before it
// with that frame. Those that became known after later frames count from late on.
type ID struct {
	Frame uint64
	Nth   uint32
}

// late is the first Nth of PDUs that became known behind their frame.
const late = 1 << 31

// identifier gives the PDUs of one reading their IDs.
type identifier struct {
	last ID
	any  bool
	late uint32
}

// of is the ID of the next PDU.
func (i *identifier) of(p *trace.PDU) ID {
	switch {
	case !i.any || p.Frame > i.last.Frame:
		i.last, i.any = ID{Frame: p.Frame}, true
	case p.Frame == i.last.Frame:
		i.last.Nth++
	default:
		i.late++
		return ID{p.Frame, late + i.late - 1}
	}
	return i.last
}

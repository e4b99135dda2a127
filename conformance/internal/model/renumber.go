package model

// Renumber gives the PDUs that outlast the connection the numbers that number says.
func (p *EndedConnection) Renumber(number func(uint64) uint64) {
	for _, f := range [...]*Frame{p.Request, p.Reply} {
		if f != nil {
			f.PDUNumber = number(f.PDUNumber)
		}
	}
	for _, o := range p.Operations {
		if o != nil && o.Refused != 0 {
			o.At.PDU = number(o.At.PDU)
		}
	}
}

// Crosses tells that a verdict depends on connections that others judge.
func (b *CaptureState) Crosses() {
	if b.Crossed != nil {
		b.Crossed()
	}
}

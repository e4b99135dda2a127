package dataset

import "github.com/iwdissect/iwdissect/trace"

// values is where the rows of PDUs of a batch point to: there are too many rows for values of
// their own.
type values struct {
	shard                     int32
	offset, qn, msn, mo, stag [batch]int64
	to                        [batch]uint64
}

// The values that many rows share.
var yes, no = true, false

// pdu makes the row of a PDU, which is the nth of its batch.
func (v *values) pdu(p *trace.PDU, n int) PDU {
	r := PDU{
		Shard: v.shard,
		PDU:   signed(p.Number), Conn: signed(p.Conn.Number), Frame: signed(p.Frame), Time: p.Time,
		Dir: p.Dir.String(), Kind: p.Kind.String(), Length: p.Length,
	}
	if p.HasOffset {
		v.offset[n] = p.Offset
		r.Offset = &v.offset[n]
	}
	if p.FPDU != nil {
		r.CRC = p.FPDU.CRCStatus.String()
	}
	s := p.Segment
	if s == nil {
		return r
	}
	r.Opcode, r.Last = p.Control.Opcode.String(), &no
	if s.Last {
		r.Last = &yes
	}
	if s.Tagged {
		v.stag[n], v.to[n] = int64(s.STag), s.TO
		r.STag, r.TO = &v.stag[n], &v.to[n]
	} else {
		v.qn[n], v.msn[n], v.mo[n] = int64(s.QN), int64(s.MSN), int64(s.MO)
		r.QN, r.MSN, r.MO = &v.qn[n], &v.msn[n], &v.mo[n]
	}
	return r
}

package fields

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// reassembledDataName is the field with the octets of a Send.
const reassembledDataName = "iwarp_rdma.send.reassembled.data"

const (
	// mostSent is the longest Send whose octets are put together, mostKept how many octets
	// of Sends that are not complete are kept; beyond that all of these are forgotten.
	mostSent = 16 << 20
	mostKept = 64 << 20
)

// sendOctets puts the octets of Sends of several segments together.
type sendOctets struct {
	open  map[sendFlow]*sentOctets
	kept  int
	plain []byte // an FPDU without its markers
}

// sentOctets are those of a Send, as far as its segments have come without a hole.
type sentOctets struct {
	msn uint32
	b   []byte
}

// add takes in a PDU. It returns the octets of a Send of several segments with the one that
// completes it; nil if some of them are missing. They are valid until the next call.
func (s *sendOctets) add(p *trace.PDU) []byte {
	if !isSend(p) {
		return nil
	}
	m, g, key := p.Message, p.Segment, sendFlow{p.Conn.Number, p.Dir}
	o := s.open[key]
	if m.Done && (m.Segments < 2 || !m.StartKnown) {
		s.drop(o)
		return nil
	}
	if o == nil {
		if len(s.open) >= mostFlows || s.kept > mostKept || s.open == nil {
			s.open, s.kept = map[sendFlow]*sentOctets{}, 0
		}
		o = &sentOctets{}
		s.open[key] = o
	}
	if o.msn != g.MSN || g.MO == 0 {
		s.drop(o)
		o.msn = g.MSN
	}
	octets, ok := s.payload(p)
	if !ok || int64(g.MO) != int64(len(o.b)) || len(o.b)+len(octets) > mostSent {
		s.drop(o) // what follows does not fit either
		return nil
	}
	o.b = append(o.b, octets...)
	s.kept += len(octets)
	if !m.Done {
		return nil
	}
	done := o.b
	s.drop(o)
	if int64(len(done)) != m.Length {
		return nil
	}
	return done
}

// drop forgets the octets of a Send.
func (s *sendOctets) drop(o *sentOctets) {
	if o != nil {
		s.kept -= len(o.b)
		o.b = o.b[:0]
	}
}

// payload are the octets behind an untagged header, if all of them are there. They are valid
// until the next call.
func (s *sendOctets) payload(p *trace.PDU) ([]byte, bool) {
	f := p.FPDU
	switch {
	case f == nil:
		head, n, whole := p.ULPDU()
		if !whole || len(head) != n || n < ddp.UntaggedLen {
			return nil, false
		}
		return head[ddp.UntaggedLen:], true
	case len(f.Missing) > 0:
		return nil, false
	case f.ULPDU != nil:
		return f.ULPDU[min(ddp.UntaggedLen, len(f.ULPDU)):], true
	}
	const lengthField = 2
	s.plain = s.plain[:0]
	from := 0
	for i := range f.Markers {
		at := int(f.Markers[i].Offset - f.Offset)
		if at < from || at+mpa.MarkerSize > len(f.Wire) {
			return nil, false
		}
		s.plain = append(s.plain, f.Wire[from:at]...)
		from = at + mpa.MarkerSize
	}
	s.plain = append(s.plain, f.Wire[from:]...)
	end := lengthField + int(f.ULPDULength)
	if end > len(s.plain) || int(f.ULPDULength) < ddp.UntaggedLen {
		return nil, false
	}
	return s.plain[lengthField+ddp.UntaggedLen : end], true
}

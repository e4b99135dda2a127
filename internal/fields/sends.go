package fields

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// The names of the fields that tell which frames a Send is made of.
const (
	fragmentName      = "iwarp_rdma.send.fragment"
	reassembledInName = "iwarp_rdma.send.reassembled_in"
)

// OfMessages reports whether one of the fields has what earlier PDUs of the same message say.
func OfMessages(list []*Field) bool {
	return slices.ContainsFunc(list, func(f *Field) bool { return f.Name == fragmentName || f.Name == reassembledDataName })
}

// sends follows the segments of the Sends of each direction.
type sends struct {
	open map[sendFlow]*openSend
}

type sendFlow struct {
	conn uint64
	dir  trace.Dir
}

// openSend is a Send of which segments have come.
type openSend struct {
	msn      uint32
	segments []sendSegment
}

type sendSegment struct{ pdu, frame uint64 }

const (
	// mostSegments of a Send are remembered, of at most mostFlows directions.
	mostSegments = 4096
	mostFlows    = 16384
)

// isSend reports whether a PDU is a segment of a Send.
func isSend(p *trace.PDU) bool {
	if p.Segment == nil || p.Segment.Tagged || p.Message == nil {
		return false
	}
	switch p.Control.Opcode {
	case rdmap.OpSend, rdmap.OpSendInv, rdmap.OpSendSE, rdmap.OpSendSEInv:
		return true
	default:
		return false
	}
}

// add takes in a PDU. It returns the segments of a Send of several segments with the one
// that completes it, in the order in which they came.
func (s *sends) add(p *trace.PDU) []sendSegment {
	if !isSend(p) {
		return nil
	}
	m, key := p.Message, sendFlow{p.Conn.Number, p.Dir}
	o := s.open[key]
	if m.Done && (m.Segments < 2 || !m.StartKnown) {
		if o != nil && o.msn == p.Segment.MSN {
			o.segments = o.segments[:0]
		}
		return nil
	}
	if o == nil {
		if len(s.open) >= mostFlows || s.open == nil {
			s.open = map[sendFlow]*openSend{} // those that are gone are forgotten with all others
		}
		o = &openSend{}
		s.open[key] = o
	}
	if o.msn != p.Segment.MSN || m.Segments == 1 {
		o.msn, o.segments = p.Segment.MSN, o.segments[:0]
	}
	if len(o.segments) < mostSegments {
		o.segments = append(o.segments, sendSegment{p.Number, p.Frame})
	}
	if !m.Done {
		return nil
	}
	done := o.segments
	o.segments = o.segments[:0]
	return done
}

// sendLayer has the frames of a Send of several segments.
var sendLayer = layer{
	ofPDUs: true,
	fields: []Field{{Name: fragmentName}, {Name: reassembledInName}, {Name: reassembledDataName}},
	read: func(c *Collector, slots []int) reader {
		fragment, in, data := slots[0], slots[1], slots[2]
		var s sends
		var whole sendOctets
		return reader{pdu: func(p *trace.PDU) {
			if fragment >= 0 {
				for _, x := range s.add(p) {
					c.number(fragment, x.frame)
				}
			}
			if data >= 0 {
				if b := whole.add(p); len(b) > 0 {
					c.octets(data, b)
				}
			}
			if in >= 0 && c.hindsight != nil {
				for _, x := range c.hindsight.reassembledOf(p.Number) {
					c.number(in, x.frame)
				}
			}
		}}
	},
}

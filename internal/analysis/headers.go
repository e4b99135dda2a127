package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// headers assembles the RDMAP headers of messages that were cut into several segments,
// by queue. A sender has no reason to cut them (RFC 5044 section 4.5), but a receiver
// places the segments like any others.
type headers [4]header

// header is one that is being assembled.
type header struct {
	open bool
	msn  uint32
	n    int // octets that are there
	b    [rdmap.AtomicRequestLen]byte
}

// header returns the RDMAP header of a message of several segments with the segment that
// makes it whole, else nil. body are the captured octets of its payload.
func (m *messages) header(seg *ddp.Segment, op rdmap.Opcode, body []byte, octets int64) []byte {
	if seg.Tagged || seg.Last && seg.MO == 0 || op == rdmap.OpTerminate {
		return nil
	}
	need := op.HeaderLen()
	if qn, ok := op.Queue(); !ok || qn != seg.QN || need == 0 {
		return nil
	}
	if m.cut == nil {
		m.cut = new(headers)
	}
	h := &m.cut[seg.QN]
	switch {
	case seg.MO == 0:
		*h = header{open: true, msn: seg.MSN}
	case !h.open || h.msn != seg.MSN || int(seg.MO) != h.n:
		h.open = false
		return nil
	}
	have := int64(min(len(body), need-h.n))
	h.n += copy(h.b[h.n:need], body)
	switch {
	case h.n == need:
		h.open = false
		if seg.MO > 0 {
			return h.b[:need]
		}
	case have < octets:
		h.open = false // the rest of the segment was not captured
	}
	return nil
}

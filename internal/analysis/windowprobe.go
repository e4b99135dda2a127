package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// A sender may probe a closed receive window with the next octet of its stream (RFC 9293 section 3.8.6.1). That is no segment
// that it has chosen to make, so FPDUs are not held against where it ends.

// maxWindowProbes bounds the probes of a side that are remembered: those of an open FPDU count.
const maxWindowProbes = 8

// probesWindow reports whether a packet has the one octet of such a probe.
func (c *Conn) probesWindow(side int, s *reassembly.Segment) bool {
	return s.Len == 1 && c.work.shut[1-side]
}

// windowProbe remembers where the octet of a probe ends in the stream.
func (c *Conn) windowProbe(side int, s *reassembly.Segment) {
	end := c.tcp.Direction(side).Offset(s.Seq) + 1
	list := &c.work.silent().ends[side]
	if slices.Contains(*list, end) {
		return
	}
	if len(*list) == maxWindowProbes {
		*list = (*list)[:copy(*list, (*list)[1:])]
	}
	*list = append(*list, end)
}

// unprobed takes the ends of probes out of where segments begin in a PDU.
func (c *Conn) unprobed(side int, p *trace.PDU, from int64) {
	k := c.work.silence
	if k == nil || len(k.ends[side]) == 0 {
		return
	}
	p.Bounds = slices.DeleteFunc(p.Bounds, func(at int) bool { return at > 0 && slices.Contains(k.ends[side], from+int64(at)) })
}

package analysis

import (
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// A sender may probe a closed receive window with the next octet of its stream (RFC 9293 section 3.8.6.1). That is no segment
// that it has chosen to make, so FPDUs are not held against where it ends.

// maxWindowProbes bounds the probes of a side that are remembered: those of an open FPDU count.
const maxWindowProbes = 8

// windowProbes are what a side sent to probe a window, since that was closed.
type windowProbes struct {
	n           uint64
	first, last uint64
	sure        bool // the side has more to send
}

// firstProbe is how soon behind the last sign of life the first probe of a window comes: the timer of the sender runs as for octets
// that are to be sent again. What asks whether the other side is still there comes later, a second at the soonest.
const firstProbe = int64(time.Second)

// shutOut looks at a packet of a side that may send nothing, which has no octets or one: it may be a probe. Some senders probe with
// the octet before those that they have to send, as a keep-alive does.
func (c *Conn) shutOut(side int, s *reassembly.Segment, note reassembly.Note) {
	h := c.tcp.Direction(side)
	if s.Len == 1 {
		c.windowProbe(side, s)
	} else if s.Flags != reassembly.FlagACK || note&reassembly.KeepAlive == 0 && (!h.Heard() || h.Offset(s.Seq) != h.Acked()-1) {
		return
	}
	if !c.running() {
		return
	}
	t := &c.work.trouble().sides[1-side]
	p := &t.probes
	if p.n == 0 {
		p.first = s.Frame
		since := s.Time - max(t.shutAt, c.work.moved[side].time, c.work.moved[1-side].time)
		p.sure = s.Len == 1 && note&reassembly.KeepAlive == 0 || t.shutAt != 0 && since >= 0 && since < firstProbe
	}
	p.n++
	p.last = s.Frame
}

// probed reports whether a side probes the window of the other one, as it has more to send.
func (p *pauses) probed(side int) bool { return p.more != nil && p.more.sides[1-side].probes.sure }

// probing fills in the probes of a stall for a closed window. If nothing else shows that there was something to send, it begins
// where the window was closed.
func (p *pauses) probing(side int, u *undone) {
	if !u.Window || p.more == nil {
		return
	}
	t := &p.more.sides[1-side]
	u.Probes, u.FirstProbe, u.LastProbe = t.probes.n, t.probes.first, t.probes.last
	if u.Unacked == 0 && !u.Open && u.Owed == 0 && t.shutAt > u.From.Time {
		u.From = trace.Moment{Frame: t.shutIn, Time: t.shutAt}
	}
}

// deaf reports whether nothing was heard behind all of the last probes of a side.
func (k *silence) deaf(side int, heard, probes uint64) bool {
	return k.prober == side && k.probes.Probes == probes && k.unheard == heard
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

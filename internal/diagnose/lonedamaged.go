package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// loneDamaged tells of a single packet that was damaged, as its TCP checksum shows, and belongs to no other: the ports or the
// addresses may be what was damaged. Nothing is missing of such a connection then. It reports whether this is one.
func (a *about) loneDamaged() bool {
	dir, ok := a.LoneDamaged()
	if !ok {
		return false
	}
	a.add(Diagnosis{
		Kind: Damaged, Severity: conformance.Note, Dir: dir, HasDir: true, Frames: framesAt(a.FirstFrame), Title: "a damaged packet by itself", same: lonePacket,
		Text: fmt.Sprintf("The packet in frame %d has a wrong TCP checksum, and no other packet has its addresses and ports. They may have been damaged on the "+
			"way, so the packet may belong to another connection.", a.FirstFrame),
		Advice: badLink,
	})
	brokenRules(a)
	return true
}

// Judged are the verdicts on a connection that count. That rules were not judged tells nothing of one that is no more than a damaged
// packet.
func Judged(c *trace.Connection, vs []conformance.Judgement) []conformance.Judgement {
	if _, ok := c.LoneDamaged(); !ok {
		return vs
	}
	return slices.DeleteFunc(slices.Clone(vs), func(v conformance.Judgement) bool { return v.Verdict == conformance.NotJudged })
}

// rejoin has a damaged packet that fills a gap of another connection told there: same octets in the stream, same addresses and ports but
// for the one that was damaged.
func (s *Summary) rejoin() {
	for _, lone := range s.all {
		if lone.Kind != Damaged || lone.same != lonePacket || lone.Conn == nil {
			continue
		}
		for _, d := range s.all {
			if d.Kind == Missing && d.HasDir && d.Conn != nil && fills(lone, d) {
				from, frame, peer := d.Dir.Sender(), lone.Frames[0], (1 - d.Dir).Sender()
				d.Title, d.Severity, d.Advice = "captured only damaged", conformance.Warning, lone.Advice
				d.Text = fmt.Sprintf("%s of the %s are in no undamaged packet. The packet in frame %d has them: its sequence number and its length match "+
					"the gap, its TCP checksum is wrong, and its addresses and ports differ in one place. It was damaged on the way to the capture point, and is "+
					"listed as connection %d.", octets(uint64(d.Conn.Flow[d.Dir].Faults().Holes[0].Octets)), from, frame, lone.Conn.Number) //nolint:gosec // not negative
				if h := d.Conn.Flow[d.Dir].Faults().Holes[0]; h.At+h.Octets <= d.Conn.Flow[d.Dir].Acked {
					d.Text += fmt.Sprintf(" The %s acknowledged them, so they arrived: either only the copy in the capture was damaged, or they were sent again in packets "+
						"that the capture lacks.", peer)
				}
				d.Frames = append(d.Frames, frame)
			}
		}
	}
}

// lonePacket is the kind of damage that [about.loneDamaged] tells.
const lonePacket = "loneDamaged"

// fills reports whether a damaged packet has the octets of the only gap of a direction.
func fills(lone, gap *Diagnosis) bool {
	if lone.Of > 1 || gap.Of > 1 {
		return false // of several connections
	}
	c, x := gap.Conn, lone.Conn
	f, p := &c.Flow[gap.Dir], &x.Flow[lone.Dir]
	if f.Rare().Gaps != 1 || len(f.Faults().Holes) != 1 {
		return false
	}
	h, differ := f.Faults().Holes[0], 0
	for i := range c.Side {
		a, b := c.Side[gap.Dir^trace.Dir(i)].Addr, x.Side[lone.Dir^trace.Dir(i)].Addr
		if a.Addr() != b.Addr() {
			differ++
		}
		if a.Port() != b.Port() {
			differ++
		}
	}
	return differ == 1 && h.Octets == int64(p.Octets) && f.Base+uint32(h.At) == p.Base //nolint:gosec // modulo 2^32
}

package scenario

import (
	"math"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// usualRegion is the size of a region without one, in octets.
const usualRegion = 1 << 20

// region reads memory to be registered.
func (c *compiler) region(s *step, n *node) {
	s.Verb, s.From = synth.Register, synth.Server
	r := &s.Region
	*r = rnic.Region{Size: usualRegion, Read: true, Write: true}
	r.TO = 0x10000
	if !c.Mapping(n, keys{
		"name": c.name(&s.Name),
		"of":   word(c, &s.From, "side", sides),
		"stag": number(c, &r.STag, 1, math.MaxUint32), // 0 is for one from the seed
		"to":   number(c, &r.TO, 0, allOnes),
		"size": size(c, &r.Size, 0, allOnes),
		"access": func(n *node) {
			access := uint8(0)
			bits(c, &access, "access", map[string]uint8{"read": 1, "write": 2})(n)
			r.Read, r.Write = access&1 != 0, access&2 != 0
		},
	}) {
		return
	}
	if s.Name == "" {
		c.Fail(n.Pos, "a region needs a name")
		return
	}
	is := c.regionOf(s, s.From, s.Name)
	if !s.absent {
		c.register(s, n, is)
	}
	c.timeline.regions[is] = true
}

// registered is memory that was registered, and not invalidated since.
type registered struct {
	region
	stag uint32
	line int
}

// register refuses a second region of a side with a name or an STag: steps would mean the later
// one, and an STag is that of one.
func (c *compiler) register(s *step, n *node, is region) {
	t := &c.timeline
	if s.times > 1 {
		c.Fail(n.Pos, "a region is registered once, and this step is repeated: put it before the repetition")
		return
	}
	for _, other := range t.registered {
		switch {
		case other.conn != is.conn || other.side != is.side:
		case other.name == is.name:
			c.Fail(n.Pos, "a second region %q of the %s, the first is in line %d: give it another name", is.name, sideName(is.side), other.line)
			return
		case other.stag != 0 && other.stag == s.Region.STag:
			c.Fail(n.Pos, "region %q of the %s has the STag %#x too, in line %d: give it another one", other.name, sideName(is.side), other.stag, other.line)
			return
		}
	}
	t.registered = append(t.registered, registered{is, s.Region.STag, n.Line})
}

// invalidated notes that a step takes a region away: its name and its STag may be given again.
func (c *compiler) invalidated(s *step, side synth.Side, name string) {
	is, t := c.regionOf(s, side, name), &c.timeline
	for i := range t.registered {
		if t.registered[i].region == is && !s.absent {
			t.registered[i] = registered{}
		}
	}
}

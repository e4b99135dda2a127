package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Bounds of the private data that some stacks have, and of what is lost when its
// length is counted in eight bits.
const (
	smallPrivate = 256
	wrapLeast    = 252
	wrapMost     = 256
	wrapRest     = 8
)

// privateAdvice is about private data.
var privateAdvice = []check{
	{id: "ADV-S0-REV2", needs: Full, transport: onTCP, advice: func(c *conn) {
		c.frames(func(f *frame, left func() string) {
			if c.applies() && f.Rev == 2 && !f.S && f.PDLength >= mpa.EnhancedLen {
				c.adviseOn(f, fmt.Sprintf("S=0, PD_Length %d", f.PDLength), left())
			}
		})
	}},
	{id: "ADV-PRIVATE-DATA-256", needs: Full, transport: onTCP, advice: func(c *conn) {
		c.frames(func(f *frame, left func() string) {
			if c.applies() && f.PDLength > smallPrivate && f.PDLength <= mpa.MaxPrivateData {
				c.adviseOn(f, fmt.Sprintf("PD_Length %d", f.PDLength), left())
			}
		})
	}},
	{id: "ADV-PRIVATE-DATA-WRAP", needs: Start | Contig, transport: onTCP, advice: func(c *conn) {
		c.frames(func(f *frame, _ func() string) {
			if !f.S || f.Rev < 2 || f.PDLength > wrapRest || !c.appliesTo(f) {
				return
			}
			n, o := c.overrun(f)
			switch {
			case n > 0 && c.t.Flow[f.dir].Cut:
				c.lacks(Full)
			case n < wrapLeast || n > wrapMost:
			case o == unproven:
				c.lacks(Causal)
			case o == without:
				c.adviseOn(f, fmt.Sprintf("PD_Length %d, and %d octets more", f.PDLength, n), c.breaks(f.dir, "MPA-PDLEN-01", "MPA2-S-01"))
			}
		})
	}},
}

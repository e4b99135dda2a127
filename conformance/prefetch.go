package conformance

import "github.com/iwdissect/iwdissect/internal/prefetch"

// Prefetch implements [prefetch.State].
func (c *judged) Prefetch(dir uint8, step int) {
	if step == 3 {
		prefetch.Object(c)
	} else {
		c.Conn.Prefetch(dir)
	}
}

package sctp

import "iter"

// Causes iterates over the causes that an ABORT or an ERROR gives, as far as they can be read.
func Causes(c *Chunk) iter.Seq[Param] {
	return func(yield func(Param) bool) {
		if c.Type != TypeAbort && c.Type != TypeError {
			return
		}
		for rest := c.Value; ; {
			p, more, ok, err := NextParam(rest)
			if !ok || err != nil || !yield(p) {
				return
			}
			rest = more
		}
	}
}

package conformance

import "github.com/iwdissect/iwdissect/trace"

// held is a finding that what comes later may refute.
type held struct {
	*rule
	Finding
}

// unasked fires on an answer that nothing asks for. Over SCTP an acknowledgement
// may come long after the answer, and over TCP one may be sent too early, so that
// only later it shows whether a request was there that was not captured.
func (c *conn) unasked(s *segment, message, observed, expected string) {
	if c.t.Transport == trace.TCP && (s.p.LastAcked < 0 || s.p.LastAcked >= s.peer.to) {
		c.at(s, message, observed, expected)
		return
	}
	if len(c.held) < maxFindings {
		f := s.at()
		f.Message, f.Observed, f.Expected = message, observed, expected
		c.held = append(c.held, held{c.running, f})
	}
}

// release fires on what was held, unless something turned out to be missing.
func (c *conn) release() {
	holes := false
	for i := range c.half {
		holes = holes || c.half[i].hole || c.t.Flow[i].Waiting
	}
	for _, h := range c.held {
		if c.running = h.rule; holes {
			c.rules.lack(h.index, ReadSync)
			continue
		}
		c.fire(h.Finding)
	}
}

package scenario

import (
	"math"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// limits checks that the fields of headers have room for what hosts are set to: a window and private data.
func (c *compiler) limits() {
	told := map[pos]bool{} // what is set for both sides is told once
	for _, conn := range c.conns {
		if conn.sctp {
			continue
		}
		for side := range conn.both {
			s := conn.both[side]
			s.startup()
			if at := s.windowAt; at.Line > 0 && !told[at] {
				told[at] = c.windowFits(at, &s.host.TCP, conn.both[1-side].host.TCP.Scale)
			}
			if at := s.privateAt; at.Line > 0 && !told[at] {
				told[at] = c.privateFits(at, &s.host.RNIC.Startup)
			}
		}
	}
}

// windowFits fails, and reports so, if the window that was set cannot be announced. Without a scale of the other side
// the window has none (RFC 7323 section 2.2).
func (c *compiler) windowFits(at pos, t *tcp.Config, peer bool) (failed bool) {
	switch most := math.MaxUint16 << t.WindowScale; {
	case t.Window > most && !t.Scale:
		c.Fail(at, "a window of %d octets cannot be announced without window_scale: at most %d", t.Window, most)
	case t.Window > most:
		c.Fail(at, "a window of %d octets cannot be announced with window_scale %d: at most %d", t.Window, t.WindowScale, most)
	case t.Scale && peer && t.Window>>t.WindowScale == 0:
		c.Fail(at, "a window of %d octets is always announced as 0: window_scale %d counts it in units of %d octets", t.Window, t.WindowScale, 1<<t.WindowScale)
	default:
		return false
	}
	return true
}

// privateFits fails, and reports so, if PD_Length has no room for the private data.
func (c *compiler) privateFits(at pos, s *startup.Config) (failed bool) {
	most, why := math.MaxUint16, ""
	if s.Dialect == startup.Enhanced || s.Dialect == startup.Draft01 {
		most, why = most-mpa.EnhancedLen, ", as IRD and ORD take 4"
	}
	if n := len(s.Private); n > most {
		c.Fail(at, "PD_Length cannot announce %d octets of private data: at most %d%s", n, most, why)
		return true
	}
	return false
}

package conformance

import "github.com/iwdissect/iwdissect/trace"

// erdmaRev is the revision of a protocol that shares only the key with MPA.
const erdmaRev = 129

// kindName names a startup frame.
func kindName(k trace.Kind) string {
	switch k {
	case trace.KindRequest:
		return "Request"
	case trace.KindReply:
		return "Reply"
	default:
		return "Rtr frame"
	}
}

// bit is a flag as it stands on the wire.
func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// flags is the flag octet of a startup frame.
func (f *frame) flags() uint8 {
	v := f.Res
	for _, b := range [...]struct {
		set  bool
		mask uint8
	}{{f.M, 0x80}, {f.C, 0x40}, {f.R, 0x20}, {f.S, 0x10}} {
		if b.set {
			v |= b.mask
		}
	}
	return v
}

// noThird reports whether it is certain that the initiator sent no third startup frame.
func (c *conn) noThird() bool {
	h, over := &c.half[trace.I2R], c.t.Ending != trace.Open
	for i := range c.t.Flow {
		if f := &c.t.Flow[i]; f.Frames == 0 || f.Waiting {
			return false
		}
	}
	return !h.hole && c.request != nil && (c.reply != nil && h.count > 0 || over)
}

// plain reports whether both startup frames are there, without the establishment word.
func (c *conn) plain() bool {
	enhanced := func(f *frame) bool { return f.S && f.Rev >= 2 }
	return c.accepted() && c.request != nil && c.reply != nil && !enhanced(c.request) && !enhanced(c.reply)
}

// leftAfter tells how the receiver of a Request or a Reply left because of it, "" if
// it did not.
func (c *conn) leftAfter(f *frame) string {
	if f.kind == trace.KindRequest {
		return c.dropped()
	}
	return c.givenUp()
}

// packet names what closed the connection.
func (k *closing) packet() string {
	if k.reset {
		return "RST"
	}
	return "FIN"
}

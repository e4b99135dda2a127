package model

import "github.com/iwdissect/iwdissect/trace"

// ErdmaRev is the revision of a protocol that shares only the key with MPA.
const ErdmaRev = 129

// KindName names a startup frame.
func KindName(k trace.Kind) string {
	switch k {
	case trace.KindRequest:
		return "Request"
	case trace.KindReply:
		return "Reply"
	default:
		return "Rtr frame"
	}
}

// Bit is the value of a flag on the wire.
func Bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// Flags is the flag octet of a startup frame.
func (f *Frame) Flags() uint8 {
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

// NoThird reports whether it is certain that the initiator sent no third startup frame.
func (c *Conn) NoThird() bool {
	h, over := &c.Directions[trace.I2R], c.Trace.Ending != trace.Open
	for i := range c.Trace.Flow {
		if f := &c.Trace.Flow[i]; f.Frames == 0 || f.Waiting {
			return false
		}
	}
	return !h.Hole && c.Request != nil && (c.Reply != nil && h.Count > 0 || over)
}

// Plain reports whether both startup frames were seen, without the establishment word.
func (c *Conn) Plain() bool {
	enhanced := func(f *Frame) bool { return f.S && f.Rev >= 2 }
	return c.Accepted() && c.Request != nil && c.Reply != nil && !enhanced(c.Request) && !enhanced(c.Reply)
}

// Packet names what closed the connection.
func (k *Closing) Packet() string {
	if k.Reset {
		return "RST"
	}
	return "FIN"
}

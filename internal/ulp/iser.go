package ulp

import (
	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/internal/services"
	"github.com/iwdissect/iwdissect/trace"
)

// iserRDMA is iSCSI over iSER.
type iserRDMA struct{}

func (iserRDMA) Name() string { return "iSER" }

// Ports are those of iSCSI.
func (iserRDMA) Ports() []uint16 { return services.ISER.Ports }

func (iserRDMA) New() Decoder { return &iserConn{} }

// Private judges the private data, which the documents do not ask for over iWARP. Linux
// sends four octets.
func (iserRDMA) Private(s *Startup) Fit {
	p, err := iser.DecodePrivate(s.Private)
	if err != nil || len(s.Private) != iser.PrivateLen || p.Reserved != 0 || s.Rejected {
		return Silent
	}
	return Fits
}

// Recognise judges a message.
func (iserRDMA) Recognise(m *Message) Fit {
	_, f := iserLayout(m)
	return f
}

// iserLayout judges a message, and tells which layout its header has.
func iserLayout(m *Message) (iser.Layout, Fit) {
	switch iser.OpcodeOf(m.Octets[0]) {
	case iser.OpHello, iser.OpHelloReply:
		return hello(m)
	case iser.OpControl:
	default:
		return 0, Contradicts
	}
	l, best := iser.RFC7145, Contradicts
	for _, each := range [...]iser.Layout{iser.RFC7145, iser.RFC5046} {
		if f := iserControl(m, each); f > best {
			l, best = each, f
		}
	}
	return l, best
}

// hello judges a Hello or HelloReply: the reserved octets behind it are 0.
func hello(m *Message) (iser.Layout, Fit) {
	for _, l := range [...]iser.Layout{iser.RFC7145, iser.RFC5046} {
		if m.Length != l.Len() || !m.Whole {
			continue
		}
		h, err := iser.DecodeHello(m.Octets, l)
		switch {
		case err != nil:
			return l, Silent // not all was captured
		case h.Reserved != [24]byte{} || h.Rsvd != 0 || h.Reject && h.Opcode == iser.OpHello || h.MinVer > h.MaxVer || h.MaxVer == 0:
			return l, Contradicts
		}
		return l, FitsWell
	}
	return 0, Contradicts
}

// iserControl judges a control-type PDU as one with the layout.
func iserControl(m *Message, l iser.Layout) Fit {
	if m.Length < l.Len()+iser.BHSLen && m.Whole {
		return Contradicts
	}
	c, err := iser.DecodeControl(m.Octets, l)
	if err != nil {
		return Silent
	}
	if c.Reserved != 0 {
		return Contradicts
	}
	h, err := iser.DecodeBHS(m.Octets[l.Len():])
	if err != nil {
		return Silent
	}
	behind := m.Length - l.Len() - iser.BHSLen - 4*int(h.AHSLength)
	data := int(h.DataLength)
	switch {
	case h.X || !h.Opcode.Known() || h.Opcode == iser.DataIn || h.Opcode == iser.ReadyToTransfer || h.Opcode == iser.SNACKRequest:
		return Contradicts // iSER does with Reads and Writes what these are for
	case (c.WSV || c.RSV) && h.Opcode != iser.SCSICommand && h.Opcode != iser.TaskRequest:
		return Contradicts
	case m.Whole && behind != data && behind != (data+3)&^3, behind > data+3:
		return Contradicts
	case h.Opcode == iser.LoginRequest && h.ITT != iser.NoTask && h.Three == 0 && m.Whole && data > 0:
		return Proves
	case m.Whole:
		return FitsWell
	}
	return Fits
}

// iserConn is one connection.
type iserConn struct {
	// initiator is the direction of requests, if known.
	initiator trace.Dir
	known     bool
}

// Startup describes the private data.
func (d *iserConn) Startup(s *Startup, n *Note) {
	b := append(n.Info(), "iSER connection "...)
	switch {
	case !s.Reply:
		d.initiator, d.known = s.Dir, true
		b = append(b, "request"...)
	case s.Rejected:
		b = append(b, "rejected"...)
	default:
		b = append(b, "accepted"...)
	}
	if p, err := iser.DecodePrivate(s.Private); err == nil && len(s.Private) == iser.PrivateLen && p.Reserved == 0 && !s.Rejected {
		n.Header(&iser.PrivateHeader, s.Private)
		if p.NoZeroBased {
			b = append(b, ", no addresses from 0"...)
		}
		if p.NoInvalidate {
			b = append(b, ", no Send with Invalidate"...)
		}
	}
	n.SetInfo(b)
}

// Message describes a message.
func (d *iserConn) Message(m *Message, n *Note) Fit {
	l, f := iserLayout(m)
	if f == Contradicts {
		return f
	}
	if iser.OpcodeOf(m.Octets[0]) != iser.OpControl {
		h, err := iser.DecodeHello(m.Octets, l)
		if err != nil {
			return Silent
		}
		if !d.side(m.Dir, h.Opcode == iser.OpHello) {
			return Contradicts
		}
		d.hello(&h, l, m, n)
		return f
	}
	c, err := iser.DecodeControl(m.Octets, l)
	if err != nil {
		return Silent
	}
	h, err := iser.DecodeBHS(m.Octets[l.Len():])
	if err != nil {
		return Silent
	}
	if !d.side(m.Dir, !h.Opcode.FromTarget()) {
		return Contradicts
	}
	n.Text(fISERLayout, l.String())
	n.Header(l.Header(), m.Octets)
	p := &pdu{c: &c, h: &h, m: m, n: n, octets: m.Octets[l.Len():]}
	n.Header(&iser.BHSHeader, p.octets)
	if own := h.Opcode.Header(); own != nil {
		n.Header(own, p.octets)
	}
	p.describe()
	return f
}

// side learns which direction is that of the initiator, and reports whether what is known
// of it agrees.
func (d *iserConn) side(dir trace.Dir, asks bool) bool {
	of := dir
	if !asks {
		of = 1 - dir
	}
	if d.known && d.initiator != of {
		return false
	}
	d.initiator, d.known = of, true
	return true
}

func (d *iserConn) hello(h *iser.Hello, l iser.Layout, m *Message, n *Note) {
	n.Text(fISERLayout, l.String())
	b := append(append(n.Info(), "iSER "...), h.Opcode.String()...)
	if h.Opcode == iser.OpHello {
		n.Header(&iser.HelloHeader, m.Octets)
		b = appendUint(b, " ird ", uint64(h.Depth))
		b = appendUint(b, " version ", uint64(h.MinVer))
		b = appendUint(b, " to ", uint64(h.MaxVer))
	} else {
		n.Header(&iser.HelloReplyHeader, m.Octets)
		b = appendUint(b, " ord ", uint64(h.Depth))
		b = appendUint(b, " version ", uint64(h.MinVer))
		if h.Reject {
			b = append(b, " REJECTED"...)
		}
	}
	n.SetInfo(b)
}

// AppendOperation names a task.
func (d *iserConn) AppendOperation(b []byte, o *Operation) []byte {
	b = append(append(b, "iSCSI "...), o.Name...)
	return appendHex(b, " itt ", o.ID, 8)
}

var fISERLayout = derived(&iser.DerivedHeader, "iwd.iser.layout")

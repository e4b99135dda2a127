package render

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// ends has the endpoints of connections as text. Those of a PDU are mostly those
// of one a little while ago. What does not fit the table is written again, so that
// it never grows.
type ends [1024]struct {
	from, to netip.AddrPort
	dir      trace.Dir
	text     []byte
}

// of is the text for a direction: from, to and which one it is.
func (t *ends) of(c *trace.Connection, d trace.Dir) []byte {
	e := &t[(2*c.Number+uint64(d))%uint64(len(t))]
	from, to := &c.Side[d].Addr, &c.Side[1-d].Addr
	if e.text != nil && e.dir == d && e.from == *from && e.to == *to {
		return e.text
	}
	e.from, e.to, e.dir = *from, *to, d
	b := append(e.text[:0], ' ')
	b = from.AppendTo(b)
	b = append(b, " > "...)
	b = to.AppendTo(b)
	b = append(b, ' ')
	b = append(b, d.String()...)
	e.text = append(b, ' ')
	return e.text
}

// hops has what the records of frames say of their connection and addresses, in
// the same way.
type hops [1024]hop

type hop struct {
	src, dst         packet.Addr
	srcPort, dstPort uint16
	proto            packet.Proto
	conn             uint64
	dir              trace.Dir
	known            bool
	text, info       []byte
}

// of is the text for a frame: members, and how its summary begins.
func (t *hops) of(f *pipeline.Frame) *hop {
	p := f.Packet
	if f.Conn == nil || f.Status != packet.OK {
		h := &t[len(t)-1]
		h.known = false
		h.write(f)
		return h
	}
	h := &t[(2*f.Conn.Number+uint64(f.Dir))%uint64(len(t)-1)]
	if h.known && h.conn == f.Conn.Number && h.dir == f.Dir && h.srcPort == p.SrcPort && h.dstPort == p.DstPort &&
		h.proto == p.Proto && h.src == p.Src && h.dst == p.Dst {
		return h
	}
	h.write(f)
	h.known, h.conn, h.dir = true, f.Conn.Number, f.Dir
	h.src, h.dst, h.srcPort, h.dstPort, h.proto = p.Src, p.Dst, p.SrcPort, p.DstPort, p.Proto
	return h
}

func (h *hop) write(f *pipeline.Frame) {
	p := f.Packet
	b := h.text[:0]
	if f.Conn != nil {
		b = appendNumber(b, `,"conn":`, f.Conn.Number)
		b = appendWord(b, `,"dir":`, f.Dir.String())
	}
	if t := transport(f); t != "" {
		b = packet.AppendAddrPort(append(b, `,"src":"`...), p.Src, p.SrcPort)
		b = packet.AppendAddrPort(append(b, `","dst":"`...), p.Dst, p.DstPort)
		b = append(b, '"')
		b = appendWord(b, `,"transport":`, t)
	}
	h.text, h.info = b, appendTCPPorts(h.info[:0], p)
}

package details

import (
	"strconv"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// The columns of a packet list: number, seconds since the first frame, addresses, protocol,
// length, and what it is.

var sections = [...]string{"No.", "Time", "Source", "Destination", "Protocol", "Length", "Info"}

// summary is a line of the packet list.
type summary [len(sections)][]byte

// PSML is the form of tshark -T psml: the packet list as XML.
type PSML struct {
	Creator string
	begun   bool
	line    summary
}

// Begin implements [Form].
func (p *PSML) Begin(o *Output, _ string) {
	if p.begun {
		return
	}
	p.begun = true
	o.str(xmlHead)
	o.str("<psml version=\"0\"")
	attr(o, "creator", p.Creator)
	o.str(">\n<structure>\n")
	for _, s := range sections {
		o.str("<section>")
		o.str(s)
		o.str("</section>\n")
	}
	o.str("</structure>\n\n")
}

// Frame implements [Form].
func (p *PSML) Frame(o *Output, f *Frame) {
	p.line.fill(f)
	o.str("<packet>\n")
	for _, s := range p.line {
		o.str("<section>")
		o.b = AppendXML(o.b, string(s))
		o.str("</section>\n")
	}
	o.str("</packet>\n\n")
}

// End implements [Form].
func (*PSML) End(o *Output) { o.str("</psml>\n") }

// Tabs is the form of tshark -T tabs: the packet list with tabs between columns.
type Tabs struct{ line summary }

// Begin implements [Form].
func (*Tabs) Begin(*Output, string) {}

// End implements [Form].
func (*Tabs) End(*Output) {}

// Frame implements [Form].
func (t *Tabs) Frame(o *Output, f *Frame) {
	t.line.fill(f)
	for i, s := range t.line {
		if i > 0 {
			o.str("\t")
			if i == 3 {
				o.str("→\t")
			}
		}
		o.b = AppendPlain(o.b, s)
	}
	o.str("\n")
}

// AppendPlain appends text for a line: control characters and octets that are not UTF-8 are
// escaped as in C.
func AppendPlain(b, s []byte) []byte {
	q := strconv.AppendQuote(nil, string(s))
	q = q[1 : len(q)-1]
	for i := 0; i < len(q); i++ {
		if q[i] == '\\' && i+1 < len(q) && q[i+1] == '"' {
			continue
		}
		b = append(b, q[i])
	}
	return b
}

// fill finds the columns of a frame.
func (s *summary) fill(f *Frame) {
	for i := range s {
		s[i] = s[i][:0]
	}
	s[0] = appendUint(s[0], f.Number)
	if !f.NoTime {
		s[1] = fields.AppendShow(s[1], &fields.Field{Type: fields.Duration}, fields.Value{Num: uint64(f.Time - f.Since)}) //nolint:gosec // the bits of a signed number
	}
	s[5] = appendUint(s[5], uint64(f.OrigLen))
	p := f.Packet
	switch {
	case p == nil:
	case p.NetworkOffset >= 0 || p.Proto != 0:
		s[2], s[3] = p.Src.AppendText(s[2]), p.Dst.AppendText(s[3])
	default:
		s.link(f)
	}
	s[4] = append(s[4], protocol(f)...)
	s[6] = s.info(s[6], f)
}

// link finds the addresses of the link layer.
func (s *summary) link(f *Frame) {
	t := f.Tree
	for i := range t.Nodes {
		switch n := &t.Nodes[i]; n.Name {
		case "eth.src", "sll.src.eth":
			s[2] = append(s[2][:0], t.Show(n)...)
		case "eth.dst":
			s[3] = append(s[3][:0], t.Show(n)...)
		}
	}
}

// protocol is the name of the highest layer.
func protocol(f *Frame) string {
	name := ""
	t := f.Tree
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !n.Layer {
			continue
		}
		switch n.Name {
		case "iwarp_ddp_rdmap":
			name = "DDP/RDMA"
		case "iwarp_mpa":
			name = "MPA"
		case "tcp":
			name = "TCP"
		case "udp":
			name = "UDP"
		case "sctp":
			name = "SCTP"
		case "ip":
			name = "IPv4"
		case "ipv6":
			name = "IPv6"
		case "eth":
			name = "Ethernet"
		case "sll":
			name = "SLL"
		}
	}
	if f.Packet != nil && (name == "IPv4" || name == "IPv6") && f.Packet.Proto == packet.ProtoICMP {
		name = "ICMP"
	}
	return name
}

// info says what a frame is: its PDUs, or its TCP segment.
func (s *summary) info(b []byte, f *Frame) []byte {
	p := f.Packet
	switch {
	case len(f.PDUs) > 0:
		for i, d := range f.PDUs {
			if i > 0 {
				b = append(b, "; "...)
			}
			b = append(b, d...)
		}
	case f.Status != packet.OK:
		b = append(b, f.Status.String()...)
		if f.Reason != "" {
			b = append(append(b, ": "...), f.Reason...)
		}
	case p.Proto == packet.ProtoTCP:
		return f.Layers.AppendSegment(b)
	default:
		b = appendUint(b, uint64(p.SrcPort))
		b = appendUint(append(b, " → "...), uint64(p.DstPort))
	}
	return b
}

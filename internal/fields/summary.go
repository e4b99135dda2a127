package fields

import (
	"cmp"
	"strings"
	"sync"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// The columns of a packet list: number, seconds since the first frame, addresses, protocol,
// length, and what it is.
const (
	columnNumber = iota
	columnTime
	columnSource
	columnDestination
	columnProtocol
	columnLength
	columnInfo
	columnCount
)

// ColumnTitles are the titles of the columns of a packet list.
var ColumnTitles = [columnCount]string{"No.", "Time", "Source", "Destination", "Protocol", "Length", "Info"}

// Summary is a line of the packet list: it is told of the PDUs that a frame completed, and
// then makes the columns of the frame. It is used again for the next frame.
type Summary struct {
	// Describe appends a line about a PDU; nil leaves out what PDUs are.
	Describe func(b []byte, p *trace.PDU) []byte

	cells [columnCount][]byte
	info  []byte // of the PDUs
	pdus  int
	// protocol is that of the last PDU, "" if none has one.
	protocol string
}

// Reset forgets the PDUs.
func (s *Summary) Reset() { s.info, s.pdus, s.protocol = s.info[:0], 0, "" }

// PDU takes in a PDU of the frame.
func (s *Summary) PDU(p *trace.PDU) {
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		s.protocol = protocolMPA
	case trace.KindFPDU, trace.KindSCTPSegment:
		if head, _, _ := p.ULPDU(); len(head) > 0 {
			s.protocol = protocolDDP
		} else if p.Kind == trace.KindFPDU {
			s.protocol = protocolMPA
		}
		if p.Upper != nil {
			s.protocol = cmp.Or(upperProtocol(p.Upper), s.protocol)
		}
	default:
	}
	if s.Describe == nil {
		return
	}
	if s.pdus > 0 {
		s.info = append(s.info, "; "...)
	}
	s.info = s.Describe(s.info, p)
	s.pdus++
}

// Line makes the columns of the frame at hand, in the order of [ColumnTitles]. They are
// valid until the next call.
func (s *Summary) Line(l *Layers) *[columnCount][]byte {
	s.carried()
	f := l.f
	c := &s.cells
	c[columnNumber] = appendUint(c[columnNumber], f.Number)
	if since, known := l.since(l.first); known {
		c[columnTime] = appendSeconds(c[columnTime], int64(since.Num)) //nolint:gosec // it may be negative
	}
	c[columnLength] = appendUint(c[columnLength], uint64(f.OrigLen))
	if p := f.Packet; p != nil {
		if p.NetworkOffset >= 0 || p.Proto != 0 {
			c[columnSource] = p.Src.AppendText(c[columnSource])
			c[columnDestination] = p.Dst.AppendText(c[columnDestination])
		} else {
			s.link(l)
		}
	}
	if s.protocol == "" {
		c[columnProtocol] = append(c[columnProtocol], s.header(l)...)
	}
	if s.pdus == 0 {
		c[columnInfo] = s.segment(c[columnInfo], l)
	}
	return c
}

// carried makes the columns that the PDUs alone say, and empties the others.
func (s *Summary) carried() *[columnCount][]byte {
	for i := range s.cells {
		s.cells[i] = s.cells[i][:0]
	}
	s.cells[columnProtocol] = append(s.cells[columnProtocol], s.protocol...)
	s.cells[columnInfo] = append(s.cells[columnInfo], s.info...)
	return &s.cells
}

// link finds the addresses of the link layer, the innermost ones.
func (s *Summary) link(l *Layers) {
	for i := range l.heads {
		h := &l.heads[i]
		if h.Layer != layerEth && h.Layer != layerSLL {
			continue
		}
		for k := range h.Layer.Rows {
			at := columnSource
			switch h.Layer.Rows[k].Name {
			case "eth.src", "sll.src.eth":
			case "eth.dst":
				at = columnDestination
			default:
				continue
			}
			if v, ok := h.Layer.Rows[k].Value(l, h); ok {
				s.cells[at] = AppendShow(s.cells[at][:0], h.Layer.Rows[k].Field, v)
			}
		}
	}
}

// The names of protocols in a packet list.
const (
	protocolMPA = "MPA"
	protocolDDP = "DDP/RDMA"
)

// upperNames are the names of upper layers in a packet list: those that carry others first.
var upperNames = [...]struct{ protocol, name string }{
	{"rpcordma", "RPCoRDMA"},
	{"rpc", "RPC"},
	{"nfs", "NFS"},
	{"nfs.cb", "NFS CB"},
	{"smb_direct", "SMBDirect"},
	{"smb2", "SMB2"},
	{"iser", "iSER"},
	{"iscsi", "iSCSI"},
	{"nvme-rdma", "NVMe/RDMA"},
	{"nvme", "NVMe"},
}

// upperRanks are the places in upperNames, counted from 1, of the headers and fields of upper
// layers.
var upperRanks = sync.OnceValue(func() map[any]int {
	ranks := map[any]int{}
	for _, h := range upperHeaders() {
		for i := range h.Fields {
			f := &h.Fields[i]
			for at, n := range upperNames {
				if rest, ok := strings.CutPrefix(f.Name, n.protocol); ok && (rest == "" || rest[0] == '.' || rest[0] == '_') {
					ranks[f] = at + 1
				}
			}
			ranks[h] = max(ranks[h], ranks[f])
		}
	}
	return ranks
})

// upperProtocol is the name of the innermost upper layer of which a PDU has a header, "" if it
// has none.
func upperProtocol(u *trace.Upper) string {
	ranks, best := upperRanks(), 0
	for i := range u.Headers {
		if h := &u.Headers[i]; len(h.Octets) > 0 {
			best = max(best, ranks[h.Header])
		}
	}
	for i := range u.Values {
		best = max(best, ranks[u.Values[i].Field])
	}
	if best == 0 {
		return ""
	}
	return upperNames[best-1].name
}

var protocolNames = map[*Layer]string{
	layerTCP: "TCP", layerUDP: "UDP", layerSCTP: "SCTP", layerIP: "IPv4", layerIPv6: "IPv6", layerEth: "Ethernet", layerSLL: "SLL",
}

// header is the name of the innermost header.
func (s *Summary) header(l *Layers) string {
	for i := len(l.heads) - 1; i >= 0; i-- {
		layer := l.heads[i].Layer
		name := protocolNames[layer]
		switch {
		case name == "":
		case l.f.Packet != nil && layer == layerIP && l.f.Packet.Proto == packet.ProtoICMP:
			return "ICMP"
		case l.f.Packet != nil && layer == layerIPv6 && l.f.Packet.Proto == packet.ProtoICMPv6:
			return "ICMPv6"
		default:
			return name
		}
	}
	return ""
}

// segment says what a frame without PDUs is.
func (s *Summary) segment(b []byte, l *Layers) []byte {
	f, p := l.f, l.f.Packet
	switch {
	case f.Status != packet.OK:
		b = append(b, f.Status.String()...)
		if f.Reason != "" {
			b = append(append(b, ": "...), f.Reason...)
		}
	case p == nil:
	case p.Proto == packet.ProtoTCP:
		return l.AppendSegment(b)
	default:
		b = appendUint(b, uint64(p.SrcPort))
		b = appendUint(append(b, " → "...), uint64(p.DstPort))
	}
	return b
}

package upperpdu

import (
	"encoding/binary"
	"net/netip"

	"github.com/iwdissect/iwdissect/trace"
)

// Tags (epan/exported_pdu.h of Wireshark, wsutil/exported_pdu_tlvs.h since 4.2). Each is
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|              Tag              |            Length             |
//	+-------------------------------+-------------------------------+
//	/                 Value, padded to 32 bits                      /
//	+---------------------------------------------------------------+
//
// in network byte order; the length counts the padding.
const (
	tagEnd       = 0
	tagDissector = 12 // the name of a dissector
	tagHeuristic = 13 // the short name of a heuristic dissector
	tagIPv4Src   = 20
	tagIPv4Dst   = 21
	tagIPv6Src   = 22
	tagIPv6Dst   = 23
	tagPortType  = 24
	tagSrcPort   = 25
	tagDstPort   = 26
	tagFrame     = 30 // the number of the frame in the original
	tagProtocol  = 33 // the column of the protocol

	portSCTP = 1
	portTCP  = 2
)

func appendTag(b []byte, tag uint16, value []byte) []byte {
	n := (len(value) + 3) &^ 3
	b = binary.BigEndian.AppendUint16(b, tag)
	b = binary.BigEndian.AppendUint16(b, uint16(n)) //nolint:gosec // names and addresses are short
	b = append(b, value...)
	return append(b, "\x00\x00\x00"[:n-len(value)]...)
}

func appendNumber(b []byte, tag uint16, v uint32) []byte {
	return appendTag(b, tag, binary.BigEndian.AppendUint32(nil, v))
}

// ends are the sender and the receiver of a message.
type ends struct {
	from, to netip.AddrPort
	sctp     bool
}

func endsOf(c *trace.Connection, dir trace.Dir) ends {
	return ends{c.Side[dir].Addr, c.Side[1-dir].Addr, c.Transport == trace.SCTP}
}

// appendTags appends all tags of a message that is written in a form.
func appendTags(b []byte, as form, s *sent) []byte {
	b = appendTag(b, as.tag, []byte(as.dissector))
	b = appendAddr(b, tagIPv4Src, tagIPv6Src, s.ends.from)
	b = appendAddr(b, tagIPv4Dst, tagIPv6Dst, s.ends.to)
	port := uint32(portTCP)
	if s.ends.sctp {
		port = portSCTP
	}
	b = appendNumber(b, tagPortType, port)
	b = appendNumber(b, tagSrcPort, uint32(s.ends.from.Port()))
	b = appendNumber(b, tagDstPort, uint32(s.ends.to.Port()))
	b = appendNumber(b, tagFrame, uint32(min(s.frame, 1<<32-1)))
	if as.protocol != "" {
		b = appendTag(b, tagProtocol, []byte(as.protocol))
	}
	return appendTag(b, tagEnd, nil)
}

func appendAddr(b []byte, v4, v6 uint16, a netip.AddrPort) []byte {
	addr := a.Addr().Unmap()
	if addr.Is4() {
		return appendTag(b, v4, addr.AsSlice())
	}
	return appendTag(b, v6, addr.AsSlice())
}

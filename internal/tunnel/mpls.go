package tunnel

import "encoding/binary"

// Parts of an MPLS label stack entry (RFC 3032 section 2.1).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                Label                  | TC  |S|       TTL     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	mplsLen    = 4
	mplsBottom = 0x100 // S: the last of the stack
	// controlWord is the length of what may stand before an Ethernet frame in a
	// pseudo-wire; its first four bits are zero (RFC 4448 section 4.6).
	controlWord = 4
)

func (u *Unwrapper) takeMPLS(in *octets) (layer, outcome) {
	if ok := in.need(mplsLen); ok != taken {
		return none, ok
	}
	entry := binary.BigEndian.Uint32(in.data)
	u.push(MPLS).add(mplsLabel, entry>>12)
	in.advance(mplsLen)
	if entry&mplsBottom == 0 {
		return mpls, taken
	}
	if ok := in.need(1); ok == cut {
		return none, cut
	}
	if next := ipOf(in); next != none {
		return next, taken
	}
	if in.length > controlWord && len(in.data) > controlWord && in.data[0]>>4 == 0 {
		word := *in
		if word.advance(controlWord); carriesIP(&word) {
			*in = word
			return ethernet, taken
		}
	}
	if carriesIP(in) {
		return ethernet, taken
	}
	return none, taken
}

// Parts of IP headers.
const (
	ipv4Len = 20
	ipv6Len = 40
)

// ipOf tells which version of IP begins here, if its header tells a length that
// fits, as far as that was captured.
func ipOf(in *octets) layer {
	b := in.data
	if len(b) == 0 {
		return none
	}
	switch version := b[0] >> 4; {
	case version == 4 && in.length >= ipv4Len:
		if len(b) < ipv4Len {
			return ipv4
		}
		hdr, total := int(b[0]&0xf)*4, int(binary.BigEndian.Uint16(b[2:]))
		if hdr >= ipv4Len && total >= hdr && total <= in.length {
			return ipv4
		}
	case version == 6 && in.length >= ipv6Len:
		if len(b) < ipv6Len || ipv6Len+int(binary.BigEndian.Uint16(b[4:])) <= in.length {
			return ipv6
		}
	}
	return none
}

// carriesIP reports whether an Ethernet frame with IP in it begins here.
func carriesIP(in *octets) bool {
	const addresses, vlanTag, maxTags = 12, 4, 2
	rest := *in
	if len(rest.data) < addresses+2 {
		return false
	}
	rest.advance(addresses)
	for range maxTags + 1 {
		if len(rest.data) < vlanTag {
			return false
		}
		t := binary.BigEndian.Uint16(rest.data)
		if t == etherVLAN || t == etherQinQ {
			rest.advance(vlanTag)
			continue
		}
		rest.advance(2)
		l := ofEtherType(t)
		return (l == ipv4 || l == ipv6) && ipOf(&rest) == l
	}
	return false
}

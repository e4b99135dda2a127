package packet

import "encoding/binary"

// Plain decodes the frames that nearly all of a capture consists of: Ethernet,
// at most two VLAN tags, IPv4 without options or fragments or IPv6 without
// extension headers, and a TCP segment or an SCTP packet with nothing cut. It
// reports false, and leaves p alone, for everything else, so that it need not explain itself; the
// general path then says what is wrong.
//
// It takes less than half of the general path's time (bench_test.go).
//
//nolint:funlen // in one piece: all that it reads of a frame stays in registers
func Plain(data []byte, p *Packet) bool {
	if len(data) < 14+20+20 {
		return false
	}
	off := 14
	etherType := binary.BigEndian.Uint16(data[12:])
	var outer, inner uint16
	var numTags uint8
	if isVLAN(etherType) {
		outer = binary.BigEndian.Uint16(data[14:])
		etherType = binary.BigEndian.Uint16(data[16:])
		off, numTags = 18, 1
		if isVLAN(etherType) {
			inner = binary.BigEndian.Uint16(data[18:])
			etherType = binary.BigEndian.Uint16(data[20:])
			off, numTags = 22, 2
		}
	}

	ip := data[off:]
	var seg []byte
	var proto Proto
	v6 := false
	segOff := off
	switch etherType {
	case etherIPv4:
		if len(ip) < 40 || ip[0] != 0x45 || binary.BigEndian.Uint16(ip[6:])&ipv4FragMask != 0 {
			return false
		}
		total := int(binary.BigEndian.Uint16(ip[2:]))
		if total < 40 || total > len(ip) {
			return false
		}
		seg, proto = ip[20:total:total], Proto(ip[9])
		segOff += 20
	case etherIPv6:
		if len(ip) < 60 || ip[0]>>4 != 6 {
			return false
		}
		end := 40 + int(binary.BigEndian.Uint16(ip[4:]))
		if end < 60 || end > len(ip) {
			return false
		}
		seg, proto = ip[40:end:end], Proto(ip[6])
		segOff += 40
		v6 = true
	default:
		return false
	}
	if len(seg) < TCPLen { // never, but it spares the bounds checks below
		return false
	}
	hdr := 0
	var options []byte
	switch proto {
	case ProtoTCP:
		if hdr = int(seg[12]>>4) * 4; hdr < 20 || hdr > len(seg) {
			return false
		}
		options = seg[20:hdr:hdr]
		p.Seq = binary.BigEndian.Uint32(seg[4:])
		p.Ack = binary.BigEndian.Uint32(seg[8:])
		p.Flags = binary.BigEndian.Uint16(seg[12:]) & flagMask
		p.Window = binary.BigEndian.Uint16(seg[14:])
		p.Urgent = binary.BigEndian.Uint16(seg[18:])
	case ProtoSCTP:
		p.Seq, p.Ack, p.Flags, p.Window, p.Urgent = 0, 0, 0, 0, 0
	default:
		return false
	}

	if v6 {
		p.Src = Addr(ip[8:24])
		p.Dst = Addr(ip[24:40])
	} else {
		p.Src.set4(ip[12:])
		p.Dst.set4(ip[16:])
	}
	p.SrcPort = binary.BigEndian.Uint16(seg)
	p.DstPort = binary.BigEndian.Uint16(seg[2:])
	p.EtherType = etherType
	p.Proto = proto
	p.V6 = v6
	p.Notes = 0
	p.NumVLANs = numTags
	p.VLANs[0], p.VLANs[1], p.VLANs[2], p.VLANs[3] = outer, inner, 0, 0
	p.PayloadLen = len(seg) - hdr
	p.SegmentLen = len(seg)
	p.NetworkOffset = off
	p.SegmentOffset = segOff
	// Side by side, these share one test of the write barrier.
	p.Options = options
	p.Payload = seg[hdr:]
	p.Segment = seg
	if p.Fragments != nil {
		p.Fragments = nil
	}
	return true
}

package live

import (
	"encoding/binary"
	"fmt"
)

// Layout of a TPACKET_V3 block, from the kernel's public header
// linux/if_packet.h. All fields are in host byte order, except the protocol in
// the socket address.
//
//	block:  version(4) priv(4) status(4) packets(4) first(4) length(4) ...
//	packet: next(4) sec(4) nsec(4) snaplen(4) len(4) status(4) mac(2) net(2)
//	        rxhash(4) tci(4) tpid(2) pad(2) pad(8)
//	        family(2) protocol(2) ifindex(4) hatype(2) pkttype(1) halen(1) addr(8)
const (
	blockStatusOff  = 8
	blockPacketsOff = 12
	blockFirstOff   = 16
	blockHdrLen     = 48

	pktNextOff    = 0
	pktSecOff     = 4
	pktNsecOff    = 8
	pktSnapLenOff = 12
	pktLenOff     = 16
	pktStatusOff  = 20
	pktMacOff     = 24
	pktTCIOff     = 32
	pktTPIDOff    = 36

	addrOff         = 48
	addrProtocolOff = addrOff + 2
	addrIfindexOff  = addrOff + 4
	addrHatypeOff   = addrOff + 8
	addrPkttypeOff  = addrOff + 10
	addrHalenOff    = addrOff + 11
	addrAddrOff     = addrOff + 12
	pktHdrLen       = addrOff + 20
)

// Status bits of a packet and of a block (TP_STATUS_*).
const (
	statusUser         = 1 << 0
	statusCsumNotReady = 1 << 3
	statusVLANValid    = 1 << 4
	statusTPIDValid    = 1 << 6
)

const (
	pktOutgoing   = 4   // PACKET_OUTGOING
	hatypeLoop    = 772 // ARPHRD_LOOPBACK
	etherTypeVLAN = 0x8100

	macsLen = 12 // destination and source address in front of the tag
	tagLen  = 4
	sllLen  = 16
	// headroom is what may have to be put in front of a frame. The kernel
	// is asked to leave this much free behind its own header.
	headroom = sllLen + tagLen
)

// walker steps through the packets of one block without trusting a single
// number in it: the memory is shared, and a wrong offset must end in an error
// and never outside the block.
type walker struct {
	block   []byte
	off     int    // of the header of the next packet
	left    uint32 // packets not yet visited
	snapLen int
	link    uint16
}

// reset starts a block.
func (w *walker) reset(block []byte) error {
	w.block, w.off, w.left = nil, 0, 0
	if len(block) < blockHdrLen {
		return fmt.Errorf("live: ring block of %d octets", len(block))
	}
	n := binary.NativeEndian.Uint32(block[blockPacketsOff:])
	first := binary.NativeEndian.Uint32(block[blockFirstOff:])
	if n == 0 {
		return nil
	}
	if first < blockHdrLen || uint64(first)+pktHdrLen > uint64(len(block)) {
		return fmt.Errorf("live: first packet at %d of a ring block of %d octets", first, len(block))
	}
	w.block, w.off, w.left = block, int(first), n
	return nil
}

// next describes the next packet of the block in p. It returns false at the
// end of the block. After an error the rest of the block is given up.
func (w *walker) next(p *Packet) (bool, error) {
	for w.left > 0 {
		hdr := w.block[w.off:]
		mac := int(binary.NativeEndian.Uint16(hdr[pktMacOff:]))
		snap := binary.NativeEndian.Uint32(hdr[pktSnapLenOff:])
		if mac < pktHdrLen || uint64(mac)+uint64(snap) > uint64(len(hdr)) {
			err := fmt.Errorf("live: packet of %d octets at %d+%d of a ring block of %d octets",
				snap, w.off, mac, len(w.block))
			w.left = 0
			return false, err
		}
		if err := w.advance(hdr); err != nil {
			return false, err
		}
		outgoing := hdr[addrPkttypeOff] == pktOutgoing
		if outgoing && binary.NativeEndian.Uint16(hdr[addrHatypeOff:]) == hatypeLoop {
			continue // comes again as incoming
		}
		status := binary.NativeEndian.Uint32(hdr[pktStatusOff:])
		data, added, err := w.frame(hdr, mac, int(snap), status)
		if err != nil {
			w.left = 0
			return false, err
		}
		p.Time = int64(binary.NativeEndian.Uint32(hdr[pktSecOff:]))*1e9 +
			int64(binary.NativeEndian.Uint32(hdr[pktNsecOff:]))
		p.Data = data
		p.OrigLen = binary.NativeEndian.Uint32(hdr[pktLenOff:]) + uint32(added)    //nolint:gosec // 0 or the length of a VLAN tag
		p.Interface = int(int32(binary.NativeEndian.Uint32(hdr[addrIfindexOff:]))) //nolint:gosec // sll_ifindex is a signed number
		p.Outgoing = outgoing
		p.ChecksumPending = status&statusCsumNotReady != 0
		return true, nil
	}
	return false, nil
}

// advance moves to the header that follows hdr. The kernel leaves the offset
// of the last packet zero, so it is read only when another one is announced.
func (w *walker) advance(hdr []byte) error {
	w.left--
	if w.left == 0 {
		return nil
	}
	step := binary.NativeEndian.Uint32(hdr[pktNextOff:])
	if step < pktHdrLen || uint64(step)+pktHdrLen > uint64(len(hdr)) {
		err := fmt.Errorf("live: next packet %d octets after %d in a ring block of %d octets",
			step, w.off, len(w.block))
		w.left = 0
		return err
	}
	w.off += int(step)
	return nil
}

// frame returns the octets of the packet as a capture file of this link type
// holds them, and how many of them stand in front of what the kernel counted.
// Whatever is added goes into the room in front of the packet, in place.
func (w *walker) frame(hdr []byte, mac, snap int, status uint32) ([]byte, int, error) {
	tagged := status&statusVLANValid != 0
	start := mac
	switch {
	case w.link == LinkEthernet && tagged && snap >= macsLen:
		start -= tagLen
	case w.link == LinkLinuxSLL:
		start -= sllLen
		if tagged {
			start -= tagLen
		}
	}
	if start < pktHdrLen {
		return nil, 0, fmt.Errorf("live: no room in front of a packet at %d", mac)
	}
	out := hdr[start : mac+snap]
	switch {
	case w.link == LinkLinuxSLL:
		cook(out, hdr, status)
	case start != mac:
		copy(out[:macsLen], out[tagLen:])
		putTag(out[macsLen:], hdr, status)
	}
	n := min(len(out), w.snapLen)
	return out[:n:n], mac - start, nil
}

// cook writes the LINKTYPE_LINUX_SLL header: packet type, hardware type,
// length of the link address, 8 octets of it, protocol. A tag follows between
// the addresses and the protocol of the content, as in an Ethernet frame.
func cook(out, hdr []byte, status uint32) {
	out[0], out[1] = 0, hdr[addrPkttypeOff]
	binary.BigEndian.PutUint16(out[2:], binary.NativeEndian.Uint16(hdr[addrHatypeOff:]))
	out[4], out[5] = 0, hdr[addrHalenOff]
	copy(out[6:14], hdr[addrAddrOff:])
	protocol := out[14:16]
	if status&statusVLANValid != 0 {
		putTag(out[14:], hdr, status)
		protocol = out[18:20]
	}
	copy(protocol, hdr[addrProtocolOff:]) // in network order already
}

func putTag(out, hdr []byte, status uint32) {
	tpid := uint16(etherTypeVLAN)
	if status&statusTPIDValid != 0 {
		tpid = binary.NativeEndian.Uint16(hdr[pktTPIDOff:])
	}
	binary.BigEndian.PutUint16(out, tpid)
	binary.BigEndian.PutUint16(out[2:], uint16(binary.NativeEndian.Uint32(hdr[pktTCIOff:]))) //nolint:gosec // a tag control information has 16 bits
}

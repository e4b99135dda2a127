package bpf

import (
	"fmt"

	"golang.org/x/net/bpf"
)

// Link is a link type, numbered as in capture files (LINKTYPE_*).
type Link uint16

// The link types that programs are made for.
const (
	Ethernet Link = 1
	// Raw frames begin with the IP header.
	Raw Link = 101
	// SLL and SLL2 are Linux "cooked" captures, versions 1 and 2.
	SLL  Link = 113
	SLL2 Link = 276
)

// String returns a name.
func (l Link) String() string {
	switch l {
	case Ethernet:
		return "Ethernet"
	case Raw:
		return "raw IP"
	case SLL:
		return "Linux cooked capture"
	case SLL2:
		return "Linux cooked capture 2"
	default:
		return fmt.Sprintf("link type %d", uint16(l))
	}
}

// Target is what a program will run on.
type Target struct {
	Link Link
	// Live programs run in the kernel, on a packet socket of Linux. There the
	// outermost VLAN tag is not in the frame, but beside it; and a cooked
	// frame ([SLL], a socket of type SOCK_DGRAM) begins with the header behind
	// that of the link.
	Live bool
	// SnapLen is the number of octets that the program keeps of a frame; 0
	// means [DefaultSnapLen].
	SnapLen uint32
}

// DefaultSnapLen is more than any frame has.
const DefaultSnapLen = 262144

// bare reports whether frames come without a link header.
func (t Target) bare() bool { return t.Live && t.Link == SLL }

// view is a target, and how far the headers stand behind their usual place: 4
// octets for each VLAN tag.
type view struct {
	Target
	shift uint32
}

// payload is where the network header begins.
func (v view) payload() uint32 {
	switch {
	case v.Link == Ethernet:
		return v.shift + 14
	case v.bare() || v.Link == Raw:
		return v.shift
	case v.Link == SLL2:
		return v.shift + 20
	default:
		return v.shift + 16
	}
}

// typeField is what loads the EtherType, or the length of an 802.3 frame.
func (v view) typeField() load {
	switch {
	case v.bare() && v.shift == 0:
		return load{a: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtProto}}}
	case v.Link == Ethernet || v.Link == SLL || v.shift > 0:
		return at(v.payload()-2, 2)
	default: // SLL2
		return at(0, 2)
	}
}

// Link types below are lengths of 802.3 frames.
const (
	lastLength = 1500
	// sllLLC in a cooked header stands for an 802.2 frame.
	sllLLC = 4
)

// Service access points that are told by both octets.
const (
	sapIP      = 0x06
	sapNetBEUI = 0xf0
	sapOSI     = 0xfe
)

// carries is the condition that the frame is of an EtherType.
func (v view) carries(etherType uint32) cond {
	switch {
	case v.Link == Raw:
		switch etherType {
		case typeIPv4:
			return at(0, 1).and(0xf0).equals(0x40)
		case typeIPv6:
			return at(0, 1).and(0xf0).equals(0x60)
		}
		return always(false)
	case etherType > lastLength || v.Link == SLL2:
		return v.typeField().equals(etherType)
	}
	var short cond = &test{load: v.typeField(), jump: equal, k: sllLLC}
	if v.Link == Ethernet {
		short = not(v.typeField().greater(lastLength))
	}
	if etherType == sapIP || etherType == sapNetBEUI || etherType == sapOSI {
		return all(short, at(v.payload(), 2).equals(etherType<<8|etherType))
	}
	return all(short, at(v.payload(), 1).equals(etherType))
}

// at loads octets at a fixed place.
func at(off uint32, size int) load {
	return load{a: []bpf.Instruction{bpf.LoadAbsolute{Off: off, Size: size}}}
}

// network loads octets of the network header.
func (v view) network(off uint32, size int) load { return at(v.payload()+off, size) }

// transport4 loads octets behind an IPv4 header.
func (v view) transport4(off uint32, size int) load {
	return load{
		x: []bpf.Instruction{bpf.LoadMemShift{Off: v.payload()}},
		a: []bpf.Instruction{bpf.LoadIndirect{Off: v.payload() + off, Size: size}},
	}
}

// transport6 loads octets behind an IPv6 header without extension headers.
func (v view) transport6(off uint32, size int) load { return v.network(40+off, size) }

// firstFragment is the condition that an IPv4 packet is not a later fragment.
func (v view) firstFragment() cond {
	return not(&test{load: v.network(6, 2), jump: bitsSet, k: 0x1fff})
}

package pcapng

import "strconv"

// LinkType says what the first header of a packet is: a LINKTYPE_ value as
// registered in draft-ietf-opsawg-pcaplinktype. It is kept as it stands in
// the file; see [LinkType.Canonical].
type LinkType uint16

// The link types that the rest of the program knows.
const (
	Null      LinkType = 0   // BSD loopback, family in the byte order of the capturing host
	Ethernet  LinkType = 1   // Ethernet II or IEEE 802.3
	RawBSD    LinkType = 12  // raw IP, as written by most systems that wrote DLT_RAW itself
	RawOBSD   LinkType = 14  // raw IP, as written by OpenBSD
	Raw       LinkType = 101 // raw IP, version in the first four bits
	Loop      LinkType = 108 // OpenBSD loopback, family in network byte order
	LinuxSLL  LinkType = 113 // Linux "cooked" capture, version 1
	IPv4      LinkType = 228 // raw IPv4
	IPv6      LinkType = 229 // raw IPv6
	LinuxSLL2 LinkType = 276 // Linux "cooked" capture, version 2
)

// Canonical maps the two aliases of raw IP to [Raw] and leaves every other
// value alone.
func (l LinkType) Canonical() LinkType {
	if l == RawBSD || l == RawOBSD {
		return Raw
	}
	return l
}

// String gives the registered name without its LINKTYPE_ prefix, or
// LINKTYPE_n for a value that is not one of the constants.
func (l LinkType) String() string {
	switch l {
	case Null:
		return "NULL"
	case Ethernet:
		return "ETHERNET"
	case Raw, RawBSD, RawOBSD:
		return "RAW"
	case Loop:
		return "LOOP"
	case LinuxSLL:
		return "LINUX_SLL"
	case IPv4:
		return "IPV4"
	case IPv6:
		return "IPV6"
	case LinuxSLL2:
		return "LINUX_SLL2"
	}
	return "LINKTYPE_" + strconv.Itoa(int(l))
}

package packet

import (
	"encoding/binary"
	"net/netip"
)

// Addr is a network address: an IPv6 address, or an IPv4 address in its mapped
// form ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2), so that flow tables need one
// kind of key. It is comparable.
type Addr [16]byte

// mappedPrefix is what stands above the 32 bits of a mapped IPv4 address. It is
// a variable because the compiler takes a constant apart into stores of single
// octets, which whoever then reads the address as two words has to wait for.
var mappedPrefix uint64 = 0xffff << 32

// AddrFrom returns the Addr of a, whose zone, if any, is dropped.
func AddrFrom(a netip.Addr) Addr { return a.As16() }

// Addr4 returns the Addr of the IPv4 address a.b.c.d.
func Addr4(a, b, c, d byte) Addr {
	return Addr{10: 0xff, 11: 0xff, 12: a, 13: b, 14: c, 15: d}
}

// set4 makes a the mapped form of the IPv4 address in the first four octets of b.
func (a *Addr) set4(b []byte) {
	binary.BigEndian.PutUint64(a[:8], 0)
	binary.BigEndian.PutUint64(a[8:], mappedPrefix|uint64(binary.BigEndian.Uint32(b)))
}

// Is4 reports whether a is an IPv4 address.
func (a Addr) Is4() bool {
	return binary.BigEndian.Uint64(a[:8]) == 0 && binary.BigEndian.Uint32(a[8:]) == 0xffff
}

// Netip returns a as a [netip.Addr], an IPv4 address unmapped.
func (a Addr) Netip() netip.Addr { return netip.AddrFrom16(a).Unmap() }

// String returns the dotted IPv4 form or the IPv6 form of RFC 5952.
func (a Addr) String() string { return a.Netip().String() }

// AppendText appends what String returns, without allocating when dst has room.
func (a Addr) AppendText(dst []byte) []byte { return a.Netip().AppendTo(dst) }

// AppendAddrPort appends a and a port as 10.0.0.1:4000 or [fd00::1]:4000
// (RFC 5952 section 6).
func AppendAddrPort(dst []byte, a Addr, port uint16) []byte {
	return netip.AddrPortFrom(a.Netip(), port).AppendTo(dst)
}

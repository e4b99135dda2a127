package live

import (
	"fmt"
	"net"
	"net/netip"
)

// Interface describes a network interface.
type Interface struct {
	// Name is what Options.Interface takes.
	Name string
	// Index is the number of the interface in its network namespace.
	Index int
	// Up says whether the interface is enabled.
	Up bool
	// Loopback says whether it is the loopback interface.
	Loopback bool
	// MTU is in octets.
	MTU int
	// HardwareType is the ARPHRD_* number of Linux; 0 elsewhere.
	HardwareType uint16
	// HardwareAddr is the link address in its usual spelling, or empty.
	HardwareAddr string
	// Addrs are the addresses with their prefix lengths.
	Addrs []netip.Prefix
}

// Interfaces lists the interfaces of this network namespace by index. It needs
// no privilege.
func Interfaces() ([]Interface, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("live: list interfaces: %w", err)
	}
	types, err := hardwareTypes()
	if err != nil {
		return nil, fmt.Errorf("live: list interfaces: %w", err)
	}
	list := make([]Interface, 0, len(ifs))
	for _, i := range ifs {
		addrs, err := i.Addrs()
		if err != nil {
			addrs = nil // it went away between the two calls
		}
		list = append(list, Interface{
			Name:         i.Name,
			Index:        i.Index,
			Up:           i.Flags&net.FlagUp != 0,
			Loopback:     i.Flags&net.FlagLoopback != 0,
			MTU:          i.MTU,
			HardwareType: types[i.Index],
			HardwareAddr: i.HardwareAddr.String(),
			Addrs:        prefixes(addrs),
		})
	}
	return list, nil
}

func prefixes(addrs []net.Addr) []netip.Prefix {
	var out []netip.Prefix
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		addr, ok := netip.AddrFromSlice(n.IP)
		if !ok {
			continue
		}
		bits, _ := n.Mask.Size()
		out = append(out, netip.PrefixFrom(addr.Unmap(), bits))
	}
	return out
}

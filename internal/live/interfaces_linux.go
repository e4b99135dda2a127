package live

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported says whether this system can capture.
const Supported = true

// LinkType is how frames of the interface are captured.
func (i *Interface) LinkType() uint16 { return linkTypeOf(i.HardwareType) }

// hardwareTypes asks the kernel over netlink, which unlike sysfs always
// answers for the network namespace of the caller.
func hardwareTypes() (map[int]uint16, error) {
	rib, err := syscall.NetlinkRIB(unix.RTM_GETLINK, unix.AF_UNSPEC)
	if err != nil {
		return nil, err
	}
	msgs, err := syscall.ParseNetlinkMessage(rib)
	if err != nil {
		return nil, err
	}
	types := make(map[int]uint16, len(msgs))
	for _, m := range msgs {
		// struct ifinfomsg: family(1) pad(1) type(2) index(4) ...
		if m.Header.Type != unix.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
			continue
		}
		index := int32(binary.NativeEndian.Uint32(m.Data[4:]))
		types[int(index)] = binary.NativeEndian.Uint16(m.Data[2:])
	}
	return types, nil
}

// linkTypeOf says how frames of a hardware type are captured. Types whose link
// header is not always the same, or not decoded here, are captured cooked.
func linkTypeOf(hardware uint16) uint16 {
	switch hardware {
	case unix.ARPHRD_ETHER, unix.ARPHRD_LOOPBACK:
		return LinkEthernet
	case unix.ARPHRD_NONE, unix.ARPHRD_RAWIP, unix.ARPHRD_TUNNEL, unix.ARPHRD_TUNNEL6, unix.ARPHRD_SIT:
		return LinkRaw
	default:
		return LinkLinuxSLL
	}
}

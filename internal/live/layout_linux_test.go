package live

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layout is written down for every system in block.go; here it is held
// against the kernel's own.
func TestLayout(t *testing.T) {
	var (
		b unix.TpacketBlockDesc
		v unix.TpacketHdrV1
		p unix.Tpacket3Hdr
		a unix.RawSockaddrLinklayer
	)
	hdr := unsafe.Offsetof(b.Hdr)
	variant := unsafe.Offsetof(p.Hv1)
	for _, f := range []struct {
		name string
		got  int
		want uintptr
	}{
		{"block status", blockStatusOff, hdr + unsafe.Offsetof(v.Block_status)},
		{"block packets", blockPacketsOff, hdr + unsafe.Offsetof(v.Num_pkts)},
		{"block first", blockFirstOff, hdr + unsafe.Offsetof(v.Offset_to_first_pkt)},
		{"block header", blockHdrLen, unsafe.Sizeof(b)},
		{"next", pktNextOff, unsafe.Offsetof(p.Next_offset)},
		{"seconds", pktSecOff, unsafe.Offsetof(p.Sec)},
		{"nanoseconds", pktNsecOff, unsafe.Offsetof(p.Nsec)},
		{"snap length", pktSnapLenOff, unsafe.Offsetof(p.Snaplen)},
		{"length", pktLenOff, unsafe.Offsetof(p.Len)},
		{"status", pktStatusOff, unsafe.Offsetof(p.Status)},
		{"mac", pktMacOff, unsafe.Offsetof(p.Mac)},
		{"tci", pktTCIOff, variant + unsafe.Offsetof(p.Hv1.Vlan_tci)},
		{"tpid", pktTPIDOff, variant + unsafe.Offsetof(p.Hv1.Vlan_tpid)},
		{"address", addrOff, unsafe.Sizeof(p)},
		{"protocol", addrProtocolOff, addrOff + unsafe.Offsetof(a.Protocol)},
		{"interface", addrIfindexOff, addrOff + unsafe.Offsetof(a.Ifindex)},
		{"hardware type", addrHatypeOff, addrOff + unsafe.Offsetof(a.Hatype)},
		{"packet type", addrPkttypeOff, addrOff + unsafe.Offsetof(a.Pkttype)},
		{"address length", addrHalenOff, addrOff + unsafe.Offsetof(a.Halen)},
		{"address octets", addrAddrOff, addrOff + unsafe.Offsetof(a.Addr)},
		{"packet header", pktHdrLen, addrOff + unsafe.Sizeof(a)},
		{"user", statusUser, unix.TP_STATUS_USER},
		{"checksum", statusCsumNotReady, unix.TP_STATUS_CSUMNOTREADY},
		{"tag", statusVLANValid, unix.TP_STATUS_VLAN_VALID},
		{"tag protocol", statusTPIDValid, unix.TP_STATUS_VLAN_TPID_VALID},
		{"outgoing", pktOutgoing, unix.PACKET_OUTGOING},
		{"loopback", hatypeLoop, unix.ARPHRD_LOOPBACK},
	} {
		if uintptr(f.got) != f.want {
			t.Errorf("%s: %d, the kernel says %d", f.name, f.got, f.want)
		}
	}
}

package live

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// minBlockBytes keeps blocks small enough that a ring has many of them: each
// block handed over by the timer is lost to the kernel until it is read.
const minBlockBytes = 256 << 10

// Open starts to capture. From here on packets collect in the ring until they
// are read.
func Open(opts Options) (*Handle, error) {
	if opts.SnapLen == 0 {
		opts.SnapLen = DefaultSnapLen
	}
	if opts.RingBytes == 0 {
		opts.RingBytes = DefaultRingBytes
	}
	if opts.SnapLen < 0 || opts.SnapLen > MaxSnapLen {
		return nil, fmt.Errorf("live: snap length %d is not in 1 to %d", opts.SnapLen, MaxSnapLen)
	}
	if opts.RingBytes < 0 || opts.RingBytes > MaxRingBytes {
		return nil, fmt.Errorf("live: ring of %d octets is not in 1 to %d", opts.RingBytes, MaxRingBytes)
	}
	target, err := lookup(opts.Interface)
	if err != nil {
		return nil, err
	}
	link := LinkLinuxSLL
	if target.Index != 0 {
		link = linkTypeOf(target.HardwareType)
	}
	if opts.Retire < time.Millisecond {
		opts.Retire = retireTimeout
	}
	switch {
	case opts.Compile != nil:
		if opts.Filter, err = opts.Compile(link); err != nil {
			return nil, err
		}
	case opts.Filter == nil:
		if opts.Filter, err = TCPOrSCTP(link); err != nil {
			return nil, err
		}
	}

	h := &Handle{name: opts.Interface, link: link, retire: opts.Retire, sock: -1, wake: -1}
	h.walk.link, h.walk.snapLen = link, opts.SnapLen
	if err := h.start(opts, target); err != nil {
		_ = h.Release() // the first error is the one to report
		return nil, err
	}
	return h, nil
}

// lookup finds the interface, which has index 0 when it is all of them.
func lookup(name string) (Interface, error) {
	if name == AnyInterface {
		return Interface{Name: name}, nil
	}
	list, err := Interfaces()
	if err != nil {
		return Interface{}, err
	}
	for _, i := range list {
		if i.Name != name {
			continue
		}
		if !i.Up {
			return i, &Error{fmt.Sprintf("interface %q is down (bring it up with: ip link set %s up)", name, name), unix.ENETDOWN}
		}
		return i, nil
	}
	return Interface{}, &Error{fmt.Sprintf("no such interface %q (see iwdissect live --list)", name), unix.ENODEV}
}

// start makes the socket and the ring. The socket has protocol 0 until bind:
// the kernel queues nothing on it before filter and ring are in place, so
// there is nothing unfiltered to throw away.
func (h *Handle) start(opts Options, target Interface) error {
	kind := unix.SOCK_RAW
	if h.link == LinkLinuxSLL {
		kind = unix.SOCK_DGRAM
	}
	var err error
	if h.sock, err = unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
		h.sock = -1
		return socketError(err)
	}
	if h.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		h.wake = -1
		return fmt.Errorf("live: eventfd: %w", err)
	}
	if err := attach(h.sock, cutTo(opts.Filter, opts.SnapLen)); err != nil {
		return fmt.Errorf("live: the kernel refused the capture filter: %w", err)
	}
	if err := h.mapRing(opts); err != nil {
		return err
	}
	// Saves the copy that the walker would drop; kernels before 4.20 do not
	// know the option, and the walker drops it then.
	if target.Loopback {
		_ = unix.SetsockoptInt(h.sock, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	}
	if err := unix.Bind(h.sock, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: target.Index}); err != nil {
		if errors.Is(err, unix.ENODEV) {
			return &Error{fmt.Sprintf("no such interface %q (see iwdissect live --list)", h.name), err}
		}
		return fmt.Errorf("live: capture on %q: %w", h.name, err)
	}
	if opts.Promiscuous && target.Index != 0 {
		mreq := unix.PacketMreq{Ifindex: int32(target.Index), Type: unix.PACKET_MR_PROMISC}
		if err := unix.SetsockoptPacketMreq(h.sock, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &mreq); err != nil {
			return fmt.Errorf("live: promiscuous mode on %q: %w", h.name, err)
		}
	}
	return nil
}

// mapRing shares the ring with the kernel.
func (h *Handle) mapRing(opts Options) error {
	if err := unix.SetsockoptInt(h.sock, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return &Error{"this kernel has no TPACKET_V3 ring (Linux 3.2 or later is needed): " + err.Error(), err}
	}
	if err := unix.SetsockoptInt(h.sock, unix.SOL_PACKET, unix.PACKET_RESERVE, headroom); err != nil {
		return fmt.Errorf("live: reserve room for headers: %w", err)
	}
	block, blocks := geometry(opts.SnapLen, opts.RingBytes)
	req := unix.TpacketReq3{
		Block_size: uint32(block),
		Block_nr:   uint32(blocks),
		// Only checked by the kernel: in version 3 packets lie back to back.
		Frame_size:     uint32(minBlockBytes),
		Frame_nr:       uint32(block / minBlockBytes * blocks),
		Retire_blk_tov: uint32(opts.Retire / time.Millisecond),
	}
	if err := unix.SetsockoptTpacketReq3(h.sock, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return ringError(block*blocks, err)
	}
	mem, err := unix.Mmap(h.sock, 0, block*blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return ringError(block*blocks, err)
	}
	h.mem, h.blockBytes, h.blocks = mem, block, blocks
	return nil
}

// geometry returns the size and the number of blocks. A packet never spans
// blocks, so one block must hold the largest packet with all headers. Block
// sizes are powers of two: the kernel allocates nothing else without waste.
func geometry(snapLen, ringBytes int) (block, blocks int) {
	const headers = blockHdrLen + pktHdrLen + headroom + 256
	block = minBlockBytes
	for block < snapLen+headers {
		block *= 2
	}
	return block, max(ringBytes/block, 2)
}

func ringError(size int, err error) error {
	if errors.Is(err, unix.ENOMEM) {
		return &Error{fmt.Sprintf("no memory for a capture ring of %d MiB (ask for a smaller one): %v", size>>20, err), err}
	}
	return fmt.Errorf("live: capture ring of %d octets: %w", size, err)
}

// socketError explains why there is no packet socket.
func socketError(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &Error{"no permission to capture: run as root, or grant CAP_NET_RAW with: " +
			"setcap cap_net_raw+ep " + executable(), err}
	case errors.Is(err, unix.EAFNOSUPPORT):
		return &Error{"this kernel has no packet sockets (CONFIG_PACKET): " + err.Error(), err}
	default:
		return fmt.Errorf("live: packet socket: %w", err)
	}
}

// executable is the path of this program, for a command that can be copied.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return "PATH-OF-IWDISSECT"
	}
	return path
}

// attach makes prog the filter of the socket, replacing any other at once.
func attach(sock int, prog []bpf.RawInstruction) error {
	if len(prog) == 0 || len(prog) > unix.BPF_MAXINSNS {
		return unix.EINVAL
	}
	ins := make([]unix.SockFilter, len(prog))
	for i, p := range prog {
		ins[i] = unix.SockFilter{Code: p.Op, Jt: p.Jt, Jf: p.Jf, K: p.K}
	}
	return unix.SetsockoptSockFprog(sock, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(ins)), Filter: &ins[0]})
}

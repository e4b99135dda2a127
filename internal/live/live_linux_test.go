package live

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// mixedFrames returns frames numbered in their last octets, and which of them
// the default filter keeps.
func mixedFrames(n int) (frames, kept [][]byte) {
	kinds := []func(payload []byte) (frame []byte, keep bool){
		func(b []byte) ([]byte, bool) {
			if len(b) > 8900 { // as large as the interface lets through
				b = append(make([]byte, 9000-20-len(b)), b...)
			}
			return ether(ipv4(6, 0, 0x4000, b), 0x0800), true
		},
		func(b []byte) ([]byte, bool) { return ether(ipv4(17, 0, 0x4000, b), 0x0800), false },
		func(b []byte) ([]byte, bool) { return ether(ipv4(6, 0, 0x4000, b), 0x8100, 0x0800), true },
		func(b []byte) ([]byte, bool) { return ether(ipv4(6, 0, 0x4000, b), 0x88a8, 0x8100, 0x0800), true },
		func(b []byte) ([]byte, bool) { return ether(b, 0x0806), false },
		func(b []byte) ([]byte, bool) { return ether(ipv4(132, 0, 0x4000, b), 0x0800), true },
		func(b []byte) ([]byte, bool) { return ether(ipv6(6, b), 0x86dd), true },
		func(b []byte) ([]byte, bool) { return ether(ipv4(6, 0, 0x2000, b), 0x0800), true },
		func(b []byte) ([]byte, bool) { return ether(ipv4(6, 0, 0x0005, b), 0x0800), true },
		func(b []byte) ([]byte, bool) { return ether(ipv6(132, b), 0x8100, 0x86dd), true },
		func(b []byte) ([]byte, bool) { return ether(ipv6(17, b), 0x8100, 0x86dd), false },
		func(b []byte) ([]byte, bool) {
			frame := ether(ipv4(6, 0, 0x4000, b), 0x0800)
			copy(frame, []byte{2, 0, 0, 0, 0x99, 0x99}) // for somebody else
			return frame, true
		},
	}
	sizes := []int{0, 26, 1000, 1440, 8928}
	for i := range n {
		b := binary.BigEndian.AppendUint32(transport(5001, 44444, sizes[i%len(sizes)]), uint32(i))
		frame, keep := kinds[i%len(kinds)](b)
		frames = append(frames, frame)
		if keep {
			kept = append(kept, frame)
		}
	}
	return frames, kept
}

func compare(t *testing.T, got []Packet, want [][]byte) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i].Data, want[i]) {
			t.Fatalf("packet %d:\n got %x\nwant %x", i, got[i].Data, want[i])
		}
		if int(got[i].OrigLen) != len(want[i]) {
			t.Fatalf("packet %d: original length %d, want %d", i, got[i].OrigLen, len(want[i]))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %d packets, want %d", len(got), len(want))
	}
}

func TestCapture_EveryOctetInOrder(t *testing.T) {
	for _, promiscuous := range []bool{false, true} {
		t.Run(map[bool]string{false: "normal", true: "promiscuous"}[promiscuous], func(t *testing.T) {
			newVeth(t)
			before := time.Now().UnixNano()
			h := open(t, Options{Interface: nearEnd, Promiscuous: promiscuous})
			if h.LinkType() != LinkEthernet {
				t.Fatalf("link type %d", h.LinkType())
			}
			details := ip(t, "-d link show "+nearEnd)
			if want := map[bool]string{false: "promiscuity 0", true: "promiscuity 1"}[promiscuous]; !strings.Contains(details, want) {
				t.Errorf("want %q in %s", want, details)
			}
			send := sender(t)
			frames, kept := mixedFrames(3000)
			go func() {
				for _, f := range frames {
					send(f)
				}
			}()
			var got []Packet
			var p Packet
			for len(got) < len(kept) {
				ok, err := h.Next(&p, 5*time.Second)
				if !ok || err != nil {
					t.Fatalf("after %d of %d packets: %v, %v", len(got), len(kept), ok, err)
				}
				p.Data = bytes.Clone(p.Data)
				got = append(got, p)
			}
			got = append(got, drain(t, h)...)
			compare(t, got, kept)
			near, _ := lookup(nearEnd)
			for i, p := range got {
				if p.Interface != near.Index || p.Outgoing {
					t.Fatalf("packet %d: interface %d, outgoing %v", i, p.Interface, p.Outgoing)
				}
				if p.Time < before || p.Time > time.Now().UnixNano() {
					t.Fatalf("packet %d: time %d is not now", i, p.Time)
				}
			}
			if s, err := h.Stats(); err != nil || s != (Stats{Received: uint64(len(kept))}) {
				t.Errorf("counters %+v, %v; want %d received", s, err, len(kept))
			}
			if ok, err := h.Next(&p, 0); ok || !errors.Is(err, io.EOF) {
				t.Errorf("after the end: %v, %v", ok, err)
			}
		})
	}
}

func TestCapture_OutgoingSide(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: farEnd})
	send := sender(t)
	frames, kept := mixedFrames(240)
	for _, f := range frames {
		send(f)
	}
	got := drain(t, h)
	compare(t, got, kept)
	for i, p := range got {
		if !p.Outgoing {
			t.Fatalf("packet %d is not marked as outgoing", i)
		}
	}
}

func TestClose_WakesAndDrains(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd})
	send := sender(t)
	frames, kept := mixedFrames(600)
	for _, f := range frames {
		send(f)
	}
	if err := h.Close(); err != nil { // most of the frames are in a block that is still open
		t.Fatal(err)
	}
	for _, f := range frames {
		send(f) // too late
	}
	compare(t, readAll(t, h), kept)

	h = open(t, Options{Interface: nearEnd})
	closed := make(chan time.Time, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		closed <- time.Now()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
	var p Packet
	if ok, err := h.Next(&p, -1); ok || !errors.Is(err, io.EOF) {
		t.Fatalf("woken with %v, %v", ok, err)
	}
	if d := time.Since(<-closed); d > patience {
		t.Errorf("woken %v after close", d)
	}
	if err := h.Close(); err != nil {
		t.Errorf("close after the end: %v", err)
	}
}

// patience is how long a test waits for what takes milliseconds: a busy machine may take seconds.
const patience = time.Minute

func TestNext_Timeout(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd})
	var p Packet
	for _, wait := range []time.Duration{0, 30 * time.Millisecond} {
		start := time.Now()
		if ok, err := h.Next(&p, wait); ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
		if d := time.Since(start); d < wait || d > wait+patience {
			t.Errorf("waited %v, want %v", d, wait)
		}
	}
	// A lone packet must not sit in its block.
	sender(t)(ether(ipv4(6, 0, 0, transport(1, 2, 9)), 0x0800))
	start := time.Now()
	if ok, err := h.Next(&p, patience); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if d := time.Since(start); d > patience/2 {
		t.Errorf("a packet took %v", d)
	}
}

func TestCapture_SnapLen(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd, SnapLen: 96})
	send := sender(t)
	frames := [][]byte{
		ether(ipv4(6, 0, 0, transport(1, 2, 1000)), 0x0800),
		ether(ipv4(6, 0, 0, transport(1, 2, 1000)), 0x8100, 0x0800),
	}
	for _, f := range frames {
		send(f)
	}
	got := drain(t, h)
	if len(got) != len(frames) {
		t.Fatalf("got %d packets", len(got))
	}
	for i, p := range got {
		if !bytes.Equal(p.Data, frames[i][:96]) || int(p.OrigLen) != len(frames[i]) {
			t.Errorf("packet %d: %d octets of %d: %x", i, len(p.Data), p.OrigLen, p.Data)
		}
	}
}

func TestCapture_Filter(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd, Filter: []bpf.RawInstruction{}})
	send := sender(t)
	frames, _ := mixedFrames(60)
	for _, f := range frames {
		send(f)
	}
	compare(t, drain(t, h), frames)
	_, err := Open(Options{Interface: nearEnd, Filter: []bpf.RawInstruction{{Op: 0xffff}}})
	if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "filter") {
		t.Errorf("bad filter: %v", err)
	}
}

func TestStats_Overrun(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd, RingBytes: 1})
	send := sender(t)
	frame := ether(ipv4(6, 0, 0, transport(1, 2, 1400)), 0x0800)
	const sent = 3000 // four times what two blocks hold
	for range sent / 2 {
		send(frame)
	}
	first, err := h.Stats()
	if err != nil || first.Received == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	for range sent / 2 {
		send(frame)
	}
	got := drain(t, h)
	s, err := h.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if s.Received != sent || s.Dropped == 0 || s.FreezeCount == 0 || uint64(len(got)) != sent-s.Dropped {
		t.Errorf("sent %d, delivered %d, counters %+v", sent, len(got), s)
	}
}

// The ring goes round several times.
func TestCapture_SmallRing(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd, RingBytes: 1 << 20})
	send := sender(t)
	frames, kept := mixedFrames(2400)
	var got []Packet
	var p Packet
	for len(frames) > 0 {
		n := min(len(frames), 60)
		for _, f := range frames[:n] {
			send(f)
		}
		frames = frames[n:]
		for {
			// Long enough for the kernel to hand over a block that is not full.
			ok, err := h.Next(&p, 50*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			p.Data = bytes.Clone(p.Data)
			got = append(got, p)
		}
	}
	compare(t, append(got, drain(t, h)...), kept)
}

func TestCapture_Loopback(t *testing.T) {
	livetest.Namespace(t)
	ip(t, "link set lo up")
	h := open(t, Options{Interface: "lo"})
	all := open(t, Options{Interface: AnyInterface}) // relies on the walker to drop the copies
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(sock)
	if err := unix.Connect(sock, &unix.SockaddrInet4{Port: 5445, Addr: [4]byte{127, 0, 0, 1}}); !errors.Is(err, unix.ECONNREFUSED) {
		t.Fatalf("connect: %v", err)
	}
	got := drain(t, h)
	if len(got) != 2 || h.LinkType() != LinkEthernet {
		t.Fatalf("got %d packets of link type %d, want one SYN and one RST", len(got), h.LinkType())
	}
	for i, flags := range []byte{0x02, 0x14} {
		if f := got[i].Data[14+20+13] & 0x17; f != flags {
			t.Errorf("packet %d: flags %#x, want %#x", i, f, flags)
		}
	}
	if !got[0].ChecksumPending {
		t.Error("nobody computes checksums on the loopback interface, yet the SYN is said to have one")
	}
	cooked := drain(t, all)
	if len(cooked) != 2 || all.LinkType() != LinkLinuxSLL {
		t.Fatalf("got %d packets of link type %d on all interfaces", len(cooked), all.LinkType())
	}
	for i, p := range cooked {
		if !bytes.Equal(p.Data[sllLen:], got[i].Data[14:]) || int(p.OrigLen) != len(p.Data) {
			t.Errorf("packet %d: %x, want %x", i, p.Data, got[i].Data)
		}
	}
}

func TestCapture_Any(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: AnyInterface})
	frame := ether(ipv4(6, 0, 0, transport(1, 2, 50)), 0x8100, 0x0800)
	sender(t)(frame)
	got := drain(t, h)
	if len(got) != 2 {
		t.Fatalf("got %d packets, want one at each end", len(got))
	}
	far, near := got[0], got[1]
	if !far.Outgoing || near.Outgoing || far.Interface == near.Interface {
		t.Errorf("far end %+v, near end %+v", far, near)
	}
	// The near end saw a frame for somebody else, from the MAC address in it.
	want := append([]byte{0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0}, frame[12:]...)
	if !bytes.Equal(near.Data, want) || int(near.OrigLen) != len(want) {
		t.Errorf("near end\n got %x\nwant %x", near.Data, want)
	}
	if !bytes.Equal(far.Data[sllLen-2:], want[sllLen-2:]) {
		t.Errorf("far end\n got %x\nwant %x", far.Data, want)
	}
}

func TestCapture_Raw(t *testing.T) {
	livetest.Namespace(t)
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no tun device: %v", err)
	}
	defer unix.Close(tun)
	req, err := unix.NewIfreq("iwdT")
	if err != nil {
		t.Fatal(err)
	}
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(tun, unix.TUNSETIFF, req); err != nil {
		t.Skipf("no tun device: %v", err)
	}
	ip(t, "link set iwdT up")
	h := open(t, Options{Interface: "iwdT"})
	want := [][]byte{ipv4(6, 0, 0, transport(1, 2, 9)), ipv4(132, 0, 0, transport(1, 2, 99))}
	for _, b := range [][]byte{want[0], ipv4(17, 0, 0, transport(1, 2, 9)), want[1]} {
		if _, err := unix.Write(tun, b); err != nil {
			t.Fatal(err)
		}
	}
	if h.LinkType() != LinkRaw {
		t.Errorf("link type %d", h.LinkType())
	}
	compare(t, drain(t, h), want)
}

func TestNext_InterfaceGoesDown(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd})
	sender(t)(ether(ipv4(6, 0, 0, transport(1, 2, 9)), 0x0800))
	ip(t, "link set "+nearEnd+" down")
	var p Packet
	if ok, err := h.Next(&p, 5*time.Second); !ok || err != nil {
		t.Fatalf("what was captured before: %v, %v", ok, err)
	}
	for range 2 {
		ok, err := h.Next(&p, 5*time.Second)
		if ok || !errors.Is(err, unix.ENETDOWN) || !strings.Contains(err.Error(), `interface "iwdA" went down`) {
			t.Fatalf("got %v, %v", ok, err)
		}
	}
}

func TestOpen_Errors(t *testing.T) {
	newVeth(t)
	ip(t, "link set "+nearEnd+" down")
	for _, tt := range []struct {
		opts  Options
		text  string
		cause error
	}{
		{Options{Interface: "foo"}, `no such interface "foo" (see iwdissect live --list)`, unix.ENODEV},
		{Options{Interface: nearEnd}, `interface "iwdA" is down (bring it up with: ip link set iwdA up)`, unix.ENETDOWN},
		{Options{Interface: farEnd, SnapLen: -1}, "live: snap length -1 is not in 1 to 1048576", nil},
		{Options{Interface: farEnd, RingBytes: 1<<30 + 1}, "live: ring of 1073741825 octets is not in 1 to 1073741824", nil},
	} {
		_, err := Open(tt.opts)
		if err == nil || err.Error() != tt.text || tt.cause != nil && !errors.Is(err, tt.cause) {
			t.Errorf("%+v: %v, want %s", tt.opts, err, tt.text)
		}
	}
}

func TestOpen_NoPermission(t *testing.T) {
	newVeth(t)
	// Only this thread, which nobody else will use.
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&hdr, &caps[0]); err != nil {
		livetest.Skip(t, "cannot read the capabilities: %v", err)
	}
	caps[0].Effective &^= 1 << unix.CAP_NET_RAW
	if err := unix.Capset(&hdr, &caps[0]); err != nil {
		livetest.Skip(t, "cannot drop a capability: %v", err)
	}
	_, err := Open(Options{Interface: nearEnd})
	if !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "setcap cap_net_raw+ep") {
		t.Errorf("got %v", err)
	}
}

func TestInterfaces(t *testing.T) {
	newVeth(t)
	ip(t, "addr add 10.9.8.7/24 dev "+nearEnd)
	ip(t, "link set "+farEnd+" down")
	list, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 3 || !list[0].Loopback || list[0].HardwareType != unix.ARPHRD_LOOPBACK {
		t.Fatalf("got %+v", list)
	}
	for _, i := range list {
		switch i.Name {
		case nearEnd:
			if !i.Up || i.MTU != 9000 || i.HardwareType != unix.ARPHRD_ETHER || len(i.HardwareAddr) != 17 ||
				len(i.Addrs) != 1 || i.Addrs[0] != netip.MustParsePrefix("10.9.8.7/24") {
				t.Errorf("got %+v", i)
			}
		case farEnd:
			if i.Up || len(i.Addrs) != 0 {
				t.Errorf("got %+v", i)
			}
		}
	}
}

func TestLinkTypeOf(t *testing.T) {
	for hardware, want := range map[uint16]uint16{
		unix.ARPHRD_ETHER: LinkEthernet, unix.ARPHRD_LOOPBACK: LinkEthernet,
		unix.ARPHRD_NONE: LinkRaw, unix.ARPHRD_TUNNEL: LinkRaw,
		unix.ARPHRD_PPP: LinkLinuxSLL, unix.ARPHRD_INFINIBAND: LinkLinuxSLL,
	} {
		if got := linkTypeOf(hardware); got != want {
			t.Errorf("hardware type %d: link type %d, want %d", hardware, got, want)
		}
	}
}

func TestNext_Allocations(t *testing.T) {
	newVeth(t)
	h := open(t, Options{Interface: nearEnd})
	send := sender(t)
	frames, kept := mixedFrames(1200)
	for _, f := range frames {
		send(f)
	}
	var p Packet
	n := testing.AllocsPerRun(len(kept)-1, func() { // and one run to warm up
		if ok, err := h.Next(&p, 5*time.Second); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a packet, want 0", n)
	}
	n = testing.AllocsPerRun(100, func() {
		if ok, err := h.Next(&p, time.Millisecond); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a wait, want 0", n)
	}
}

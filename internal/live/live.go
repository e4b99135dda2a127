package live

import (
	"time"

	"golang.org/x/net/bpf"
)

// Link types, as numbered in capture files (LINKTYPE_*).
const (
	// LinkEthernet is used for Ethernet and for the Linux loopback
	// interface, which carries Ethernet headers.
	LinkEthernet uint16 = 1
	// LinkRaw is used for interfaces without a link header (tun, IP
	// tunnels): frames start with the IP header.
	LinkRaw uint16 = 101
	// LinkLinuxSLL is used for everything else and for [AnyInterface]: the
	// 16-octet "cooked" header stands in for the link header.
	LinkLinuxSLL uint16 = 113
)

// AnyInterface as [Options].Interface captures on all interfaces of the
// network namespace at once, with cooked headers and never promiscuous.
const AnyInterface = "any"

const (
	// DefaultSnapLen is the number of octets kept of each frame: more than
	// any frame has.
	DefaultSnapLen = 262144
	// DefaultRingBytes is the size of the ring: about 50 ms of a 10 Gbit/s
	// link.
	DefaultRingBytes = 64 << 20

	// MaxSnapLen is the largest snap length that may be asked for.
	MaxSnapLen = 1 << 20
	// MaxRingBytes is the largest ring that may be asked for.
	MaxRingBytes = 1 << 30
)

// retireTimeout is [Options].Retire if that is not set.
const retireTimeout = 50 * time.Millisecond

// Options says what to capture. The zero value of every field but Interface
// is its default.
type Options struct {
	// Interface is the name of the interface, or [AnyInterface].
	Interface string
	// Promiscuous asks the interface for frames that are addressed to
	// others. Without it such frames may still come, when the interface is
	// promiscuous for another reason.
	Promiscuous bool
	// SnapLen is the number of octets kept of each frame; 0 means
	// [DefaultSnapLen].
	SnapLen int
	// RingBytes is the memory shared with the kernel; 0 means
	// [DefaultRingBytes]. It is rounded to whole blocks, at least two.
	RingBytes int
	// Filter is the program the kernel runs on each frame; nil means
	// [TCPOrSCTP], an empty slice captures everything.
	Filter Program
	// Compile, if it is set, makes Filter for the link type of the interface.
	// For [LinkLinuxSLL] the program is run on frames that begin behind the
	// link header.
	Compile func(link uint16) (Program, error)
	// Retire is how long the kernel keeps an open block that is not full to
	// itself, in whole milliseconds; 0 means 50 ms. It bounds the delay between
	// a packet and its line: a block goes to the reader after one to two of
	// these.
	Retire time.Duration
}

// Program is a filter of classic BPF.
type Program = []bpf.RawInstruction

// Packet is one captured frame.
type Packet struct {
	// Time is the kernel's timestamp in nanoseconds since 1970 UTC.
	Time int64
	// Data holds the captured octets. It is borrowed: valid until the next
	// call of Next or Release.
	Data []byte
	// OrigLen is the length of the whole frame in octets; Data is shorter
	// when SnapLen cut it.
	OrigLen uint32
	// Interface is the index of the interface the frame was seen on.
	Interface int
	// Source is the number of the capture in a [Group].
	Source int
	// Outgoing is set for frames this host sent.
	Outgoing bool
	// ChecksumPending is set for frames whose transport checksum was still
	// to be filled in by the network card: the one in Data means nothing.
	ChecksumPending bool
}

// Stats are the kernel's counters since Open. They count what passed the
// filter.
type Stats struct {
	// Received counts all packets, dropped ones included.
	Received uint64
	// Dropped counts packets lost because the ring was full.
	Dropped uint64
	// FreezeCount counts how often the ring became full.
	FreezeCount uint64
}

// Error is a failure with a message written for the person at the terminal.
// It unwraps to the error of the system, a [syscall.Errno] where there is one.
type Error struct {
	// Message says what failed and what to try.
	Message string
	// Err is the cause.
	Err error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

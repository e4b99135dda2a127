package layers

import (
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// Frame is one captured frame, as [Source.Next] returns it.
type Frame struct {
	// Data holds the captured octets. They are borrowed: valid until the next
	// call of Next.
	Data []byte
	// Time is when the frame was captured, with the resolution of the source, at
	// best nanoseconds.
	Time time.Time
	// Length is the length of the frame on the wire in octets. It is larger than
	// len(Data) when the snap length cut the frame.
	Length int
	// LinkType is the LINKTYPE number of the frame
	// (draft-ietf-opsawg-pcaplinktype), for example 1 for Ethernet.
	LinkType uint16
	// Interface is the index of the interface that captured the frame, as the
	// source counts them.
	Interface int
}

// linkEthernet is the LINKTYPE number of Ethernet.
const linkEthernet = 1

// Source reads frames from a [gopacket.PacketDataSource]. It is for one
// goroutine. It does not close what it reads from.
type Source struct {
	// Retry reports whether an error of the data source means that nothing has
	// come yet, so that Next reads again. A live pcap handle with a timeout needs
	//
	//	src.Retry = func(err error) bool { return err == pcap.NextErrorTimeoutExpired }
	//
	// and afpacket the same with afpacket.ErrTimeout. When nil, Next returns
	// every error.
	Retry func(error) bool
	// Done, once it is closed, has Next return [io.EOF] in place of reading again where
	// nothing has come: without it, Next stays in that loop for as long as the link is idle.
	// It is for the Done channel of a context.
	Done <-chan struct{}

	read func() ([]byte, gopacket.CaptureInfo, error)
	link func(iface int) uint16
}

// NewSource returns a Source that reads from data, without a copy where data is
// also a [gopacket.ZeroCopyPacketDataSource].
//
// The link type is what data says it is: a [pcapgo.NgReader] has one for each
// interface, pcap handles and [pcapgo.Reader] have one for all. Anything else is
// taken for Ethernet, which is what afpacket and pfring deliver;
// [Source.SetLinkType] overrules all of this.
func NewSource(data gopacket.PacketDataSource) *Source {
	s := &Source{read: data.ReadPacketData}
	if z, ok := data.(gopacket.ZeroCopyPacketDataSource); ok {
		s.read = z.ZeroCopyReadPacketData
	}
	switch d := data.(type) {
	case *pcapgo.NgReader:
		s.link = func(iface int) uint16 {
			if i, err := d.Interface(iface); err == nil {
				return uint16(i.LinkType)
			}
			return uint16(d.LinkType())
		}
	case interface{ LinkType() layers.LinkType }:
		s.link = func(int) uint16 { return uint16(d.LinkType()) }
	default:
		s.SetLinkType(linkEthernet)
	}
	return s
}

// SetLinkType says that all frames have this LINKTYPE number, whatever the data
// source says. It is needed for numbers above 255, such as 276 for Linux cooked
// captures of version 2: gopacket v1.1.19 keeps link types in eight bits.
func (s *Source) SetLinkType(link uint16) {
	s.link = func(int) uint16 { return link }
}

// Next returns the next frame, [io.EOF] at the end, or the error of the data
// source. Whether reading can go on behind an error is up to the data source; a
// range of the package iwdissect ends with it.
func (s *Source) Next() (Frame, error) {
	for {
		data, info, err := s.read()
		if err == nil {
			return Frame{
				Data:      data,
				Time:      info.Timestamp,
				Length:    max(info.Length, len(data)),
				LinkType:  s.link(info.InterfaceIndex),
				Interface: info.InterfaceIndex,
			}, nil
		}
		if s.Retry == nil || !s.Retry(err) {
			return Frame{}, err
		}
		select {
		case <-s.Done:
			return Frame{}, io.EOF
		default:
		}
	}
}

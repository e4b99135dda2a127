package peer

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// TestTap_Window: a peer that has no room for some time is seen to announce a window of 0, until it has.
func TestTap_Window(t *testing.T) {
	var b bytes.Buffer
	tap, err := NewTap(&b)
	if err != nil {
		t.Fatal(err)
	}
	var kernel peerTCP
	c := newTapped([]*Tap{tap}, netip.MustParseAddrPort("192.0.2.1:40000"), netip.MustParseAddrPort("192.0.2.2:5001"), true,
		func() (peerTCP, bool) { return kernel, true })
	c.sent(make([]byte, 100))
	kernel = peerTCP{acked: 40, full: true}
	c.acknowledge() // acknowledges 40
	time.Sleep(fullFor)
	c.acknowledge() // has had no room for long
	kernel.full = false
	c.acknowledge() // has room again
	if err := tap.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := pcapng.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint16
	var rec pcapng.Record
	for d, p := packet.NewDecoder(), (packet.Packet{}); r.Next(&rec) == nil; {
		d.Decode(packet.LinkRaw, rec.Data, rec.OrigLen, 1, rec.Time, &p)
		if p.SrcPort == 5001 && p.Flags&packet.FlagSYN == 0 {
			got = append(got, p.Window)
		}
	}
	if len(got) != 3 || got[0] == 0 || got[1] != 0 || got[2] == 0 {
		t.Errorf("the peer announces the windows %d", got)
	}
}

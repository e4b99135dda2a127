package live

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// twoPairs makes a second pair of interfaces, of which one end is returned, and
// a function that sends from the other.
func twoPairs(t *testing.T) (near string, send func([]byte)) {
	t.Helper()
	newVeth(t)
	ip(t, "link add iwdC mtu 9000 type veth peer name iwdD mtu 9000")
	ip(t, "link set iwdC up")
	ip(t, "link set iwdD up")
	return "iwdC", livetest.SenderOn(t, "iwdD", false)
}

func openAll(t *testing.T, opts ...Options) *Group {
	t.Helper()
	g, err := OpenAll(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Release(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// TestGroup_InOrder: frames that come on two interfaces by turns are delivered
// in that order, none is lost, also those in the rings when the capture ends.
func TestGroup_InOrder(t *testing.T) {
	other, sendOther := twoPairs(t)
	g := openAll(t, Options{Interface: nearEnd}, Options{Interface: other})
	if types := g.LinkTypes(); len(types) != 2 || types[0] != LinkEthernet || types[1] != LinkEthernet {
		t.Errorf("link types %v", types)
	}
	sends := []func([]byte){sender(t), sendOther}
	const n = 3000
	from := make([]int, n)
	for i := range from {
		from[i] = (i / (1 + i%7)) % 2 // in turns of different lengths
	}
	go func() {
		for i := range n {
			sends[from[i]](ether(ipv4(6, 0, 0, binary.BigEndian.AppendUint32(transport(1, 2, 8), uint32(i))), 0x0800))
			if i%500 == 499 {
				time.Sleep(20 * time.Millisecond)
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	var p Packet
	var last int64
	for i := range n {
		ok, err := g.Next(&p, 5*time.Second)
		if !ok || err != nil {
			t.Fatalf("after %d frames: %v, %v", i, ok, err)
		}
		if got := binary.BigEndian.Uint32(p.Data[len(p.Data)-4:]); int(got) != i || p.Source != from[i] || p.Time < last {
			t.Fatalf("frame %d of interface %d instead of %d of %d, %d ns after the one before", got, p.Source, i, from[i], p.Time-last)
		}
		last = p.Time
	}
	if ok, err := g.Next(&p, 5*time.Second); ok || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, %v", ok, err)
	}
	if s, err := g.Stats(); err != nil || s.Received != n || s.Dropped != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestGroup_OneIsIdle: the frames of one interface do not wait for another one.
func TestGroup_OneIsIdle(t *testing.T) {
	other, _ := twoPairs(t)
	g := openAll(t, Options{Interface: other}, Options{Interface: nearEnd})
	send := sender(t)
	var p Packet
	if ok, err := g.Next(&p, 20*time.Millisecond); ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	for range 5 {
		start := time.Now()
		send(ether(ipv4(6, 0, 0, transport(1, 2, 8)), 0x0800))
		ok, err := g.Next(&p, patience)
		if !ok || err != nil || p.Source != 1 {
			t.Fatalf("%v, %v, interface %d", ok, err, p.Source)
		}
		if d := time.Since(start); d > patience/2 {
			t.Errorf("a frame took %v", d)
		}
	}
}

// TestGroup_OneGoesAway ends the capture, behind what was captured.
func TestGroup_OneGoesAway(t *testing.T) {
	other, sendOther := twoPairs(t)
	g := openAll(t, Options{Interface: nearEnd}, Options{Interface: other})
	send := sender(t)
	frame := ether(ipv4(6, 0, 0, transport(1, 2, 8)), 0x0800)
	send(frame)
	sendOther(frame)
	ip(t, "link set "+other+" down")
	var p Packet
	for i := range 2 {
		if ok, err := g.Next(&p, 5*time.Second); !ok || err != nil {
			t.Fatalf("frame %d: %v, %v", i, ok, err)
		}
	}
	ok, err := g.Next(&p, 5*time.Second)
	if ok || !errors.Is(err, unix.ENETDOWN) || !strings.Contains(err.Error(), other) {
		t.Errorf("at the end: %v, %v", ok, err)
	}
}

func TestGroup_CannotOpen(t *testing.T) {
	newVeth(t)
	if _, err := OpenAll([]Options{{Interface: nearEnd}, {Interface: "iwdX"}}); err == nil || !strings.Contains(err.Error(), "iwdX") {
		t.Errorf("%v", err)
	}
}

// TestOpen_Compile: the filter is made for the link type of the interface.
func TestOpen_Compile(t *testing.T) {
	newVeth(t)
	asked := uint16(0)
	h := open(t, Options{Interface: nearEnd, Compile: func(link uint16) (Program, error) {
		asked = link
		return Program{{Op: opRetConstant, K: 60}}, nil
	}})
	if asked != LinkEthernet {
		t.Errorf("asked for link type %d", asked)
	}
	sender(t)(ether(make([]byte, 200), 0x1234))
	got := drain(t, h)
	if len(got) != 1 || len(got[0].Data) != 60 || got[0].OrigLen != 214 {
		t.Errorf("%d frames", len(got))
	}
	failure := errors.New("no such filter")
	if _, err := Open(Options{Interface: nearEnd, Compile: func(uint16) (Program, error) { return nil, failure }}); !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
}

package link

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
)

func TestTap_Fragments(t *testing.T) {
	for _, c := range []struct {
		name     string
		build    *packet.Build
		fragment int
		frames   int
	}{
		{"fits exactly", build(0, 1460), 1500, 1},
		{"one octet more", build(0, 1461), 1500, 2},
		{"IPv6 fits exactly", build6(0, 1440), 1500, 1},
		{"IPv6 one octet more", build6(0, 1441), 1500, 2},
		{"smallest IPv4 MTU", build(0, 1000), 68, 22},
		{"IPv4 options", func() *packet.Build {
			b := build(0, 1000)
			b.IPOptions = bytes.Repeat([]byte{1}, 40)
			return b
		}(), 576, 2},
		{"IPv6 extensions", func() *packet.Build {
			b := build6(0, 1500)
			b.Extensions = []packet.Extension{{Proto: 60, Body: []byte{1, 30, 30: 0, 31: 0}}}
			return b
		}(), 1280, 2},
		{"the largest packet", build(0, 65495), 9000, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Config{Fragment: c.fragment}, usual())
			w.send(0, 0, Packet{Build: c.build})
			frames := w.run(t)
			if len(frames) != c.frames {
				t.Errorf("%d frames instead of %d", len(frames), c.frames)
			}
			for i, f := range frames {
				if size := int(f.rec.OrigLen) - 14; size > c.fragment {
					t.Errorf("packet of %d octets in frame %d", size, i+1)
				}
				if f.status != packet.Fragment && i < len(frames)-1 {
					t.Errorf("frame %d: %v", i+1, f.status)
				}
			}
			last := frames[len(frames)-1]
			if last.status != packet.OK || last.checksum != packet.ChecksumOK || !bytes.Equal(last.packet.Payload, c.build.Payload) {
				t.Errorf("%v, checksum %v, %d octets", last.status, last.checksum, len(last.packet.Payload))
			}
		})
	}
}

// No fragment can be smaller than its headers and eight octets: the 70 octets
// of the segment go into nine of them.
func TestTap_FragmentTooSmall(t *testing.T) {
	for _, c := range []struct {
		build *packet.Build
		limit int
	}{
		{build(0, 50), 1},
		{build(0, 50), 20},
		{build(0, 50), 28},
		{build(0, 50), 35},
		{build6(0, 50), 1},
		{build6(0, 50), 40},
		{build6(0, 50), 48},
		{build6(0, 50), 63},
	} {
		w := newWorld(t, Config{Fragment: c.limit}, usual())
		w.send(0, 0, Packet{Build: c.build})
		frames := w.run(t)
		if last := frames[len(frames)-1]; len(frames) != 9 || last.status != packet.OK || last.checksum != packet.ChecksumOK {
			t.Errorf("%d: %d frames, %v, checksum %v", c.limit, len(frames), last.status, last.checksum)
		}
	}
}

// A segment that is still to be cut by segmentation offload is no IP packet
// yet, so there are no fragments of it: their offsets would not fit.
func TestTap_NoFragmentsOfOffloadedSegments(t *testing.T) {
	w := newWorld(t, Config{Fragment: 1500}, usual())
	w.send(0, 0, Packet{Build: build(0, 65536)})
	frames := w.run(t)
	if len(frames) != 1 || frames[0].status != packet.OK || frames[0].packet.PayloadLen != 65536 {
		t.Fatalf("%d frames, the first %v", len(frames), frames[0].status)
	}
	if frames[0].packet.Notes&packet.NoteLengthFromFrame == 0 {
		t.Error("the IP header gives a length")
	}
}

func TestTap_BadChecksum(t *testing.T) {
	for _, link := range []uint16{
		packet.LinkEthernet, packet.LinkRaw, packet.LinkNull, packet.LinkLoop, packet.LinkLinuxSLL, packet.LinkLinuxSLL2,
	} {
		for _, v := range []struct {
			name     string
			change   func(*packet.Build)
			fragment int
		}{
			{"plain", func(*packet.Build) {}, 0},
			{"options", func(b *packet.Build) { b.Options = packet.AppendTimestamps(nil, 1, 2) }, 0},
			{"tags", func(b *packet.Build) { b.VLANs = []packet.VLAN{{TCI: 5}, {TCI: 6}} }, 0},
			{"SNAP", func(b *packet.Build) { b.SNAP = true }, 0},
			{"padded frame", func(b *packet.Build) { b.Pad, b.Payload = true, nil }, 0},
			{"trailer", func(b *packet.Build) { b.Pad, b.Payload, b.Trailer = true, []byte{1}, []byte{1, 2, 3, 4} }, 0},
			{"fragments", func(*packet.Build) {}, 100},
			{"offload", func(*packet.Build) {}, 0},
		} {
			for i, b := range []*packet.Build{build(7, 301), build6(7, 301)} {
				b.Link = link
				v.change(b)
				c := usual()
				c.Link = link
				c.Offload[Client] = v.name == "offload"
				w := newWorld(t, Config{Fragment: v.fragment}, c)
				w.send(0, 0, Packet{Build: b, Orders: Orders{BadChecksum: true}})
				frames := w.run(t)
				f := frames[len(frames)-1]
				if f.status != packet.OK || f.checksum != packet.ChecksumBad || !bytes.Equal(f.packet.Payload, b.Payload) || f.packet.Seq != 7 {
					t.Errorf("link %d, %s, IPv%d: %v, checksum %v", link, v.name, 4+2*i, f.status, f.checksum)
				}
			}
		}
	}
}

// A capture on the sender of SCTP sees zero where the adapter puts the checksum.
func TestTap_OffloadOfSCTP(t *testing.T) {
	b := build(0, 0)
	b.Proto, b.Payload, b.ID = packet.ProtoSCTP, bytes.Repeat([]byte{9}, 40), 1
	c := usual()
	c.Offload = [2]bool{true, false}
	w := newWorld(t, Config{}, c)
	w.send(0, 0, Packet{Build: b})
	clear(b.Payload[8:12])
	if f := w.run(t)[0]; !bytes.Equal(f.rec.Data, b.Append(nil)) {
		t.Errorf("%x", f.rec.Data)
	}
}

// Of other protocols it is not known where the checksum is.
func TestTap_BadChecksumOfAnotherProtocol(t *testing.T) {
	b := build(0, 0)
	b.Proto, b.Payload = packet.ProtoUDP, bytes.Repeat([]byte{9}, 40)
	c := usual()
	c.Offload = [2]bool{true, true}
	for _, o := range []Orders{{}, {BadChecksum: true}} {
		w := newWorld(t, Config{}, c)
		w.send(0, 0, Packet{Build: b, Orders: o})
		b.ID = 1
		if f := w.run(t)[0]; !bytes.Equal(f.rec.Data, b.Append(nil)) {
			t.Errorf("%+v: the frame was changed", o)
		}
	}
}

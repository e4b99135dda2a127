package packet

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// FuzzDecode feeds hostile frames, twice over and with the frame before it, and
// holds every answer to what the fields of a Packet promise.
func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, link := range linkTypes {
		for range 8 {
			b := randomBuild(rng, link)
			frame := b.Append(nil)
			f.Add(link, frame, uint32(len(frame)), uint16(0))
			f.Add(link, frame[:len(frame)*2/3], uint32(len(frame)), uint16(0))
		}
	}
	for _, v6 := range []bool{false, true} {
		b := big(v6)
		b.Payload = b.Payload[:100]
		frames := b.Fragments(64)
		f.Add(b.Link, bytes.Join(frames, nil), uint32(0), uint16(len(frames[0])))
		f.Add(b.Link, slicesOfTwo(frames), uint32(0), uint16(len(frames[1])))
	}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, origLen uint32, split uint16) {
		d := NewDecoder()
		d.SetLimits(FragmentLimits{Datagrams: 4, Memory: 16 << 10})
		// Several frames from one input, so that fragments can meet.
		size := len(data)
		if split > 0 {
			size = int(split)
		}
		for n := uint64(1); ; n++ {
			frame := data[:min(size, len(data))]
			data = data[len(frame):]
			checkDecode(t, d, link, frame, origLen, n)
			if len(data) == 0 {
				break
			}
		}
		if s := d.Stats(); s.Pending > 4 || s.PendingMemory > 16<<10 || s.Pending == 0 && s.PendingMemory != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

// slicesOfTwo joins two fragments in the wrong order.
func slicesOfTwo(frames [][]byte) []byte { return append(bytes.Clone(frames[1]), frames[0]...) }

func checkDecode(t *testing.T, d *Decoder, link uint16, frame []byte, origLen uint32, n uint64) {
	t.Helper()
	p := dirty()
	before := d.Stats()
	st := d.Decode(link, frame, origLen, n, int64(n), &p)
	wire := max(len(frame), int(min(origLen, math.MaxInt32)))
	if len(p.Payload) > p.PayloadLen || len(p.Segment) > p.SegmentLen || p.PayloadLen > p.SegmentLen ||
		p.PayloadLen < 0 || p.SegmentLen > max(wire, 65535+40) || p.NumVLANs > MaxVLANs {
		t.Fatalf("%v: payload %d of %d, segment %d of %d", st, len(p.Payload), p.PayloadLen, len(p.Segment), p.SegmentLen)
	}
	if p.SegmentOffset >= 0 && !bytes.Equal(frame[p.SegmentOffset:][:len(p.Segment)], p.Segment) {
		t.Fatalf("segment is not at %d", p.SegmentOffset)
	}
	if off := p.PayloadOffset(); off >= 0 && len(p.Payload) > 0 && !bytes.Equal(frame[off:][:len(p.Payload)], p.Payload) {
		t.Fatalf("payload is not at %d", off)
	}
	switch st {
	case OK:
		if p.Proto != ProtoTCP && p.Proto != ProtoSCTP || p.NetworkOffset < 0 || (p.SegmentOffset < 0) != (p.Fragments != nil) {
			t.Fatalf("%+v", p)
		}
		if got := d.Stats(); (got.Datagrams > before.Datagrams) != (p.Fragments != nil) {
			t.Fatalf("%+v, %+v", got, p)
		}
	case Malformed, Truncated:
		if d.Reason() == "" || d.Fault().Offset < -1 || d.Fault().Offset > len(frame) {
			t.Fatalf("%v: %+v", st, d.Fault())
		}
		if st == Truncated && len(frame) >= wire && p.Fragments == nil && p.NetworkOffset < 0 {
			t.Fatalf("truncated, but nothing was cut: %+v", d.Fault())
		}
	case Fragment:
		if got := d.Stats(); got.Fragments != before.Fragments+1 {
			t.Fatalf("%+v", got)
		}
	case NotIP: // Segment is what is behind the link header, such as MPLS, if that was told
		if p.NetworkOffset != -1 || (p.Segment == nil) != (p.SegmentOffset < 0) {
			t.Fatalf("%v: %+v", st, p)
		}
	case UnknownLink:
		if p.NetworkOffset != -1 || p.Segment != nil {
			t.Fatalf("%v: %+v", st, p)
		}
	case OtherTransport:
		if p.NetworkOffset < 0 {
			t.Fatalf("%+v", p)
		}
	default:
		t.Fatalf("status %d", st)
	}
	p.VerifyChecksum()
	_, _ = MSS(p.Options)
	_, _ = WindowScale(p.Options)
	_, _, _ = Timestamps(p.Options)
	for b := SACK(p.Options); b != nil; {
		_, _, b, _ = NextSACK(b)
	}
	// Without fragments nothing is remembered: the same frame reads the same.
	if p.Fragments == nil && st != Fragment && d.Stats() == before {
		var again Packet
		if st2 := d.Decode(link, frame, origLen, n, int64(n), &again); st2 != st || !reflect.DeepEqual(&again, &p) {
			t.Fatalf("%v, then %v", st, st2)
		}
	}
}

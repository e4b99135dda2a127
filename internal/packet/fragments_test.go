package packet

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// big returns a segment that takes several fragments, and its payload.
func big(v6 bool) Build {
	b := segment4()
	if v6 {
		b = segment6()
		b.Extensions = []Extension{{protoHopByHop, []byte{1, 4, 0, 0, 0, 0}}}
	}
	b.ID = 77
	b.Payload = randomOctets(rand.New(rand.NewPCG(6, 6)), 3000)
	return b
}

// fragment returns the frame of a fragment of b's datagram with octets of its own.
func fragment(b Build, offset int, more bool, octets []byte) []byte {
	b.FragmentOffset, b.MoreFragments, b.FragmentHeader, b.Raw = offset, more, true, octets
	return b.Append(nil)
}

// feed decodes frames in turn, numbered from 1, and returns the last status.
func feed(d *Decoder, p *Packet, link uint16, frames ...[]byte) Status {
	st := Status(255)
	for i, f := range frames {
		*p = dirty()
		st = d.Decode(link, bytes.Clone(f), uint32(len(f)), uint64(i+1), 0, p)
	}
	return st
}

func TestFragments_AnyOrderAndRepeated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, v6 := range []bool{false, true} {
		b := big(v6)
		want := b.AppendSegment(nil)
		d := NewDecoder()
		for round := range 300 {
			frames := b.Fragments(8 * (1 + rng.IntN(200)))
			frames = append(frames, b.Fragments(8*(1+rng.IntN(200)))...) // other boundaries
			rng.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
			var p Packet
			done := 0
			for i, f := range frames {
				p = dirty()
				if st := d.Decode(b.Link, f, uint32(len(f)), uint64(i+1), 0, &p); st == OK {
					done = i + 1
					break
				} else if st != Fragment || p.Proto != ProtoTCP && !v6 || p.Src != b.Src {
					t.Fatalf("round %d: %v %+v", round, st, d.Fault())
				}
			}
			if !bytes.Equal(p.Segment, want) || !bytes.Equal(p.Payload, b.Payload) || p.PayloadLen != len(b.Payload) {
				t.Fatalf("round %d: %d octets, want %d", round, len(p.Segment), len(want))
			}
			if p.Seq != b.Seq || p.VerifyChecksum() != ChecksumOK || p.Notes != 0 || p.SegmentOffset != -1 || p.PayloadOffset() != -1 {
				t.Fatalf("round %d: %+v", round, p)
			}
			if len(p.Fragments) != done || p.Fragments[0] != 1 || p.Fragments[done-1] != uint64(done) {
				t.Fatalf("round %d: frames %v, want 1 to %d", round, p.Fragments, done)
			}
		}
		s := d.Stats()
		if s.Datagrams != 300 || s.Pending != 0 || s.PendingFragments != 0 || s.PendingMemory != 0 || s.LostFragments != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestFragments_OverVLANAndSCTP(t *testing.T) {
	b := big(false)
	b.VLANs = []VLAN{{0, 5}}
	b.Proto = ProtoSCTP
	var p Packet
	if st := feed(NewDecoder(), &p, b.Link, b.Fragments(1480)...); st != OK || p.Proto != ProtoSCTP || !bytes.Equal(p.Payload, b.Payload) {
		t.Errorf("%v %+v", st, p)
	}
	if id, ok := p.VLANID(); !ok || id != 5 {
		t.Errorf("VLAN %d, %v", id, ok)
	}
}

// The first fragment's next header counts (RFC 8200 section 4.5), and headers
// that were fragmented themselves are read after reassembly.
func TestFragments_ExtensionInside(t *testing.T) {
	b := big(true)
	inner := append([]byte{byte(ProtoTCP), 0, 1, 4, 0, 0, 0, 0}, b.AppendSegment(nil)...)
	b.Proto = protoDestOpts
	first := fragment(b, 0, true, inner[:1000])
	b.Proto = ProtoSCTP
	last := fragment(b, 1000, false, inner[1000:])
	for _, frames := range [][][]byte{{first, last}, {last, first}} {
		var p Packet
		if st := feed(NewDecoder(), &p, b.Link, frames...); st != OK || p.Proto != ProtoTCP || !bytes.Equal(p.Payload, b.Payload) {
			t.Errorf("%v %v", st, p.Proto)
		}
	}
}

func TestFragments_Atomic(t *testing.T) {
	b := segment6()
	b.FragmentHeader = true
	frame := b.Append(nil)
	var p Packet
	d := NewDecoder()
	if st := feed(d, &p, b.Link, frame); st != OK || p.Fragments != nil || p.SegmentOffset != 14+40+8 {
		t.Errorf("%v %+v", st, p)
	}
	if s := d.Stats(); s.Fragments != 0 {
		t.Errorf("%+v", s)
	}
}

func TestFragments_Nested(t *testing.T) {
	b := segment6()
	inner := []byte{byte(ProtoTCP), 0, 0, 1, 0, 0, 0, 9}
	b.Proto = protoFragment
	var p Packet
	d := NewDecoder()
	st := feed(d, &p, b.Link, fragment(b, 8, false, make([]byte, 40)), fragment(b, 0, true, inner))
	if st != Malformed || d.Fault() != (Fault{"nested-fragment", -1}) {
		t.Errorf("%v %+v", st, d.Fault())
	}
}

func TestFragments_OverlapDisagrees(t *testing.T) {
	b := big(false)
	seg := b.AppendSegment(nil)
	evil := bytes.Clone(seg)
	for i := range evil {
		evil[i] ^= 0xff
	}
	tests := []struct {
		name   string
		frames [][]byte
	}{
		{"behind", [][]byte{fragment(b, 0, true, seg[:800]), fragment(b, 400, true, append(bytes.Clone(evil[400:800]), seg[800:1200]...)), fragment(b, 1200, false, seg[1200:])}},
		{"before", [][]byte{fragment(b, 800, false, seg[800:]), fragment(b, 0, true, append(bytes.Clone(seg[:800]), evil[800:1600]...))}},
		{"across", [][]byte{fragment(b, 0, true, seg[:80]), fragment(b, 800, true, seg[800:1600]), fragment(b, 80, true, slices.Concat(seg[80:800], evil[800:1600], seg[1600:2400])), fragment(b, 2400, false, seg[2400:])}},
		{"within", [][]byte{fragment(b, 0, true, seg[:1600]), fragment(b, 0, true, evil[:80]), fragment(b, 1600, false, seg[1600:])}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := NewDecoder()
			var p Packet
			if st := feed(d, &p, b.Link, tc.frames...); st != OK || p.Notes != NoteOverlap || !bytes.Equal(p.Segment, seg) {
				t.Errorf("%v, notes %b", st, p.Notes)
			}
			if s := d.Stats(); s.Overlaps != 1 || s.Datagrams != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestFragments_TwoEnds(t *testing.T) {
	b := big(false)
	seg := b.AppendSegment(nil)
	bad := map[string][]byte{
		"later end":   fragment(b, 1600, false, append(bytes.Clone(seg[1600:]), "more"...)),
		"earlier end": fragment(b, 1600, false, seg[1600:1700]),
		"beyond end":  fragment(b, 3200, true, make([]byte, 80)),
	}
	for name, frame := range bad {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder()
			var p Packet
			if st := feed(d, &p, b.Link, fragment(b, 1600, false, seg[1600:]), frame); st != Malformed || d.Reason() != "fragment-end" {
				t.Fatalf("%v %q", st, d.Reason())
			}
			if st := feed(d, &p, b.Link, fragment(b, 0, true, seg[:1600])); st != OK || p.Notes != NoteOverlap || !bytes.Equal(p.Segment, seg) {
				t.Errorf("%v, notes %b", st, p.Notes)
			}
			if s := d.Stats(); s.Refused != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
	d := NewDecoder()
	var p Packet
	if st := feed(d, &p, b.Link, fragment(b, 800, true, seg[800:1600]), fragment(b, 400, false, seg[400:500])); st != Malformed {
		t.Errorf("an end before octets seen: %v", st)
	}
}

func TestFragments_Refused(t *testing.T) {
	b := big(false)
	tests := []struct {
		name, reason string
		frame        []byte
	}{
		{"not a multiple of eight", "fragment-length", fragment(b, 0, true, make([]byte, 81))},
		{"empty", "fragment-length", fragment(b, 80, false, []byte{})},
		{"beyond 64 KiB", "fragment-beyond-maximum", fragment(b, 65528, false, make([]byte, 8))},
	}
	for _, tc := range tests {
		d := NewDecoder()
		var p Packet
		if st := feed(d, &p, b.Link, tc.frame); st != Malformed || d.Reason() != tc.reason {
			t.Errorf("%s: %v %q", tc.name, st, d.Reason())
		}
		if s := d.Stats(); s.Refused != 1 || s.Pending != 0 {
			t.Errorf("%s: %+v", tc.name, s)
		}
	}
}

func TestFragments_OtherProtocolsAreNotKept(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		b := big(v6)
		b.Proto = ProtoUDP
		d := NewDecoder()
		var p Packet
		if st := feed(d, &p, b.Link, b.Fragments(800)[1]); st != OtherTransport || p.Proto != ProtoUDP || d.Stats().Fragments != 0 {
			t.Errorf("%v %+v", st, d.Stats())
		}
	}
}

// A snap length that cut fragments leaves what came before the first hole.
func TestFragments_Cut(t *testing.T) {
	b := big(false)
	frames := b.Fragments(800)
	for _, c := range []struct{ cut, snap, want int }{
		{1, 14 + 20 + 300, 800 + 300}, {0, 14 + 20 + 60, 60}, {3, 14 + 20, 2400}, {0, 14 + 20 + 19, -1},
	} {
		d := NewDecoder()
		var p Packet
		st := OK
		for i, f := range frames {
			data := f
			if i == c.cut {
				data = f[:c.snap]
			}
			st = d.Decode(b.Link, data, uint32(len(f)), uint64(i+1), 0, &p)
		}
		if c.want < 0 {
			if st != Truncated || d.Fault().Offset != -1 {
				t.Errorf("%+v: %v %+v", c, st, d.Fault())
			}
			continue
		}
		if st != OK || len(p.Segment) != c.want || p.SegmentLen != 3020 || p.PayloadLen != 3000 || !p.Cut() || p.VerifyChecksum() != ChecksumUnknown {
			t.Errorf("%+v: %v, %d of %d octets", c, st, len(p.Segment), p.SegmentLen)
		}
		if d.Stats().CutDatagrams != 1 {
			t.Errorf("%+v", d.Stats())
		}
	}
	// A repetition fills the hole.
	d := NewDecoder()
	var p Packet
	d.Decode(b.Link, frames[0][:100], uint32(len(frames[0])), 1, 0, &p)
	if st := feed(d, &p, b.Link, frames...); st != OK || p.Cut() || p.VerifyChecksum() != ChecksumOK {
		t.Errorf("%v, %d of %d octets", st, len(p.Payload), p.PayloadLen)
	}
}

func TestFragments_Evicted(t *testing.T) {
	b := big(false)
	b.Payload = bytes.Repeat([]byte("f"), 60_000)
	first := func(id uint32) []byte {
		c := b
		c.ID = id
		return c.Fragments(50_000)[0]
	}
	var p Packet

	d := NewDecoder()
	d.SetLimits(FragmentLimits{Datagrams: 3})
	for id := range uint32(10) {
		feed(d, &p, b.Link, first(id))
	}
	if s := d.Stats(); s.EvictedCount != 7 || s.Pending != 3 || s.LostFragments != 7 || s.PendingFragments != 3 {
		t.Errorf("count: %+v", s)
	}

	d = NewDecoder()
	for id := range uint32(500) {
		feed(d, &p, b.Link, first(id))
		if s := d.Stats(); s.PendingMemory > 4<<20 {
			t.Fatalf("memory: %+v", s)
		}
	}
	if s := d.Stats(); s.EvictedMemory == 0 || int(s.EvictedMemory)+s.Pending != 500 || s.Pending < 40 {
		t.Errorf("memory: %+v", s)
	}

	d = NewDecoder()
	for i, at := range []int64{1e9, 2e9, 32e9, 41e9} {
		d.Decode(b.Link, first(uint32(i)), 60_054, 1, at, &p)
	}
	if s := d.Stats(); s.EvictedAge != 2 || s.Pending != 2 {
		t.Errorf("age: %+v", s)
	}

	d = NewDecoder()
	for i, at := range []int64{0, 1e18, 0, 1e18} { // 0: the frame has no time
		d.Decode(b.Link, first(uint32(i)), 60_054, 1, at, &p)
	}
	if s := d.Stats(); s.EvictedAge != 0 || s.Pending != 4 {
		t.Errorf("without times: %+v", s)
	}

	d = NewDecoder()
	var st Status
	for i := range maxFragments {
		st = feed(d, &p, b.Link, fragment(b, 8*i, true, make([]byte, 8)))
	}
	if s := d.Stats(); st != Malformed || d.Reason() != "fragment-count" || s.EvictedFragments != 1 || s.Pending != 0 || s.PendingMemory != 0 {
		t.Errorf("fragments: %v %+v", st, s)
	}
}

// Without capture times a datagram ages by the fragments after it.
func TestFragments_AgeWithoutTime(t *testing.T) {
	b := big(false)
	d := NewDecoder()
	var p Packet
	feed(d, &p, b.Link, b.Fragments(1480)[0])
	other := b
	other.Src = Addr4(10, 9, 9, 9)
	frames := other.Fragments(1480)
	for range maxAgeFragments/len(frames) + 1 {
		feed(d, &p, b.Link, frames...)
	}
	feed(d, &p, b.Link, frames[0])
	if s := d.Stats(); s.EvictedAge != 1 || s.Pending != 1 {
		t.Errorf("%+v", s)
	}
}

// Random overlapping fragments against a slow model: first octets win, the
// datagram comes when all of it was seen.
func TestFragments_Model(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	b := big(false)
	for round := range 2000 {
		d := NewDecoder()
		size := 64 + 8*rng.IntN(20)
		octets, known, seen := make([]byte, size), make([]bool, size), make([]bool, size)
		total, overlap := -1, false
		var p Packet
		for frame := 0; ; frame++ {
			from := 8 * rng.IntN(size/8)
			n := min(8*(1+rng.IntN(6)), size-from)
			more := from+n < size || rng.IntN(4) > 0
			part := randomOctets(rng, n)
			if rng.IntN(3) > 0 {
				copy(part, octets[from:])
			}
			if from == 0 {
				part[12%n] = 0x50
			}
			have := n
			if rng.IntN(4) == 0 {
				have = rng.IntN(n)
			}
			f := fragment(b, from, more, part)
			st := d.Decode(b.Link, f[:len(f)-n+have], uint32(len(f)), uint64(frame), 0, &p)
			for i := range n {
				seen[from+i] = true
				if i >= have {
					continue
				}
				if !known[from+i] {
					known[from+i], octets[from+i] = true, part[i]
				} else if octets[from+i] != part[i] {
					overlap = true
				}
			}
			if !more {
				total = size
			}
			if total < 0 || slices.Contains(seen, false) {
				if st != Fragment {
					t.Fatalf("round %d: %v %+v", round, st, d.Fault())
				}
				continue
			}
			end := slices.Index(known, false)
			if end < 0 {
				end = size
			}
			if !bytes.Equal(p.Segment, octets[:end]) || p.SegmentLen != size || (p.Notes&NoteOverlap != 0) != overlap {
				t.Fatalf("round %d: %v\n got % x\nwant % x\noverlap %v", round, st, p.Segment, octets[:end], overlap)
			}
			break
		}
	}
}

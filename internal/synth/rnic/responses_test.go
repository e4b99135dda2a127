package rnic_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// part is a segment of a Read Response.
func part(a rnic.Address, last bool, n int) []byte {
	s := ddp.Segment{Tagged: true, Last: last, DV: 1, RsvdULP: control(rdmap.OpReadResponse), STag: a.STag, TO: a.TO}
	return append(s.Append(nil), bytes.Repeat([]byte{0xaa}, n)...)
}

// TestEndpoint_ReadResponses: the answer to a Read of 100 octets has to have its STag, its
// offset and its length. Where it has not, the Terminate has the code of the first layer
// that can know, and quotes the segment.
func TestEndpoint_ReadResponses(t *testing.T) {
	onStream, bounds, stag, wrap := [3]uint8{0, 2, 7}, [3]uint8{1, 1, 1}, [3]uint8{1, 1, 0}, [3]uint8{1, 1, 3}
	for _, c := range []struct {
		name  string
		parts func(sink, other rnic.Address) [][]byte
		want  [3]uint8 // of the Terminate, zero if there is none
	}{
		{"right", func(s, _ rnic.Address) [][]byte { return [][]byte{part(s, true, 100)} }, [3]uint8{}},
		{"in two", func(s, _ rnic.Address) [][]byte {
			return [][]byte{part(s, false, 40), part(rnic.Address{STag: s.STag, TO: s.TO + 40}, true, 60)}
		}, [3]uint8{}},
		{"with an empty end", func(s, _ rnic.Address) [][]byte { return [][]byte{part(s, false, 100), part(rnic.Address{}, true, 0)} }, [3]uint8{}},
		{"short", func(s, _ rnic.Address) [][]byte { return [][]byte{part(s, true, 92)} }, onStream},
		{"empty", func(s, _ rnic.Address) [][]byte { return [][]byte{part(s, true, 0)} }, onStream},
		{"long", func(s, _ rnic.Address) [][]byte { return [][]byte{part(s, true, 101)} }, onStream},
		{"too many segments", func(s, _ rnic.Address) [][]byte {
			return [][]byte{part(s, false, 100), part(rnic.Address{STag: s.STag, TO: s.TO + 100}, true, 1)}
		}, onStream},
		{"other buffer", func(_, o rnic.Address) [][]byte { return [][]byte{part(o, true, 100)} }, onStream},
		{"other offset", func(s, _ rnic.Address) [][]byte {
			return [][]byte{part(rnic.Address{STag: s.STag, TO: s.TO + 8}, true, 100)}
		}, onStream},
		{"a hole", func(s, _ rnic.Address) [][]byte {
			return [][]byte{part(s, false, 40), part(rnic.Address{STag: s.STag, TO: s.TO + 48}, true, 52)}
		}, onStream},
		{"unknown STag", func(s, _ rnic.Address) [][]byte {
			return [][]byte{part(rnic.Address{STag: 0x666, TO: s.TO}, true, 100)}
		}, stag},
		{"outside the memory", func(s, _ rnic.Address) [][]byte { return [][]byte{part(rnic.Address{STag: s.STag}, true, 100)} }, bounds},
		{"beyond 2^64", func(s, _ rnic.Address) [][]byte {
			return [][]byte{part(rnic.Address{STag: s.STag, TO: ^uint64(0) - 9}, true, 100)}
		}, wrap},
	} {
		for _, ignores := range []bool{false, true} {
			p := newPair(t, plain(func(side int, k *rnic.Config) {
				if side == responder {
					k.Ignore = rnic.IgnoreRequests
				} else if ignores {
					k.Ignore = rnic.IgnoreErrors
				}
			}))
			p.connect(t)
			i, r := p.ends[initiator], p.ends[responder]
			other := i.Register(rnic.Region{Address: rnic.Address{TO: 64}, Size: 4096, Read: true, Write: true})
			i.Post(rnic.Work{Op: rnic.OpRead, Name: "read", Number: 1, Size: 100, Remote: at(r.region, 0), Local: at(i.region, 0)})
			p.run(t)
			parts := c.parts(at(i.region, 0), at(other, 0))
			for n, b := range parts {
				r.Post(rnic.Work{Op: rnic.OpSegment, Name: "part", Number: n + 1, Data: b})
			}
			p.run(t)
			m, ok := p.terminate(t, initiator)
			if got, want := [3]uint8{m.Layer, m.EType, m.Code}, c.want; ok != (want != [3]uint8{} && !ignores) || ok && got != want {
				t.Errorf("%s, errors ignored %t: Terminate %t %v, want %v", c.name, ignores, ok, got, want)
			}
			left := 0
			if ok {
				left = 1
			}
			if n := i.Unfinished("read"); n != left {
				t.Errorf("%s, errors ignored %t: %d Reads unfinished, want %d", c.name, ignores, n, left)
			}
			if last := parts[len(parts)-1]; ok && (!m.M || !m.D || m.R || int(m.SegLength) != len(last) || !bytes.Equal(m.DDPHeader, last[:ddp.TaggedLen])) {
				t.Errorf("%s: quotes %+v", c.name, m)
			}
			if ok && (!i.closed || !r.closed) {
				t.Errorf("%s: closed %v %v", c.name, i.closed, r.closed)
			}
		}
	}
}

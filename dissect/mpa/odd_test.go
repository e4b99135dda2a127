package mpa

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOddHeader loses the segment in front of FPDUs with headers that no correct sender writes, each in a segment of its own. A right
// CRC finds them all the same; without CRCs, or with a wrong one, nothing tells them from payload.
func TestOddHeader(t *testing.T) {
	const count = 4
	odd := map[string][]byte{
		"reserved bits": append([]byte{0xfd}, write(7, make([]byte, 80))[1:]...),
		"opcode":        append([]byte{0xc1, 0x4f}, write(7, make([]byte, 81))[2:]...),
		"short ULPDU":   {0x41, 0x43, 0, 0, 0, 0, 0, 9},
		"no ULPDU":      {},
	}
	for name, ulpdu := range odd {
		for _, markers := range []bool{false, true} {
			for _, late := range []bool{false, true} {
				for _, crc := range []string{"right", "wrong", "none"} {
					t.Run(fmt.Sprintf("%s/markers %v/late %v/CRC %s", name, markers, late, crc), func(t *testing.T) {
						e := Encoder{Markers: markers, CRC: crc != "none"}
						before := framed(e.Append(nil, write(0, make([]byte, 90))))
						start, size := e.Offset, int64(0)
						var stream []byte
						var want []int64
						for range count {
							want = append(want, e.Offset)
							part := framed(e.Append(nil, ulpdu))
							if crc == "wrong" {
								part[len(part)-1] ^= 1
							}
							stream = append(stream, part...)
							if size = max(size, int64(len(part))); int64(len(part)) != size {
								t.Fatal("the segments are not of one size")
							}
						}
						if crc != "right" {
							want = nil
						}
						c := Config{CRC: TriOf(crc != "none"), Markers: TriOf(markers), Start: !late, AfterGap: late, Trusted: true, Grammar: testGrammar}
						c.Segments = cutAt{start, size}
						var d Decoder
						if late {
							d.Reset(c, start)
							d.hasGrid = markers
							d.grid = 0
						} else {
							d.Reset(c, 0)
							d.Missing(int64(len(before)), true)
						}
						var got []int64
						for part := range slices.Chunk(stream, int(size)) {
							d.Write(bytes.Clone(part))
							got = append(got, offsets(collect(&d, nil))...)
						}
						if !slices.Equal(got, want) {
							t.Errorf("FPDUs at %d, want %d", got, want)
						}
					})
				}
			}
		}
	}
}

// TestOddHeader_Anywhere has FPDUs with odd headers in TCP segments that are cut anywhere, behind a gap and where a capture begins late: one
// in front of a good one, one at the end of a segment, and nothing but such. All that were captured whole are found, and nothing in streams
// whose CRCs are wrong.
func TestOddHeader_Anywhere(t *testing.T) {
	odd := func(i int) []byte { return append([]byte{0xfd, 0x40}, write(uint64(i), pattern(i, 900+i%7))[2:]...) }
	good := func(i int) []byte { return write(uint64(i)<<20, pattern(i, 900)) }
	kinds := map[string]func(i int) []byte{
		"all": odd,
		"one": func(i int) []byte {
			if i == 2 {
				return odd(i)
			}
			return good(i)
		},
		"first ones": func(i int) []byte {
			if i < 30 {
				return odd(i)
			}
			return good(i)
		},
		"large": func(i int) []byte { return append([]byte{0xc1, 0x4f}, write(uint64(i), pattern(i, 9000))[2:]...) },
		"each other": func(i int) []byte {
			if i%2 == 0 {
				return odd(i)
			}
			return good(i)
		},
	}
	for name, ulpdu := range kinds {
		for _, markers := range []bool{false, true} {
			for _, late := range []bool{false, true} {
				for _, right := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s/markers %v/late %v/right %v", name, markers, late, right), func(t *testing.T) {
						e := Encoder{Markers: markers, CRC: true}
						stream := framed(e.Append(nil, good(0)))
						from := int64(len(stream)) + 700 // in the next FPDU
						stream = framed(e.Append(stream, good(1)))
						var want []int64
						for i := range 80 {
							at := len(stream)
							if stream = framed(e.Append(stream, ulpdu(i+2))); !right {
								stream[len(stream)-1] ^= 1
							} else {
								want = append(want, int64(at))
							}
						}
						c := Config{CRC: Yes, Markers: TriOf(markers), Start: !late, AfterGap: late, Trusted: true, Grammar: testGrammar}
						c.Segments = cutAt{from, 1448}
						var d Decoder
						if d.Reset(c, from); late {
							d.hasGrid, d.grid = markers, 0
						} else {
							d.Reset(c, 0)
							d.Missing(from, true)
						}
						var got []int64
						for part := range slices.Chunk(stream[from:], 1448) {
							d.Write(bytes.Clone(part))
							got = append(got, offsets(collect(&d, nil))...)
						}
						d.End()
						got = append(got, offsets(collect(&d, nil))...)
						if !slices.Equal(got, want) {
							t.Errorf("FPDUs at %d, want %d", got, want)
						}
					})
				}
			}
		}
	}
}

// TestOddHeader_InSync has FPDUs with odd headers in a stream without CRCs and gaps: one alone, all, and the last one. They are FPDUs.
func TestOddHeader_InSync(t *testing.T) {
	const count = 12
	for name, odd := range map[string]func(i int) bool{
		"one": func(i int) bool { return i == 5 }, "all": func(int) bool { return true }, "last": func(i int) bool { return i == count-1 },
	} {
		for _, markers := range []bool{false, true} {
			for _, chunk := range []int{100, 700, 1448} {
				e := Encoder{Markers: markers}
				var stream []byte
				var want []int64
				for i := range count {
					ulpdu := write(uint64(i)<<20, pattern(i, 900))
					if odd(i) {
						ulpdu[1] = 0x6f // reserved bits, and an opcode that is not assigned
					}
					want = append(want, e.Offset)
					stream = framed(e.Append(stream, ulpdu))
				}
				var d Decoder
				d.Reset(Config{CRC: No, Markers: TriOf(markers), Start: true, Trusted: true, Grammar: testGrammar, Segments: cutAt{0, int64(chunk)}}, 0)
				if got := offsets(split(&d, stream, chunk, nil)); !slices.Equal(got, want) {
					t.Errorf("%s, markers %t, chunks of %d: FPDUs at %d, want %d", name, markers, chunk, got, want)
				}
			}
		}
	}
}

// TestOddHeader_Memory has many directions that are lost at a time. What they keep to look for odd headers makes no other one lose its place.
func TestOddHeader_Memory(t *testing.T) {
	const limit, many, segment = 4 << 20, 300, 1448
	rnd := rand.New(rand.NewPCG(4391, 1))
	octets := make([]byte, 60*segment)
	for i := range octets {
		octets[i] = byte(rnd.Uint32()) | 1<<5 // no control octet of DDP
	}
	m := NewBudget(limit)
	ds := make([]Decoder, many)
	for i := range ds {
		ds[i].Reset(Config{CRC: Yes, Markers: No, AfterGap: true, Trusted: true, Grammar: testGrammar, Segments: cutAt{0, segment}, Budget: m}, 0)
	}
	most := 0
	for part := range slices.Chunk(octets, segment) {
		for i := range ds {
			ds[i].Write(part)
			if out := collect(&ds[i], nil); len(out) > 0 {
				t.Fatalf("an FPDU at %d", out[0].Offset)
			}
			most = max(most, m.Used())
		}
	}
	if most > limit/2 || m.Starved > 0 {
		t.Errorf("%d octets were held, %d directions starved", most, m.Starved)
	}
}

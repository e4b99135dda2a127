package mpa

import (
	"encoding/binary"
	"testing"
)

// TestSeek_WrongMarker: a marker that is wrong is told as one, behind a hole too, though payload has at another
// place what a marker would say there: the place of markers was seen before.
func TestSeek_WrongMarker(t *testing.T) {
	e := Encoder{Markers: true, CRC: true}
	var parts [4][]byte
	var at [4]int64
	for i, n := range []int{1500, 700, 400, 900} {
		at[i] = e.Offset
		parts[i] = e.Append(nil, write(uint64(i)<<20, make([]byte, n)))
	}
	odd := parts[2]
	place := int((MarkerInterval - at[2]%MarkerInterval) % MarkerInterval)
	const other = 60
	if place < 100 || place+MarkerSize > len(odd)-8 {
		t.Fatalf("the marker is at %d of %d", place, len(odd))
	}
	binary.BigEndian.PutUint32(odd[place:], uint32(place)+4)
	binary.BigEndian.PutUint32(odd[other:], other)
	end := len(odd) - crcSize
	binary.BigEndian.PutUint32(odd[end:], CRC32c(odd[:end]))

	var d Decoder
	d.Reset(Config{CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
	var seen []Marker
	look := func() {
		for {
			switch d.Next() {
			case None:
				return
			case Got:
				if d.FPDU.Offset == at[2] {
					seen = append(seen, d.FPDU.Markers...)
				}
			}
		}
	}
	d.Write(parts[0])
	look()
	d.Missing(int64(len(parts[1])), true)
	look()
	for _, b := range parts[2:] {
		d.Write(b)
		look()
	}
	d.End()
	look()
	want := Marker{Offset: at[2] + int64(place), Pointer: uint16(place) + 4, Expected: place, Proven: true}
	if len(seen) != 1 || seen[0] != want {
		t.Errorf("%+v, want %+v", seen, want)
	}
}

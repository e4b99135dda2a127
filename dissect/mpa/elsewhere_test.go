package mpa

import (
	"encoding/binary"
	"testing"
)

// TestSeek_WrongMarker: a marker that is wrong is told as one, though payload has at another place what a
// marker would say there: behind a hole if the place of markers was seen before, and behind an FPDU that makes
// no sense if nothing is missing, so that markers are where full operation began.
func TestSeek_WrongMarker(t *testing.T) {
	const other = 60 // what payload says it is
	for _, c := range []struct {
		name         string
		payloads     []int
		lost, broken int
	}{
		{"behind a hole", []int{1500, 700, 400, 900}, 1, -1},
		{"behind a broken FPDU", []int{200, 400, 900}, -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Encoder{Markers: true, CRC: true}
			parts, from, at := make([][]byte, len(c.payloads)), int64(0), max(c.lost, c.broken)+1
			for i, n := range c.payloads {
				if i == at {
					from = e.Offset
				}
				parts[i] = framed(e.Append(nil, write(uint64(i)<<20, make([]byte, n))))
			}
			if c.broken >= 0 {
				head := parts[c.broken][MarkerSize+lengthSize:]
				copy(head, make([]byte, minHead)) // a version that there is not
			}
			odd := parts[at]
			place := int((MarkerInterval - from%MarkerInterval) % MarkerInterval)
			if place < 100 || place+MarkerSize > len(odd)-8 {
				t.Fatalf("the marker is at %d of %d", place, len(odd))
			}
			binary.BigEndian.PutUint32(odd[place:], uint32(place)+4)
			binary.BigEndian.PutUint32(odd[other:], other)
			end := len(odd) - crcSize
			binary.BigEndian.PutUint32(odd[end:], CRC32c(odd[:end]))

			var d Decoder
			d.Reset(Config{CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
			var out []got
			for i, b := range parts {
				if i == c.lost {
					d.Missing(int64(len(b)), true)
				} else {
					d.Write(b)
				}
				out = collect(&d, out)
			}
			d.End()
			var seen []Marker
			for _, g := range collect(&d, out) {
				if g.Offset == from {
					seen = append(seen, g.Markers...)
				}
			}
			want := Marker{Offset: from + int64(place), Pointer: uint16(place) + 4, Expected: place, Proven: true}
			if len(seen) != 1 || seen[0] != want {
				t.Errorf("%+v, want %+v", seen, want)
			}
		})
	}
}

package mpa

import (
	"encoding/binary"
	"testing"
)

func TestMarker_Status(t *testing.T) {
	for _, c := range []struct {
		reserved, pointer uint16
		expected          int
		proven            bool
		want              MarkerStatus
		name              string
	}{
		{0, 24, 24, false, MarkerOK, "ok"},
		{0, 24, 24, true, MarkerOK, "ok"},
		{0, 28, 24, false, MarkerBadPointer, "bad-pointer"},
		{0, 28, 24, true, MarkerBadPointer, "bad-pointer"},
		{1, 24, 24, false, MarkerBadReserved, "bad-reserved"},
		{1, 24, 24, true, MarkerBadReserved, "bad-reserved"},
		{1, 28, 24, false, MarkerMissing, "missing"},
		{1, 28, 24, true, MarkerBadPointer, "bad-pointer"},
		// An FPDU beyond the allowed size has pointers that do not fit the field.
		{0, 0, 65536, false, MarkerBadPointer, "bad-pointer"},
		{1, 0, 65536, false, MarkerMissing, "missing"},
	} {
		m := Marker{Reserved: c.reserved, Pointer: c.pointer, Expected: c.expected, Proven: c.proven}
		if got := m.Status(); got != c.want || got.String() != c.name {
			t.Errorf("%+v: %v, want %v", m, got, c.want)
		}
	}
}

// TestMarker_WrongInBothFields has octets in the place of a marker that are
// nothing like one. A right CRC counts them as a marker, so the sender meant one;
// without it they may be data of a sender that left the marker out.
func TestMarker_WrongInBothFields(t *testing.T) {
	for _, c := range []struct {
		name          string
		crc, repaired bool
		want          MarkerStatus
		proven        bool
		verdict       CRCStatus
	}{
		{"CRC right", true, true, MarkerBadPointer, true, CRCGood},
		{"CRC wrong", true, false, MarkerMissing, false, CRCBad},
		{"no CRC", false, false, MarkerMissing, false, CRCOff},
	} {
		for _, chunk := range []int{1, 100, 4000} {
			e := Encoder{Markers: true, CRC: c.crc}
			var stream []byte
			var ends []int
			for i := range 12 {
				stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, 400))))
				ends = append(ends, len(stream))
			}
			// The marker at 1024 lies in the third FPDU.
			const at = 2 * MarkerInterval
			if ends[1] >= at || at+MarkerSize > ends[2]-crcSize {
				t.Fatalf("FPDUs end at %v", ends)
			}
			right := binary.BigEndian.Uint16(stream[at+2:])
			binary.BigEndian.PutUint16(stream[at:], 0xa5a5)
			binary.BigEndian.PutUint16(stream[at+2:], right^0x0f0c)
			if c.repaired {
				end := ends[2] - crcSize
				binary.BigEndian.PutUint32(stream[end:], CRC32c(stream[ends[1]:end]))
			}
			var d Decoder
			d.Reset(Config{Markers: Yes, CRC: TriOf(c.crc), Start: true, Trusted: true, Grammar: testGrammar}, 0)
			out := split(&d, stream, chunk, nil)
			if len(out) != len(ends) {
				t.Fatalf("%s, chunks of %d: FPDUs at %v", c.name, chunk, offsets(out))
			}
			for i, g := range out {
				for _, m := range g.Markers {
					want, proven, verdict := MarkerOK, c.crc, CRCGood
					if !c.crc {
						verdict = CRCOff
					}
					if m.Offset == at {
						want, proven, verdict = c.want, c.proven, c.verdict
						if m.Reserved != 0xa5a5 || m.Pointer != right^0x0f0c || m.Expected != int(right) {
							t.Errorf("%s, chunks of %d: %+v", c.name, chunk, m)
						}
					}
					if m.Status() != want || m.Proven != proven || g.CRC != verdict {
						t.Errorf("%s, chunks of %d: FPDU %d: %+v %v, CRC %v; want %v", c.name, chunk, i, m, m.Status(), g.CRC, want)
					}
				}
			}
		}
	}
}

package mpa_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// FPDUs with markers and CRCs are written, and read again from octets that come in two parts.
func Example() {
	e := mpa.Encoder{Markers: true, CRC: true}
	var stream []byte
	for msn := range uint32(2) {
		head := ddp.Segment{DV: 1, Last: true, RsvdULP: rdmap.Control{RV: 1, Opcode: rdmap.OpSend}.Octet(), MSN: msn + 1}
		var err error
		if stream, err = e.Append(stream, append(head.Append(nil), make([]byte, 300)...)); err != nil {
			panic(err)
		}
	}

	var d mpa.Decoder
	d.Reset(mpa.Config{Markers: mpa.Yes, CRC: mpa.Yes, Start: true, Trusted: true, Gather: true, Grammar: rdmap.Grammar}, 0)
	for _, part := range [][]byte{stream[:500], stream[500:]} {
		d.Write(part) // borrowed until Next returns None
		for ev := d.Next(); ev != mpa.None; ev = d.Next() {
			if ev != mpa.Got {
				continue
			}
			f := d.FPDU
			segment, err := ddp.Decode(f.ULPDU)
			fmt.Printf("offset %d, %d octets, %d markers, CRC %v, MSN %d, error %v\n", f.Offset, f.Size, len(f.Markers), f.CRCStatus, segment.MSN, err)
		}
	}
	// Output:
	// offset 0, 328 octets, 1 markers, CRC ok, MSN 1, error <nil>
	// offset 328, 328 octets, 1 markers, CRC ok, MSN 2, error <nil>
}

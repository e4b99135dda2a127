package dissect_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
)

// The fields of a header with their names, values and places.
func ExampleHeader() {
	segment := ddp.Segment{Tagged: true, Last: true, DV: ddp.Version, STag: 0x100, TO: 0x1000}.Append(nil)
	for i := range ddp.TaggedHeader.Fields {
		f := &ddp.TaggedHeader.Fields[i]
		if f.Kind != dissect.Bytes {
			fmt.Printf("%-24s bit %2d: %#x\n", f.Name, f.Bit, f.Uint(segment))
		}
	}
	// Output:
	// iwarp_ddp.tagged_flag    bit  0: 0x1
	// iwarp_ddp.last_flag      bit  1: 0x1
	// iwarp_ddp.rsvd           bit  2: 0x0
	// iwarp_ddp.dv             bit  6: 0x1
	// iwarp_ddp.stag           bit 16: 0x100
	// iwarp_ddp.tagged_offset  bit 48: 0x1000
}

// Octets that are too few for their header.
func ExampleError() {
	_, err := ddp.Decode([]byte{0xc1, 0x40, 0, 0})
	var e *dissect.Error
	if errors.As(err, &e) {
		fmt.Println(e.Layer, e.Code, "ends at octet", e.Offset, errors.Is(err, io.ErrUnexpectedEOF))
	}
	// Output: ddp short_tagged_header ends at octet 4 true
}

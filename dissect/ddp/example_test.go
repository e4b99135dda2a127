package ddp_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
)

func ExampleDecode() {
	segment := append(ddp.Segment{
		Tagged: true, Last: true, DV: ddp.Version,
		RsvdULP: 0x40, STag: 0x100, TO: 0x1000,
	}.Append(nil), "hello"...)

	s, err := ddp.Decode(segment)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("STag %#x, offset %#x: %s\n", s.STag, s.TO, segment[s.HeaderLen:])
	// Output: STag 0x100, offset 0x1000: hello
}

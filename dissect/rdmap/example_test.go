package rdmap_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

func Example() {
	b := []byte{
		0x41, 0x47, 0, 0, 0, 0, // untagged, Terminate
		0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, // QN 2, MSN 1, MO 0
		0x11, 0x00, 0xc0, 0x00, // the control word: M and D
		0x00, 0x13, // length of the segment in error
		0xc1, 0x40, 0, 0, 0x01, 0x00, 0, 0, 0, 0, 0, 0, 0x10, 0x00, // its header
	}
	s, err := ddp.Decode(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	if rdmap.ControlOf(s.RsvdULP).Opcode != rdmap.OpTerminate {
		return
	}
	t, err := rdmap.DecodeTerminate(b[s.HeaderLen:])
	if err != nil {
		fmt.Println(err)
		return
	}
	quoted, _ := t.Segment()
	fmt.Printf("%s, %s to STag %#x\n", t.Name(), rdmap.ControlOf(quoted.RsvdULP).Opcode, quoted.STag)
	// Output: DDP/tagged: Invalid STag, RDMA Write to STag 0x100
}

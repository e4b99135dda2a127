package sctpddp_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// The user message of a DATA chunk whose payload protocol identifier is 17.
func ExampleDecodeControl() {
	c, err := sctpddp.DecodeControl([]byte{0, 0, 0, 5, 0x80, 0x10, 0xc0, 0x10, 'h', 'i'})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Function, "with DDP-SSN", c.SSN)
	if e, ulp, ok := c.Word(); ok {
		fmt.Printf("IRD %d, ORD %d, private data %q\n", e.IRD, e.ORD, ulp)
	}
	// Output:
	// Enhanced Initiate with DDP-SSN 0
	// IRD 16, ORD 16, private data "hi"
}

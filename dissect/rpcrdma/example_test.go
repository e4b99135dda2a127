package rpcrdma_test

import (
	"encoding/hex"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
)

func ExampleDecode() {
	b, _ := hex.DecodeString("0000000700000001000000200000000000000000" + // XID, version, credits, RDMA_MSG, no reads
		"000000010000000100001234000010000000000000000000" + "00000000" + "00000000") // a write chunk, no reply chunk
	h, err := rpcrdma.Decode(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	for w := h.Lists.Walk(); w.Next(); {
		fmt.Printf("%s of XID %d: STag %#x, %d octets at %d\n", w.List, h.XID, w.Handle, w.Length, w.Offset)
	}
	// Output: write chunk of XID 7: STag 0x1234, 4096 octets at 0
}

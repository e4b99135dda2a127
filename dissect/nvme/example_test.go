package nvme_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/nvme"
)

// A Read of eight blocks into memory that the host has announced with the STag 0x1234.
func Example() {
	octets := nvme.Command{
		Opcode: 0x02, PSDT: 1, CID: 12, NSID: 1,
		SGL:    nvme.SGL{Address: 0x1000, Length: 4096, Key: 0x1234, Type: nvme.SGLKeyed},
		Dwords: [6]uint32{2048, 0, 7},
	}.Append(nil)

	c, err := nvme.DecodeCommand(octets)
	if err != nil {
		fmt.Println(err)
		return
	}
	name, _ := nvme.OpcodeName(nvme.IOQueue, c.Opcode)
	fmt.Printf("%s cid %d, %d blocks from %d, STag %#x\n", name, c.CID, c.Blocks(), c.StartLBA(), c.SGL.Key)
	// Output:
	// Read cid 12, 8 blocks from 2048, STag 0x1234
}

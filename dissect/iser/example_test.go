package iser_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/iser"
)

// A SCSI Write of eight blocks, whose data the target fetches from the memory that the
// iSER header names.
func Example() {
	octets := iser.Control{Opcode: iser.OpControl, WSV: true, WriteSTag: 0x1234, WriteBase: 0x1000}.Append(nil, iser.RFC7145)
	octets = iser.BHS{
		Opcode: iser.SCSICommand, Flags: 0xa1, ITT: 7, Words: [7]uint32{4096, 1, 1, 0x2a000000, 0x08000000, 0x08000000},
	}.Append(octets)

	c, err := iser.DecodeControl(octets, iser.RFC7145)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := iser.DecodeBHS(octets[iser.RFC7145.Len():])
	if err != nil {
		fmt.Println(err)
		return
	}
	lba, blocks, _ := h.Blocks()
	fmt.Printf("%v itt %d, %d blocks from %d, Write STag %#x\n", h.Opcode, h.ITT, blocks, lba, c.WriteSTag)
	// Output:
	// SCSI Command itt 7, 8 blocks from 2048, Write STag 0x1234
}

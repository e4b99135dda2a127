// Package extract copies the frames of a capture that were chosen into a smaller one.
//
// A capture is read twice: what was found in it says which frames are wanted, since the
// frames of a PDU come before the PDU is known ([Collector] fills a [Set]), and then the
// frames are copied as they stand in the file ([Copy]). In a pcapng file all blocks without
// packets are copied too, in their place: descriptions of interfaces, names, secrets,
// statistics, custom and unknown blocks. Only custom blocks that must not be copied
// (draft-ietf-opsawg-pcapng, block type 0x40000bad) are left out.
package extract

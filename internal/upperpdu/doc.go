// Package upperpdu writes the messages of upper layers as Wireshark exports PDUs: packets of the
// link type WIRESHARK_UPPER_PDU, which begin with tags that name a dissector, the addresses and
// ports, and the frame of the original, and have the octets of the message behind them.
//
// Messages are those of Sends, put together of their segments. Wireshark's dissectors of SMB
// Direct, RPC-over-RDMA, iSER and NVMe/RDMA ask what carries them, which an exported PDU cannot
// say. So a message is written as the layer above, whose dissector does not ask.
package upperpdu

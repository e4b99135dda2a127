// Package layers connects iWARP with programs built on gopacket
// (github.com/google/gopacket), in both directions.
//
// # Layers
//
// Importing the package registers a [gopacket.LayerType] for each header of
// iWARP: [LayerTypeStartup] and [LayerTypeFPDU] of MPA (RFC 5044, RFC 6581),
// [LayerTypeDDP] (RFC 5041), [LayerTypeRDMAP] (RFC 5040, RFC 7306), and
// [LayerTypeSegmentChunk] and [LayerTypeSessionControl] of DDP over SCTP (RFC
// 5043). Each can be decoded and serialized. The wire formats themselves are
// defined by the packages below dissect, which these layers call.
//
// Nothing else changes for a program that imports this package. iWARP has no
// ports of its own, so it says which octets are iWARP:
//
//   - [RegisterPort] takes a TCP port for MPA. gopacket then decodes the payload of
//     its segments if DecodeOptions.DecodeStreamsAsDatagrams is set.
//   - Any of the layer types can be the first one of [gopacket.NewPacket] or of a
//     [gopacket.DecodingLayerParser].
//   - [LayerTypeOfPPID] gives the layer type of the user data of an SCTP DATA chunk.
//
// gopacket decodes packet by packet. FPDUs that go across TCP segments, markers,
// and fragmented SCTP messages need the state of a connection, which these layers
// do not have; the package at the root of this module does.
//
// # Packet sources
//
// [NewSource] adapts any [gopacket.PacketDataSource], such as the handles of
// gopacket's pcap, afpacket, pfring and pcapgo packages, so that this module
// can read frames from it.
package layers

// Package layers connects iWARP with programs built on gopacket.
//
// [NewSource] adapts any [gopacket.PacketDataSource], such as the handles of
// gopacket's pcap, afpacket, pfring and pcapgo packages, so that this module
// can read frames from it.
package layers

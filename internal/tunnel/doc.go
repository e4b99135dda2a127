// Package tunnel finds the frame or IP packet that another frame carries in a
// tunnel, so that internal/packet can decode it: GRE (RFC 2784, RFC 2890),
// ERSPAN types I to III (draft-foschiano-erspan-03), VXLAN (RFC 7348), Geneve
// (RFC 8926), MPLS (RFC 3032) with pseudo-wires (RFC 4448), PPPoE sessions (RFC
// 2516), and IP in IP (RFC 2003, RFC 2473, RFC 4213).
//
// # What is believed
//
// VXLAN and Geneve are looked for on their IANA port alone, VXLAN on that of Linux, 8472,
// too, and only where their header says so: the I flag of VXLAN, version 0 of Geneve,
// reserved bits zero. MPLS does not say what it carries: IP is believed where a header of
// fitting length begins with its version, Ethernet, with or without a control
// word, where its type and what follows say IP. A header that is none of these
// leaves the frame as internal/packet had it.
//
// # Why not gopacket
//
// The headers are read here, and gopacket's layers are the oracle of the tests:
// importing gopacket/layers costs every start of the program 8 ms and 10 MB, tunnel
// or not, for tables that it fills when it is loaded. Besides, its MPLS and PPPoE
// layers allocate for each header, its PPPoE layer refuses frames that the snap
// length cut, it has no ERSPAN type III, and it misreads long options of Geneve.
//
// # Bounds
//
// At most MaxDepth headers are taken off a frame. Nothing is allocated.
package tunnel

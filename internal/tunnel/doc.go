// Package tunnel finds the frame or IP packet that another frame carries in a
// tunnel, so that internal/packet can decode it: GRE (RFC 2784, RFC 2890),
// ERSPAN types I to III (draft-foschiano-erspan-03), VXLAN (RFC 7348), Geneve
// (RFC 8926), MPLS (RFC 3032) with pseudo-wires (RFC 4448), PPPoE sessions (RFC
// 2516), and IP in IP (RFC 2003, RFC 2473, RFC 4213).
//
// # What is believed
//
// VXLAN and Geneve are looked for on their IANA port alone, and only where their
// header says so too: the I flag of VXLAN, version 0 of Geneve, reserved bits
// zero. MPLS does not say what it carries: IP is believed where a header of
// fitting length begins with its version, Ethernet, with or without a control
// word, where its type and what follows say IP. A header that is none of these
// leaves the frame as internal/packet had it.
//
// # What gopacket does
//
// The headers of GRE, ERSPAN type II, VXLAN and Geneve are decoded by the layers
// of gopacket, behind recover, into structs that are used again. Its MPLS and
// PPPoE layers allocate for each header, and the latter refuses a frame that the
// snap length cut, so those four and six octets are read here; so is ERSPAN type
// III, which it does not have. It reads the options of Geneve wrongly when they
// are long (four bits of a length of five, an offset of eight bits), so it is
// shown the fixed header alone.
//
// # Bounds
//
// At most MaxDepth headers are taken off a frame. Nothing is allocated.
package tunnel

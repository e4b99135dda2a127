// Package bpf compiles capture filters, in the language of tcpdump
// (pcap-filter(7)), to programs of classic BPF as the kernel runs them on each
// frame of a packet socket.
//
//	f, err := bpf.Parse("tcp port 5445 and not host 10.0.0.1")
//	prog, err := f.Program(bpf.Target{Link: bpf.Ethernet, Live: true})
//
// # What it means
//
// Programs select the same frames as those of libpcap 1.10, which the tests
// prove against its compiler:
//
//   - "and" and "or" bind equally strong, from left to right. "not" binds
//     stronger.
//   - A value takes the qualifiers of the one before it: "port 80 or 443".
//   - A frame that is too short for an octet that the program asks for is not
//     selected, whatever the rest of the filter says.
//   - Ports are those of whole IPv4 packets and first fragments, and of IPv6
//     packets whose first header is TCP, UDP or SCTP: other extension headers
//     are not walked.
//   - "vlan" moves everything that stands behind it in the text by one tag,
//     also behind "or" and outside the parentheses it stands in.
//
// It differs in four places. Addresses, ports and protocols are numbers, or
// names of a short list: nothing is resolved. The names of protocols need no
// backslash after "proto". Both sides of an operator make the condition that
// the packet is of the protocols they look into; libpcap forgets those of the
// right side, as in "1 + udp[4:2] > 9". And "%" and "^" bind as in C, where
// libpcap lets them take all that follows.
//
// # Order of work
//
// [Parse] makes a tree of the text (lex.go, parse.go, arith.go). For a link
// type each leaf becomes conditions (lower.go, layer.go); these become a graph
// of tests, in which what is known from tests before is not asked again
// (graph.go, known.go); and that becomes instructions (emit.go).
//
// [ReadProgram] reads programs that "tcpdump -ddd" has compiled.
package bpf

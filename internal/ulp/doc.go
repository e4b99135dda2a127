// Package ulp recognises which upper layer a connection speaks, follows its operations,
// and says of each PDU what it is to that layer.
//
// An upper layer is a [Protocol]. Recognition weighs evidence: private data of the startup
// and the form of messages first, the port last. Where only the port speaks for a protocol
// the name says so, and the first message that contradicts takes it back. A connection that
// fits nothing stays unnamed.
//
// A [Room] serves one capture. Its method PDU is the hook of the analysis: it sets the
// member Upper of each PDU, and of its connection. State is bounded for each connection:
// [maxOperations] outstanding requests and [maxGrants] STags for each direction.
//
// To add a protocol: implement Protocol and Decoder in a file of its own, and list it in
// [Protocols].
package ulp

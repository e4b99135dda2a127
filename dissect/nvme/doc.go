// Package nvme lays out what NVMe over RDMA puts into the private data of an MPA startup
// and at the start of its messages: the command capsule and the response capsule, headers
// only.
//
// The NVMe RDMA Transport Specification 1.0 defines the private data (section 3.2) and that
// a capsule is a Send; the NVMe Base Specification 2.0 the submission queue entry (section
// 3.3.3.1), the scatter gather list descriptors (4.1.2), the completion queue entry (3.3.3.2)
// and the fabrics commands (6). Numbers are little-endian on the wire.
//
// Nothing is judged here: reserved bits and unknown opcodes are part of the result. The
// decoders fail only when there are too few octets: the error is a [*dissect.Error] that
// wraps [io.ErrUnexpectedEOF]. The results are values; nothing points into the input.
//
// Append(Decode(b)) is b for the octets of the header, reserved ones included.
package nvme

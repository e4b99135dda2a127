// Package payload writes what messages carry to files: Sends, RDMA Writes and RDMA Read
// Responses, each to a file of its own, as their segments come, and a manifest that says of
// each file what it holds.
//
// A file has the octets behind the DDP headers, without markers. Octets that were not captured
// inside a segment are zeros in the file and holes in the manifest. Where segments are missing
// a file ends, and the rest of the message is another one: the manifest says where in the
// message, or in the tagged buffer, each begins. No file is ever overwritten. Memory and open
// files are bounded, whatever the number of messages.
package payload

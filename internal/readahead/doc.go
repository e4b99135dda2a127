// Package readahead reads a capture in its own goroutine, ahead of the one that processes
// frames in order. While the octets are in that processor's cache, it does the work that
// does not depend on order: it decodes the headers of plain frames, numbers the endpoints
// of TCP connections, and verifies CRCs and checksums. If it is asked to, it keeps the decoded
// headers, and calls a function with them.
//
// The result for a frame is a [Note]. A note does not depend on earlier frames, so a run
// with notes finds the same as a run without.
//
// Work is balanced: while few frames are queued, they are handed over without notes, and
// the ordered side does that work.
package readahead

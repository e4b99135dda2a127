// Package readahead reads a capture in a goroutine of its own, ahead of the one that takes
// its frames in order, and does there what does not depend on order, while the octets are in
// that processor's cache: it decodes the headers of plain frames, numbers the endpoints of
// TCP connections, and verifies CRCs and checksums.
//
// What it finds out of a frame is a [Note]. It holds whatever came before, so a run that
// uses notes finds the same as one that does without.
//
// Whoever has less to do takes more: as long as the frames that wait are few, they are
// handed over without notes, and the ordered side does that work itself.
package readahead

// Package annotate writes a capture again with what was found out about it: comments of packets,
// and of the section. Every packet and every block stays in its place, octet for octet.
//
// A file is read twice: some things become known only after their frame. The first reading
// ([Survey]) keeps what it finds while there is room. Of a capture of some gigabytes it keeps
// from there on only what becomes known late, and the second reading ([Copier]), which copies
// the blocks, finds out the rest again.
//
// What comes through a pipe is read once. Then the last frames are held back, and what becomes
// known of older ones is counted. Frames of an interface ([Stream]) are held back for a time.
package annotate

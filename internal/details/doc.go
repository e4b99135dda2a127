// Package details has the tree of a frame, its packet details as Wireshark calls them, and
// the forms in which tshark writes it: JSON, JSON for Elasticsearch, PDML, PSML, lines of
// columns, text and octets. Names, values and nesting are those of tshark 4.0, so that what
// was written for its output reads ours. What Wireshark has no name for stands in layers of
// its own, named iwd.
//
// A [Sink] writes frames as a run tells of them. It holds one frame at a time; its memory
// depends on the largest frame, not on the capture.
package details

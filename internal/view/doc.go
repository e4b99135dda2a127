// Package view shows a capture on a terminal, to move around in: its connections, what is
// wrong with them, its PDUs, and of one PDU the fields and the octets.
//
// A [Store] gives the capture as often as it is asked. One reading fills a [List] of all PDUs,
// with a line of text for each in few octets, and gathers connections, findings and diagnoses,
// while the interface shows what there is so far. Details of a PDU are not kept: the capture is
// read again for those around the one that is looked at. A filter and a dialogue are readings
// of their own. Frames of an interface or a pipe are kept in memory, the last ones, and are read
// again from there.
//
// What a terminal shows goes through fit, which escapes what a terminal would obey, or what
// would leave its place.
package view

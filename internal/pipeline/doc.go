// Package pipeline wires the parts together: frames from a source, packets,
// connections, and what is found in them to a sink, in the order of the frames.
//
// A [Run] is one capture. It keeps the table of connections and the bounds on
// memory; every drop is counted in its [Totals].
package pipeline

// Package pipeline connects the parts: it reads frames from a source, decodes packets,
// delivers them to connections, and hands the results to a sink in frame order.
//
// A [Run] is one capture. It keeps the table of connections and bounds
// memory; whatever it drops is counted in its [Totals].
package pipeline

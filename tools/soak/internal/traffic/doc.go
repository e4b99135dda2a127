// Package traffic makes captures for the soak from a seed: random connections or a scenario,
// over a link that loses and reorders, with faults of single PDUs, captured badly, damaged as a
// file, and compressed. The same seed gives the same octets.
package traffic

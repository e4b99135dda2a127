// Package startup has the rules on the MPA startup: keys, flags, revisions, private data,
// the order of frames, the enhanced startup with its depths and RTR, timeouts, and how
// each side reacts to an invalid frame (RFC 5044 section 7.1 and appendix C, RFC 6581).
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package startup

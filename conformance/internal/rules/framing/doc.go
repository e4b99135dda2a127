// Package framing has the rules on FPDUs and their TCP segments: lengths, pad, CRC,
// markers, sizes, alignment and retransmissions (RFC 5044 sections 3 to 6).
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package framing

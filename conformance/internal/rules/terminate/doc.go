// Package terminate has the rules on Terminate messages, and on what a side does about a
// fault of its peer (RFC 5040 sections 4.8, 6 and 7).
package terminate

// Package framing has the rules on FPDUs, their markers and CRCs, and their place in TCP
// segments (RFC 5044 sections 4 to 7).
package framing

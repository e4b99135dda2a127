// Package dialogue puts the DDP segments of connections together to the messages that the
// sides say to each other (RFC 5041 section 5.2), as the PDUs become known.
//
// [Messages] says which message a PDU belongs to, and which messages were broken off. It
// keeps no payload: [Pieces] hands out that of a PDU. Both are bounded: a message that never
// ends is given up when there are too many.
package dialogue

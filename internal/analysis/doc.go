// Package analysis keeps the state of one connection: the startup of MPA, what
// it negotiated, the FPDUs of both directions, the messages they make, and
// which answer belongs to which request.
//
// It is handed the packets of a connection in capture order and tells a
// [trace.Sink] what it finds. Everything that can be known of a connection at
// its end is in its [trace.Connection].
package analysis

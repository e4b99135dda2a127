// Package pdu is the last stage of the transmit side above the transport: PDUs
// become octets for the stream, whole or with the faults that a scenario
// declares for them.
//
// A [PDU] is a startup frame, a DDP segment or octets outside MPA. The [Framer]
// of one end of a connection applies the faults that pick its [Place], frames
// DDP segments as FPDUs and hands out a [Unit] for each.
package pdu

// Package render writes what was found: a line or a tree for each PDU, records
// of JSON, and the tables of a summary.
//
// Lines and records are appended to one buffer without an allocation a PDU.
// Octets of the capture never reach a terminal as they are: they are printed
// as hexadecimal digits, or escaped.
package render

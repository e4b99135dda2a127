// Package terminate has the rules on Terminate messages: their error codes, the headers
// that they quote, and the errors that should have led to one (RFC 5040 section 4.8,
// RFC 5041 section 8, RFC 5044 section 8).
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package terminate

// Package rdmap has the rules on RDMAP messages: headers, Reads and atomic operations with
// their answers and depths, and STags (RFC 5040 and RFC 7306).
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package rdmap

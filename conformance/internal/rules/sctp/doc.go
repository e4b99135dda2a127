// Package sctp has the rules on DDP over SCTP: packets and chunks, session control, the
// course of a session, and associations (RFC 5043 and RFC 6581).
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package sctp

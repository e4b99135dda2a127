// Package sctp has the rules on DDP over SCTP (RFC 5043).
package sctp

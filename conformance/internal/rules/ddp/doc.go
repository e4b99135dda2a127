// Package ddp has the rules on DDP segments and messages: headers, queues, MSNs, offsets,
// the last flag, STags, and how a connection is closed (RFC 5041).
//
// Like all packages of rules it imports package rules and the facts of package model, and
// changes neither. No package of rules imports another one.
package ddp

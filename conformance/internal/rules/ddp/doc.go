// Package ddp has the rules on DDP segments and messages (RFC 5041).
package ddp

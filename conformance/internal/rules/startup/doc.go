// Package startup has the rules on how a connection begins: MPA Request and Reply, private
// data, and the negotiation of IRD, ORD and RTR (RFC 5044 section 7.1 and RFC 6581).
package startup

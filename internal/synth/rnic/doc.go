// Package rnic is one end of an iWARP connection: the RDMA engine of a NIC, or
// of a stack in software. It is a state machine over an ordered stream of
// octets: what the upper layer posts and what the peer sends go in, PDUs in
// order come out. It has no clock and no socket, so that the same code can talk
// to a modelled peer or to a real one.
//
// [Endpoint] does the MPA startup, cuts messages into DDP segments of at most
// the MULPDU, answers RDMA Reads and Atomic Requests in order and within
// IRD/ORD, places what it receives in the memory of its regions, and answers
// errors with the Terminate that the RFCs ask for.
package rnic

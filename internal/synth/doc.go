// Package synth makes the traces of connections that never were: two hosts, each
// an endpoint ([rnic]) on a TCP socket ([tcp]), talk over a modelled link
// ([link]), and what a capture point on it sees is written as pcap or pcapng.
//
// A [Script] says who they are and what they do; package scenario reads it from
// YAML. [Run] plays it. The same script gives the same octets, on every machine.
//
//	Script ─ steps ▶ rnic.Endpoint ─ pdu.Unit ▶ tcp.Socket ─ segments ▶ link.Link ─ frames ▶ link.Tap ▶ file
package synth

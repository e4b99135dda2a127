// Package model holds the facts about a connection that the rules of conformance judge:
// its two directions, startup frames, segments, messages, requests and their answers,
// STags, acknowledgements, and what was not captured.
//
// [Conn.Record] records one PDU. It notifies the observer of each event before it records
// the event, so that rules see the state that the event met.
//
// The package contains no rule and decides nothing about severity: it says what happened
// and how certain that is ([Order], and the gates of package catalogue), and rules say
// what that means. It imports the catalogue for its gates, package trace, and the decoders
// below dissect.
package model

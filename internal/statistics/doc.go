// Package statistics gathers what -z asks for while a capture is read: conversations,
// endpoints, frames over time, the hierarchy of protocols, findings, and what only iWARP
// has: response times, sizes, outstanding requests, rates, CRCs, alignment, startups.
//
// A [Set] is what was asked for. [Set.Gather] makes a [Run] of it for one capture, which is
// a sink of the pipeline. [Run.Reports] are the results: tables of values that know their
// units, written as text, JSON or CSV. Where tshark has the same statistic its text has the
// layout of tshark.
//
// The unit that a filter selects is the frame, with all PDUs that became known with it.
// Memory does not grow with the number of frames: tables grow with the number of
// conversations, endpoints or intervals, up to a bound, and what a bound leaves out is
// counted and said. Times are in nanoseconds since the Unix epoch, lengths in octets.
package statistics

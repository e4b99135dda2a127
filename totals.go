package iwdissect

import "fmt"

// Totals are the counts of a pass over a capture.
type Totals struct {
	// Frames counts frames, Octets those that they had on the wire, Captured those
	// that are in the capture, and Cut the frames of which octets are missing because
	// of the snap length.
	Frames, Octets, Captured, Cut uint64
	// FirstTime and LastTime are those of the first and of the last frame that have one,
	// in nanoseconds since the Unix epoch; 0 if no frame has.
	FirstTime, LastTime int64
	// Clamped counts frames whose time is not within 1677 to 2262, and stands as the end of that range.
	Clamped uint64
	// TCP and SCTP count frames with a packet of it, Other those with something else,
	// Fragments those that waited for other fragments of their IP packet. Malformed
	// frames contradict themselves, and of Truncated ones a header is missing.
	TCP, SCTP, Other, Fragments, Malformed, Truncated uint64
	// Unread counts SCTP packets with chunks that could not be parsed, Damaged SCTP
	// packets that were left out because of a wrong checksum.
	Unread, Damaged uint64
	// Connections counts TCP connections and DDP stream sessions over SCTP, Sessions
	// only the latter. IWARP counts those that carried iWARP and have ended.
	Connections, Sessions, IWARP uint64
	// Duplicates counts packets that another of the files has as well, see [Merge]. Nothing else
	// counts them.
	Duplicates uint64
	// Copies counts TCP packets that were captured twice in one file, as their IP identification, TTL, VLAN or interface
	// proves. No connection counts them.
	Copies uint64
	// LostByInterface and LostBySystem count packets that the interface, or the operating system, dropped before they
	// were captured, as the capture says itself (Interface Statistics Blocks of pcapng).
	LostByInterface, LostBySystem uint64
	// PDUs counts PDUs.
	PDUs uint64
	// Errors counts the places at which the capture is damaged and reading went on, Unopened files
	// of [Join], [JoinGiven] and [Merge] among them that could not be opened or are no capture.
	// Incomplete: an error, or the end of the context, kept the capture from being read to its end;
	// the error of the range says which.
	Errors, Unopened uint64
	Incomplete       bool
	// Stopped: the pass ended after Frames frames because it was asked to, by [Limits] or by leaving the
	// loop, and more frames may follow.
	Stopped bool
	// Undecoded counts those of Other whose link type is not known to this package.
	Undecoded uint64
	// Evicted counts connections that were ended before their time to bound memory,
	// Starved how often a direction of a connection lost its place for that reason.
	// GapsGivenUp counts gaps that were given up before what is missing came, because no more octets behind them could wait:
	// see [Limits.ReorderBytes] and [Limits.TotalReorderBytes].
	Evicted, Starved, GapsGivenUp uint64
	// RequestsForgotten counts Reads and atomics whose answers are not known, as more than 16,384 of a side waited for theirs.
	RequestsForgotten uint64
	// FragmentsLost counts IP fragments whose packet was given up, because it was not
	// complete for too long or to bound memory.
	FragmentsLost uint64
}

// Totals returns the counts of the pass that is under way, or of the last one. If that could not open its file,
// they are 0, and Incomplete.
func (c *Capture) Totals() Totals {
	if c.pass != nil {
		return c.pass.totals()
	}
	return c.last
}

// totals are the counts up to now.
func (p *pass) totals() Totals {
	t := p.run.Totals()
	out := Totals{
		Frames: t.Frames, Octets: t.Octets, Captured: t.Captured, Cut: t.Cut,
		FirstTime: t.FirstTime, LastTime: t.LastTime, Clamped: t.Clamped,
		TCP: t.TCP, SCTP: t.SCTP, Other: t.Other, Fragments: t.Fragments, Malformed: t.Malformed, Truncated: t.Truncated,
		Unread: t.Unread, Damaged: t.Damaged,
		Connections: t.Connections, Sessions: t.Sessions, IWARP: t.IWARP,
		Duplicates: t.Duplicates, Copies: t.Copies, LostByInterface: t.Lost.Interface, LostBySystem: t.Lost.System, PDUs: t.PDUs, Errors: t.Errors, Unopened: p.unopened, Evicted: t.Evicted, Starved: t.Starved, GapsGivenUp: t.GapsGivenUp, RequestsForgotten: t.RequestsForgotten,
		FragmentsLost: t.IP.LostFragments, Incomplete: p.incomplete, Stopped: p.stopped,
	}
	for _, l := range p.run.Others().Links {
		out.Undecoded += l.Count
	}
	return out
}

// Warnings lists, in a sentence each, what the pass had to leave out, so that what it
// found may be incomplete, and that it ended early because it was asked to. There are none when
// everything was read.
func (t Totals) Warnings() []string {
	var out []string
	if t.Incomplete {
		out = append(out, "the capture was not read to its end")
	}
	if t.Stopped {
		out = append(out, counted(t.Frames, "reading ended after 1 frame, as asked", "reading ended after %d frames, as asked"))
	}
	for _, w := range []struct {
		n         uint64
		one, many string
	}{
		{t.Unopened, "1 file could not be opened, or is no capture", "%d files could not be opened, or are no captures"},
		{t.Errors - min(t.Unopened, t.Errors), "1 damaged place of the capture was skipped", "%d damaged places of the capture were skipped"},
		{t.LostByInterface + t.LostBySystem, "the capture lost 1 packet before it was written, as it says", "the capture lost %d packets before they were written, as it says"},
		{t.Undecoded, "1 frame is of a link type that cannot be decoded", "%d frames are of a link type that cannot be decoded"},
		{t.Cut, "1 frame was cut by the snap length", "%d frames were cut by the snap length"},
		{t.Evicted, "1 connection was ended early to bound memory", "%d connections were ended early to bound memory"},
		{t.Starved, "once a direction lost its place to bound memory", "%d times a direction lost its place to bound memory"},
		{t.GapsGivenUp, "1 gap was given up before what is missing came, to bound memory", "%d gaps were given up before what is missing came, to bound memory"},
		{t.RequestsForgotten, "1 request was forgotten before its answer came, to bound memory", "%d requests were forgotten before their answers came, to bound memory"},
		{t.FragmentsLost, "1 IP fragment is of a packet that was never complete", "%d IP fragments are of packets that were never complete"},
	} {
		if w.n > 0 {
			out = append(out, counted(w.n, w.one, w.many))
		}
	}
	return out
}

// counted is a sentence with a number.
func counted(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

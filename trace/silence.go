package trace

// Silence is what a reset comes behind: probes that got no answer, or a long time in which neither
// side sent anything. A firewall may have forgotten the connection in that time, or one of the hosts.
type Silence struct {
	// Probes counts the probes (RFC 9293 section 3.8.4) since the side that they ask was heard last, First and Last
	// are their frames. Own says that they are those of the side that sent the reset; Window that
	// the other side had announced a receive window of 0, which they may be for.
	Probes, First, Last uint64
	Own, Window         bool
	// Late says that the reset of the side that they ask comes too long after the last one to answer it.
	Late bool
	// From and To are the frames between which nothing was sent for Idle, in nanoseconds; of the two sides only one
	// has sent anything but the reset since then. 0: it was not long.
	From, To uint64
	Idle     int64
}

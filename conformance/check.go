package conformance

// check is how a rule is judged: which evidence it needs, and the functions that
// are asked about events. Each calls [conn.applies] when the event is one that
// the rule speaks of, and [conn.fire] when it was broken.
type check struct {
	id        string
	needs     Gate
	transport transport
	// noise: it is asked about octets that are no RDMA message at all too.
	noise     bool
	startup   func(*conn, *frame)
	fpdu      func(*conn, *fpdu)
	segment   func(*conn, *segment)
	message   func(*conn, *message)
	terminate func(*conn, *terminate)
	control   func(*conn, *control)
	loose     func(*conn, *loose)
	chunk     func(*conn, *segment)
	end       func(*conn)
	// capture is asked about each connection once all of the capture was read.
	capture func(*book, *past)
}

// transport restricts a rule to one of them.
type transport uint8

const (
	onTCP transport = iota + 1
	onSCTP
)

// checks are all checks, by subject.
func checks() (all []check) {
	for _, some := range [...][]check{
		startupChecks, enhancedChecks, interopChecks, framingChecks, headerChecks, messageChecks, requestChecks,
		terminateChecks, sessionChecks, packetChecks, streamChecks,
	} {
		all = append(all, some...)
	}
	return all
}

package statistics

import "github.com/iwdissect/iwdissect/internal/budget"

// room is the memory for what statistics keep until the end: that of the capture. What has no
// room is left out, and its statistic says how much that was.
type room struct{ account *budget.Account }

// roomTap is given the room of the run.
type roomTap interface{ keepsIn(*room) }

// rowWeight is what a row takes in the report that is made of it, roughly, in octets; slotWeight what
// an interval of a series does. Those of io,stat are written without a report of all of them.
const (
	rowWeight  = 512
	slotWeight = 256
)

// take takes so many octets. It reports false if there are none left. A nil room has no end.
func (r *room) take(octets int) bool {
	if r == nil {
		return true
	}
	if r.account.Scarce() {
		return false
	}
	r.account.Keep(octets)
	return true
}

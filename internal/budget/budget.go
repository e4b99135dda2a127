// Package budget is the memory that an analysis may take: one account for all that grows with
// what is read. Who holds something takes as many octets as it is known to need, and gives them
// back when it is gone. What an account says depends on the capture alone, never on a garbage
// collector, so that what is given up is the same on each run.
//
// What stays until the end of the capture, such as a record or a finding, may take half; beyond
// that it is refused, see [Account.Scarce]. The rest is for connections that are under way:
// they end early when all is taken.
package budget

// Account counts the octets that were taken. A nil Account counts nothing and has no end.
type Account struct {
	limit, used, peak int
	kept              int // those of used that stay until the end
	ending            bool
}

// New returns an account with so many octets.
func New(limit int) *Account { return &Account{limit: limit} }

// Take takes octets, or gives them back if there are less than 0.
func (a *Account) Take(octets int) {
	if a == nil {
		return
	}
	a.used += octets
	a.peak = max(a.peak, a.used)
}

// Keep is Take for what stays until the end.
func (a *Account) Keep(octets int) {
	if a == nil {
		return
	}
	a.kept += octets
	a.Take(octets)
}

// Over reports whether more was taken than there is.
func (a *Account) Over() bool { return a != nil && a.used > a.limit }

// Scarce reports whether no more is to be kept.
func (a *Account) Scarce() bool {
	return a != nil && (a.ending && a.used > a.limit || !a.ending && a.kept > a.limit/2)
}

// End says that nothing more is read: connections end, and what stays of them takes less.
func (a *Account) End() {
	if a != nil {
		a.ending = true
	}
}

// Limit is how many octets there are.
func (a *Account) Limit() int { return a.limit }

// Used is how many octets are taken.
func (a *Account) Used() int { return a.used }

// Kept is how many of them stay until the end.
func (a *Account) Kept() int { return a.kept }

// Peak is how many octets were taken at most.
func (a *Account) Peak() int { return a.peak }

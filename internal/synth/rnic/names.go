package rnic

import "sort"

// tally counts what is not done of the messages with a name.
type tally struct {
	name string
	// unsent were posted and not handed out, unread are requests without their answer.
	unsent, unread int
}

// tallies are those of all names, in no order. There are few: a name whose messages are
// done has none.
type tallies []tally

// add adds to the counts of a name.
func (t *tallies) add(name string, unsent, unread int) {
	all := *t
	for i := range all {
		x := &all[i]
		if x.name != name {
			continue
		}
		x.unsent += unsent
		x.unread += unread
		if x.unsent == 0 && x.unread == 0 {
			last := len(all) - 1
			all[i], all[last] = all[last], tally{}
			*t = all[:last]
		}
		return
	}
	*t = append(all, tally{name, unsent, unread})
}

// of is how many messages with a name are not done.
func (t tallies) of(name string) int {
	for i := range t {
		if t[i].name == name {
			return t[i].unsent + t[i].unread
		}
	}
	return 0
}

// unsent is how many messages with a name were not handed out.
func (t tallies) unsent(name string) int {
	for i := range t {
		if t[i].name == name {
			return t[i].unsent
		}
	}
	return 0
}

// names are those of the requests of an end, by MSN. Requests that are posted one after the
// other have a common name and numbers that follow each other: such a run takes one place,
// however long it is.
type names []run

type run struct {
	place        // of the first one
	msn   uint32 // of the first one
	count uint32
}

// nameWindow is how many requests are named: the peer has named its answer by the time that so
// many more were sent, whatever the depth.
const nameWindow = 1 << 15

// add names the next request.
func (n *names) add(msn uint32, p place) {
	all := *n
	if last := len(all) - 1; last >= 0 {
		r := &all[last]
		if r.msn+r.count == msn && r.name == p.name && r.number+int(r.count) == p.number {
			r.count++
			return
		}
	}
	for len(all) > 0 && msn-(all[0].msn+all[0].count-1) >= nameWindow {
		all = all[1:]
	}
	*n = append(all, run{p, msn, 1})
}

// find is the name of a request.
func (n names) find(msn uint32) place {
	if len(n) == 0 {
		return place{}
	}
	first, last := n[0].msn, n[len(n)-1].msn+n[len(n)-1].count-1
	if last-msn >= nameWindow || last-msn > last-first {
		return place{}
	}
	i := sort.Search(len(n), func(i int) bool { return n[i].msn-first > msn-first }) - 1
	return place{n[i].name, n[i].number + int(msn-n[i].msn)}
}

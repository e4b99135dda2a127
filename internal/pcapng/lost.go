package pcapng

import (
	"encoding/binary"
	"math/bits"
)

// Lost counts packets that the capture lost before they were written to the file, as its
// Interface Statistics Blocks say.
type Lost struct {
	// Interface counts those that the interface dropped for lack of room, System those that the
	// operating system did.
	Interface, System uint64
}

// add adds counts; sums that do not fit stay at the largest number.
func (l *Lost) add(o Lost) {
	l.Interface, l.System = sum(l.Interface, o.Interface), sum(l.System, o.System)
}

func sum(a, b uint64) uint64 {
	s, over := bits.Add64(a, b, 0)
	if over != 0 {
		return 1<<64 - 1
	}
	return s
}

// Plus are the counts of both.
func (l Lost) Plus(o Lost) Lost {
	l.add(o)
	return l
}

// Any reports whether packets were lost.
func (l Lost) Any() bool { return l.Interface > 0 || l.System > 0 }

// Options of an Interface Statistics Block, each of 64 bits.
const (
	optInterfaceDrops = 5
	optSystemDrops    = 7

	statisticsOptions = 20 // where they start

	// unknownCount is what libpcap and Wireshark write where a count is not known.
	unknownCount = 1<<64 - 1
)

// statistics reads an Interface Statistics Block: the interface at 8, the time at 12, options. Its
// counts are those since the capture began, so that of several blocks the last one counts. What
// cannot be read is passed over: no packet depends on it.
func (r *Reader) statistics(b []byte) {
	if len(b) < statisticsOptions+blockTailLen {
		return
	}
	iface := r.u32(b[8:])
	if uint64(iface) >= uint64(len(r.ifaces)) {
		return
	}
	var lost Lost
	o := options{rest: b[statisticsOptions : len(b)-blockTailLen], big: r.big}
	for o.next() {
		if len(o.val) != 8 {
			continue
		}
		n := binary.LittleEndian.Uint64(o.val)
		if r.big {
			n = bits.ReverseBytes64(n)
		}
		switch {
		case n == unknownCount:
		case o.code == optInterfaceDrops:
			lost.Interface = n
		case o.code == optSystemDrops:
			lost.System = n
		}
	}
	if missing := len(r.ifaces) - len(r.losses); missing > 0 {
		r.losses = append(r.losses, make([]Lost, missing)...)
	}
	r.losses[iface] = lost
}

// Lost is what was lost by what was read of the file so far.
func (r *Reader) Lost() Lost {
	all := r.lost
	for i := range r.losses {
		all.add(r.losses[i])
	}
	return all
}

package pipeline

import (
	"math"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
)

// sums count the TCP checksums of a sender: those of packets with data that are
// right, and wrong ones. Some stacks fill in only those of packets without data.
type sums struct{ good, bad uint32 }

// more counts one more, as far as there is room.
func more(n *uint32) {
	if *n < math.MaxUint32 {
		*n++
	}
}

const (
	// fewDamaged and damagedShare bound the packets of a sender that count as damaged:
	// links damage few. If there are more, the field holds no checksum.
	fewDamaged   = 3
	damagedShare = 8
	// probation is how many octets are verified on a connection that is not known to
	// carry iWARP.
	probation = 64 << 10
)

// failed reports whether so many octets were verified that a connection that is not known to
// carry iWARP is none.
func (fl *flow) failed() bool {
	t := fl.conn.Trace
	return t.Flow[0].Octets+t.Flow[1].Octets > probation
}

// damaged verifies the checksum of a packet and reports whether it is wrong while
// others of the sender are right: the receiver drops such a packet. right says that it was
// verified already; else p is the packet. If s has a sum, it is that of all its octets.
func (fl *flow) damaged(side int, s *reassembly.Segment, p *packet.Packet, right bool) bool {
	t := fl.conn.Trace
	summed := s.HasSum
	s.Compare, s.HasSum = false, false
	if !t.IsMPA && fl.failed() {
		return false
	}
	k, d := &fl.sums[side], fl.conn.Dir(side)
	verdict := packet.ChecksumOK
	switch {
	case right:
		s.Compare = len(s.Data) == s.Len
	case summed:
		verdict, s.HasSum, s.Compare = p.SumWith(s.Sum), true, true
	default:
		var sum uint64
		if verdict, sum = p.Sum(); len(s.Data) == s.Len {
			s.Sum, s.HasSum, s.Compare = sum, true, true
		}
	}
	f := &t.Flow[d]
	switch mss := int(t.Flow[1-d].MSS); {
	case verdict == packet.ChecksumUnfilled && s.Len > 0:
		more(&f.Rarely().SumsUnfilled)
	case verdict == packet.ChecksumOK && s.Len == 0:
	case verdict == packet.ChecksumOK:
		more(&k.good)
		f.SumsUnsure = f.SumsUnsure || k.good == 1 && k.bad > 0
	case verdict != packet.ChecksumBad || mss > 0 && s.Len > mss:
		// Not there, not whole, or of a segment that was assembled or is still to
		// be cut.
	case k.good == 0:
		more(&k.bad)
		f.Rarely().SumsWrong = k.bad
	case k.bad >= fewDamaged+k.good/damagedShare:
		f.SumsUnsure = true
	default:
		more(&k.bad)
		e := f.Faulty()
		if e.Damaged++; e.FirstDamaged == 0 {
			e.FirstDamaged = s.Frame
		}
		fl.conn.LeaveOut(side, s)
		return true
	}
	return false
}

// undamaged is damaged for a whole packet that is known to be right: nearly each.
func (fl *flow) undamaged(side int, s *reassembly.Segment) {
	t := fl.conn.Trace
	if s.Compare = t.IsMPA || !fl.failed(); !s.Compare || s.Len == 0 {
		return
	}
	k := &fl.sums[side]
	if more(&k.good); k.good == 1 && k.bad > 0 {
		t.Flow[fl.conn.Dir(side)].SumsUnsure = true
	}
}

// spoilt reports whether a SYN is damaged, so that nothing begins with it.
func (fl *flow) spoilt(side int, p *packet.Packet) bool {
	verdict, _ := p.Sum()
	return verdict == packet.ChecksumBad && fl.sums[side].good > 0
}

// tally notes in the record of the connection how many checksums were right and wrong.
func (fl *flow) tally() {
	for side := range fl.sums {
		f := &fl.conn.Trace.Flow[fl.conn.Dir(side)]
		f.SumsRight = fl.sums[side].good
		if n := fl.sums[side].bad; n > 0 {
			f.Rarely().SumsWrong = n
		}
	}
}

// checksum verifies the TCP checksum of a packet, if it is the one at hand, and if checksums are verified at
// all. That of a frame that was not decoded was found right before.
func (r *Run) checksum(frame uint64) mpa.Tri {
	switch {
	case !r.opt.Sums || frame != r.taken:
		return mpa.Unknown
	case r.decoded != r.seg.Frame:
		return mpa.Yes
	}
	switch r.pkt.VerifyChecksum() {
	case packet.ChecksumOK:
		return mpa.Yes
	case packet.ChecksumBad:
		return mpa.No
	default:
		return mpa.Unknown
	}
}

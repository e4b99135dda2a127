package reassembly

import "slices"

// A packet may lie farther from the octets of its direction than what is under way at once, while what it acknowledges lies where the
// connection is: gigabytes are missing from the capture, or it is forged, damaged or of another connection. So the first such packet waits
// beside the stream. It is of the stream if the next packet of the direction is near it, or if the other side acknowledges it. If the
// direction goes on where it was, it is a stray.
//
// 2 to 4 GiB ahead have the same numbers as octets behind. In front of the first octet nothing was sent. Between octets that were seen copies
// may come late, so there the packet must also acknowledge more than any before it: a copy cannot.

// farOff is a packet that waits so.
type farOff struct {
	seg  Segment // its octets and frames are copies
	off  int64   // of its first octet, if it is of the stream
	high int64   // where the direction was
	by   farness
	news bool // it cannot be a copy of an earlier one
}

// turn is how far numbers are apart that look the same.
const turn = 1 << 32

// farness says how a packet lies far off.
type farness uint8

const (
	notFar     farness = iota
	farAhead           // less than 2 GiB ahead
	farOutside         // in front of the first octet, or more than that ahead
	farBefore          // as farOutside, and so near the first octet that it may be older than that
	farPassed          // where octets were seen, or more than that ahead
)

// farOff reports whether a packet at an offset lies far off, and where it lies if it is ahead.
func (h *Direction) farOff(s *Segment, off, size int64) (at int64, by farness) {
	if size == 0 && s.Flags&FlagFIN == 0 || s.Flags&(FlagSYN|FlagRST) != 0 || h.fin >= 0 {
		return off, notFar
	}
	switch d := off - h.high(); {
	case d > maxAhead:
		return off, farAhead
	case off < -muchSent:
		return off + turn, farOutside
	case off < -1 && off+size <= 0 && h.startKnown:
		return off + turn, farBefore
	case off < h.next-muchSent && off > startupOctets:
		return off + turn, farPassed
	}
	return off, notFar
}

// aside reports whether a packet is nothing else while it waits, or is left out. Where octets were seen it may be a copy, and is taken
// for one meanwhile.
func (f farness) aside() bool { return f != farPassed }

// note is what is said of a packet that lies far off and waits.
func (f farness) note() Note {
	if f == farOutside || f == farBefore {
		return BeforeStart
	}
	return 0
}

// pushFar processes a packet that lies far off, ahead at an offset. news: it acknowledges more than any before it. It reports whether the
// packet waits or is left out; if not, it is to be taken in as any other.
func (h *Direction) pushFar(s *Segment, at int64, by farness, news bool) (done bool) {
	d := h.disordered()
	f := d.far
	switch {
	case f != nil && s.Seq == f.seg.Seq && s.Len == f.seg.Len:
		return by.aside()
	case f != nil && f.high == h.high() && near(s.Seq, f.seg.Seq) && (f.by != farPassed || f.news || news):
		h.leap()
		return false
	case by == farBefore || by > farAhead && s.Soon:
		d.leftOut(s.Frame, by, h.high())
		return by.aside()
	}
	h.dropFar()
	d.far = &farOff{seg: *s, off: at, high: h.high(), by: by, news: news}
	k := &d.far.seg
	k.Data, k.Fragments, k.data = append(h.budget.take(len(s.Data)), s.Data...), slices.Clone(s.Fragments), nil
	d.bytes += heldCost + cap(k.Data)
	h.budget.used += heldCost
	h.away = true
	if h.overBudget() {
		h.dropFar()
	}
	return by.aside()
}

// leap takes in the packet that waits far off.
func (h *Direction) leap() {
	f := h.dis.far
	h.dis.far, h.away = nil, false
	end := f.off + int64(f.seg.Len)
	if f.seg.Len > 0 {
		h.unusual(&f.seg, f.off, end)
	}
	if f.seg.Flags&FlagFIN != 0 {
		h.fin, h.plain = end, false
	}
	h.giveFar(f)
}

// giveFar takes back the memory of a packet that waited far off.
func (h *Direction) giveFar(f *farOff) {
	h.dis.bytes -= heldCost + cap(f.seg.Data)
	h.budget.used -= heldCost
	h.budget.give(f.seg.Data)
}

// dropFar leaves the packet out that waits far off, if there is one.
func (h *Direction) dropFar() {
	if !h.away {
		return
	}
	f := h.dis.far
	h.dis.leftOut(f.seg.Frame, f.by, f.high)
	h.giveFar(f)
	h.dis.far, h.away = nil, false
}

// reached takes in the packet that waits far off, if a packet of the other side acknowledges it that lies where its sender, peer, was.
func (h *Direction) reached(s *Segment, peer *Direction) {
	const fin = 1
	f := h.dis.far
	if by := s.Ack - f.seg.Seq; by == 0 || by > uint32(f.seg.Len)+fin+maxAhead { //nolint:gosec // of a packet
		return
	}
	if at, _ := peer.spot(s.Seq); at != spotHere || f.by == farPassed && !f.news && (s.Len == 0 || peer.Offset(s.Seq) < peer.high()) {
		return
	}
	h.leap()
}

// settleFar decides at the end on the packet that waits far off: nothing more comes where the direction was, or it is a stray.
func (h *Direction) settleFar() {
	if f := h.dis.far; f.high == h.high() && f.by == farAhead {
		h.leap()
		return
	}
	h.dropFar()
}

// wentOn reports whether what waits is none of the direction, although several packets lie near each other: it is farther ahead than what is
// under way at once, the direction went on where it was behind all of it, and the other side, which is there, acknowledged nothing of it.
func (h *Direction) wentOn() bool {
	d := h.dis
	if d.held.first().off-h.next <= maxAhead || h.fin >= 0 || !h.ackSeen || h.acked > h.next+1 {
		return false
	}
	for at := d.held.seek(h.next); ; at = d.held.after(at) {
		if e := d.held.at(at); e == nil || e.frame >= d.frame {
			return e == nil
		}
	}
}

// leaveHeld leaves out what waits.
func (d *disorder) leaveHeld(h *Direction) {
	for ; d.held.n > 0; d.held.drop(h.budget) {
		e := d.held.first()
		d.leftOut(e.frame, farAhead, unknown)
		d.bytes -= heldCost + cap(e.data)
		h.budget.used -= heldCost
		h.budget.give(e.data)
	}
	h.waiting = 0
}

// Elsewhere reports whether packets were left out that are no copies, behind which nothing shows that the direction goes on where it was: if
// they are of it, all octets from there on are missing.
func (h *Direction) Elsewhere() bool {
	return h.dis != nil && h.dis.LeftOut > h.dis.MayBeCopies && h.fin < 0 && h.dis.outAt == h.high()
}

// leftOut counts a packet that was left out. The direction was at an offset when it came.
func (d *disorder) leftOut(frame uint64, by farness, high int64) {
	d.LeftOut++
	if by == farPassed {
		d.MayBeCopies++
	} else {
		d.outAt = high
	}
	if d.FirstLeftOut == 0 {
		d.FirstLeftOut = frame
	}
}

package analysis

import "github.com/iwdissect/iwdissect/internal/seq"

// sentOrder is what the timestamps of its sender (RFC 7323) say of a packet that fills a hole. Its
// clock never goes back, and a packet that is sent again has the time of the copy.
type sentOrder uint8

const (
	// sentUnknown: nothing.
	sentUnknown sentOrder = iota
	// sentBefore: it was sent before its sender could know that it is missing, so it came out of order.
	sentBefore
	// sentAfter: it was sent after octets that follow its own in the stream, so it was sent again.
	sentAfter
)

// clock is that of a sender while octets of it are missing: timestamps of packets.
type clock struct {
	// shown is that of the packet that showed the hole, whose octets begin at shownAt.
	shown   uint32
	known   bool // also of farthest
	later   bool // a packet came that was not so soon
	shownAt int64
	// farthest is that of the packet with the farthest octets, soon that of the last such packet that
	// was captured so soon after the hole showed that what is sent again is sent later.
	soon, farthest uint32
	// copies are the last packets that were sent again and filled a hole, of so many: the first ones
	// may still come.
	copies [8]copied
	n      uint32
}

// copied is where a packet that was sent again begins, modulo 2^32, and its timestamp.
type copied struct {
	off, val uint32
	stamped  bool // it was shown to be one by that
	alone    bool // the first one did not come yet
}

// shows notes the packet at hand, which shows a hole in front of an offset.
func (k *clock) shows(e *Env, off int64) {
	val, ok := e.timestamp()
	k.shown, k.soon, k.farthest, k.known, k.later, k.shownAt = val, val, val, ok, false, off
}

// goesOn notes the packet at hand, with octets beyond all others. soon: it came within a part of the
// round trip after the hole showed, if the clock of the capture is right. Behind one that did not, none did:
// that clock may have been set back.
func (k *clock) goesOn(e *Env, soon bool) {
	val, ok := e.timestamp()
	k.farthest, k.known = val, ok && k.known
	k.later = k.later || !soon
	if !k.later {
		k.soon = val
	}
}

// order is what is known of the packet at hand, which fills a hole at an offset.
func (k *clock) order(e *Env, off int64) sentOrder {
	val, ok := e.timestamp()
	switch {
	case !ok || !k.known:
	case seq.Less(val, k.soon):
		return sentBefore
	case seq.Less(k.farthest, val), off < k.shownAt && seq.Less(k.shown, val):
		return sentAfter
	}
	return sentUnknown
}

// overtook notes the packet at hand, which was sent again and filled a hole.
func (k *clock) overtook(e *Env, off int64, stamped bool) {
	if val, ok := e.timestamp(); ok {
		k.copies[k.n%uint32(len(k.copies))] = copied{uint32(off), val, stamped, true} //nolint:gosec // modulo 2^32
		k.n++
	}
}

// overtaken reports, once, whether the packet at hand is the first one of such a packet: it was not
// lost, but came behind its copy.
func (k *clock) overtaken(e *Env, off int64) (stamped, ok bool) {
	for i := range min(k.n, uint32(len(k.copies))) {
		c := &k.copies[i]
		if val, ok := e.timestamp(); ok && c.alone && c.off == uint32(off) && seq.Less(val, c.val) { //nolint:gosec // modulo 2^32
			c.alone = false
			return c.stamped, true
		}
	}
	return false, false
}

// timestamp is that of the packet at hand.
func (e *Env) timestamp() (val uint32, ok bool) {
	if e.Timestamp == nil {
		return 0, false
	}
	return e.Timestamp()
}

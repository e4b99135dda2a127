package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// looks is what a rule looks at, as far as that tells what it may not have seen.
type looks uint8

const (
	looksAtStream   looks = 1 << iota // see onStream
	looksAtFirst                      // at the first FPDU of the initiator
	looksAnywhere                     // at other sessions of the association, too
	looksAtParts                      // see onParts
	looksAtMessages                   // at whole ones
	looksAtReaction                   // at what the other side does about it
	looksAtEnd                        // at what the connection had come to in the end
	allLooks        = iota
)

func (r *rule) looksAt() (l looks) {
	for i, is := range [allLooks]bool{
		r.onStream(), r.first, r.anywhere, r.onParts(), r.message != nil, r.advice != nil || r.reacts,
		r.end != nil || r.advice != nil || r.capture != nil,
	} {
		l |= looks(bit(is)) << i //nolint:gosec // 0 or 1
	}
	return l
}

// missing is what rules may not have seen on a connection: the same for all that look
// at the same.
type missing [1 << allLooks]Gate

// lookedUp marks what was looked up already; it is no gate.
const lookedUp Gate = 1 << 15

// of returns what a rule that was kept in all that was captured would need to have
// been kept on the connection.
func (m *missing) of(c *conn, r *rule) Gate {
	g := &m[r.looks]
	if *g == 0 {
		*g = lookedUp | c.unseen(r.looks)
	}
	return *g &^ lookedUp
}

// told is what the latest verdicts follow from. Thousands of connections have the same,
// where nothing is broken and no evidence lacks.
type told struct {
	judged []uint64 // none: something was broken or lacked
	lost   missing
}

func (k *told) note(c *conn, lost *missing) {
	if k.judged = k.judged[:0]; c.rules.clean() {
		k.judged, k.lost = append(k.judged, c.rules.judged...), *lost
	}
}

// holdFor reports whether the verdicts on a connection are the same.
func (k *told) holdFor(c *conn) bool {
	if len(k.judged) == 0 || !c.rules.clean() || !slices.Equal(k.judged, c.rules.judged) {
		return false
	}
	for l, g := range k.lost {
		if g != 0 && g != lookedUp|c.unseen(looks(l)) {
			return false
		}
	}
	return true
}

// unseen returns what a rule would need for that: something that it speaks of may be
// in what was not captured. What comes behind the end of a capture is not meant.
func (c *conn) unseen(l looks) Gate {
	if l&looksAtStream == 0 && c.request != nil && c.reply != nil {
		if l&looksAtFirst != 0 {
			return c.unseenFirst()
		}
		return 0 // it speaks of the startup, or has told what it lacks at the end
	}
	for i := range c.half {
		h, f := &c.half[i], &c.t.Flow[i]
		switch {
		case !h.began && !c.t.SYN, c.t.Transport == trace.TCP && !h.began && !c.starts(h):
			return Start
		case f.Frames == 0:
			return Bidir
		case h.hole || f.Waiting:
			return Contig
		case l&looksAnywhere != 0 && c.t.Transport == trace.SCTP && c.t.Side[i].SCTP.GapTSNs > 0:
			return Contig
		case c.t.Transport == trace.TCP && (f.Unframed > 0 || f.Cut && h.to < f.Sent):
			return Sync
		case h.headless, h.part && l&looksAtParts != 0:
			return Full
		case l&looksAtMessages != 0 && h.cutShort != nil && c.t.Ending == trace.Open:
			return MsgSync
		case l&looksAtReaction != 0 && c.t.Ending == trace.Open:
			return End
		case l&looksAtEnd != 0 && f.FIN == nil && f.Acked > f.Sent:
			return End // a FIN that was acknowledged
		}
	}
	return 0
}

// unseenFirst returns what it lacks to say that the initiator sent no FPDU.
func (c *conn) unseenFirst() Gate {
	h, f := &c.half[trace.I2R], &c.t.Flow[trace.I2R]
	switch {
	case h.count > 0:
		return 0
	case h.hole || f.Waiting:
		return Contig
	case f.Unframed > 0 || f.Cut:
		return Sync
	case c.t.Ending == trace.Open:
		return End
	}
	return 0
}

// onStream reports whether a rule is asked about anything behind the startup, or
// looks at it in the end.
func (r *rule) onStream() bool {
	return (r.end != nil && !r.tells || r.advice != nil || r.capture != nil) && !aboutStartup[r.id] || r.fpdu != nil || r.segment != nil || r.exchange != nil || r.message != nil || r.terminate != nil || r.control != nil || r.chunk != nil || r.loose != nil
}

// onParts reports whether a rule may have been about octets of an FPDU that were
// cut off.
func (r *rule) onParts() bool {
	return r.fpdu != nil || r.end != nil || r.terminate != nil || r.needs&Full != 0
}

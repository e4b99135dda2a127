package conformance

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// opening is how a direction begins full operation: the first FPDUs, as far as the
// order of startup and FPDUs depends on them.
type opening struct {
	count uint64
	// first is the first FPDU whatever its CRC; refused is the first one after a
	// rejecting Reply, nil if there is none; knowing is the one whose sender had
	// received most, nil if that is the first one.
	first            fpduNote
	refused, knowing *fpduNote
	// good is the end of the first FPDU with a right CRC, or 0.
	good int64
	// sound: the CRC of the last FPDU is right.
	sound bool
}

// fpduNote is what is kept of an FPDU.
type fpduNote struct {
	span
	seen       bool
	dir        trace.Dir
	frame, pdu uint64
	op         rdmap.Opcode
	code       rdmap.TermCode
	crc        mpa.CRCStatus
	// whole: all of it was sent; lead: it begins with a marker; alone: that marker
	// has a TCP segment of its own.
	whole, lead, alone bool
}

func (n *fpduNote) where() Place {
	return Place{Dir: n.dir, HasDir: true, Frame: n.frame, PDU: n.pdu, HasPDU: true}
}

func noteOf(p *trace.PDU) fpduNote {
	f := p.FPDU
	return fpduNote{
		span: spanOf(p), seen: true, dir: p.Dir, frame: p.Frame, pdu: p.Number, op: p.Control.Opcode, code: p.TermCode, crc: f.CRCStatus,
		whole: f.Unsent == 0, lead: f.Lead, alone: f.Lead && partsAt(p.Bounds, mpa.MarkerSize),
	}
}

// partsAt reports whether the first segment of a PDU ends there.
func partsAt(bounds []int, at int) bool {
	for _, b := range bounds {
		if b > 0 {
			return b == at
		}
	}
	return false
}

// maxKnowing is how many FPDUs are searched for the one whose sender had received
// most: by then it has the startup frame of the other side.
const maxKnowing = 64

func (o *opening) add(p *trace.PDU) {
	o.count++
	switch {
	case o.count == 1:
		o.first = noteOf(p)
	case o.count <= maxKnowing && p.Acked > o.most().acked:
		n := noteOf(p)
		o.knowing = &n
	}
	o.sound = p.FPDU.CRCStatus == mpa.CRCGood
	if o.good == 0 && o.sound {
		o.good = p.From + p.Length
	}
	if o.refused == nil && p.Conn.Outcome == trace.Rejected {
		n := noteOf(p)
		o.refused = &n
	}
}

// most is the FPDU whose sender had received most.
func (o *opening) most() *fpduNote {
	if o.knowing != nil {
		return o.knowing
	}
	return &o.first
}

// maxFrames is how many startup frames of a direction are kept. There is one, unless
// the other side rejected it.
const maxFrames = 8

// ofKind returns the startup frames of a kind that the half sent.
func (h *half) ofKind(k trace.Kind) (out []*frame) {
	for _, f := range h.frames {
		if f.kind == k {
			out = append(out, f)
		}
	}
	return out
}

// firstOf returns the first startup frame of a kind that the half sent, nil if there is
// none.
func (h *half) firstOf(k trace.Kind) *frame {
	for _, f := range h.frames {
		if f.kind == k {
			return f
		}
	}
	return nil
}

// pair returns the Request and the Reply that belong together, the last ones of the
// connection; nil if they were not seen.
func (c *conn) pair() (q, r *frame) {
	if q = c.request; q != nil && q.dir != trace.I2R {
		q = nil
	}
	if r = c.reply; r != nil && (r.dir != trace.R2I || q != nil && q.knew(r.end) == having) {
		r = nil // a Reply that came before the Request, which is the second one
	}
	return q, r
}

// started is where the last startup frame of the half ends, 0 if it sent none.
func (h *half) started() int64 {
	if n := len(h.frames); n > 0 {
		return h.frames[n-1].end
	}
	return 0
}

// looseAt returns the octets outside frames and FPDUs that begin at an offset of the
// stream, nil if there are none.
func (h *half) looseAt(from int64) *loose {
	for i := range h.looses {
		if h.looses[i].from == from {
			return &h.looses[i]
		}
	}
	return nil
}

// starts reports whether it is known where the stream of a half begins.
func (c *conn) starts(h *half) bool {
	mine, its := &c.t.Flow[h.dir], &c.t.Flow[h.peer.dir]
	return mine.SYN || its.SYN && !its.Opens
}

// allOf reports whether everything that a half sent was captured.
func (c *conn) allOf(h *half) bool {
	return c.starts(h) && !h.hole && !c.t.Flow[h.dir].Cut
}

// startupGates is the evidence for an event of the startup in these directions: where
// each begins may be known from its SYN alone.
func (c *conn) startupGates(halves ...*half) Gate {
	have := c.endGates() | Start | Contig | Sync | Sum
	for _, h := range halves {
		if !h.began && !c.starts(h) {
			have &^= Start
		}
		if h.hole {
			have &^= Contig
		}
		if h.unsure {
			have &^= Sync
		}
		if c.t.Flow[h.dir].SumsUnsure {
			have &^= Sum
		}
	}
	return have
}

// startupEvidence is the evidence have for an event that concerns a startup frame:
// what was missing of its direction when it came counts, and nothing that came later.
func (f *frame) startupEvidence(have Gate) Gate {
	const own = Start | Contig
	return have&^own | f.gates&own
}

// headed reports whether octets that stand where an FPDU is expected have the control
// octets of one. Then they are a damaged FPDU.
func headed(b []byte) bool {
	const lengthSize = 2
	for _, lead := range [...]int{0, mpa.MarkerSize} {
		if len(b) < lead+lengthSize+2 || lead > 0 && !zeroMarker(b) {
			continue
		}
		ddp, rdma := b[lead+lengthSize], b[lead+lengthSize+1]
		op := rdmap.ControlOf(rdma).Opcode
		// Reserved bits and the high bit of both versions.
		if ddp&0x3e == 0 && rdma&0xb0 == 0 && op.Assigned() && op.Tagged() == (ddp&0x80 != 0) {
			return true
		}
	}
	return false
}

// minFPDU is the size of the smallest FPDU: a tagged header and nothing else.
const minFPDU = 2 + mpa.MinULPDU + crcSize

// firstEnd is the end of the first FPDU of the initiator. If that was not captured or
// never completed, it is an offset before which none can end, and exact is false.
func (c *conn) firstEnd(q *frame) (end int64, exact bool) {
	o := &c.half[trace.I2R].opening
	if o.seen() && o.first.whole && o.first.from == q.end {
		return o.first.end, true
	}
	return q.end + minFPDU, false
}

// zeroMarker reports whether octets begin with what the first marker of a stream
// looks like.
func zeroMarker(b []byte) bool {
	return len(b) >= mpa.MarkerSize && binary.BigEndian.Uint32(b) == 0
}

// keyed reports whether octets begin with the key of a Request or a Reply.
func keyed(b []byte) bool {
	k, ok := mpa.KeyKind(b)
	return ok && k != mpa.StartupRTR
}

func (o *opening) seen() bool { return o.count > 0 }

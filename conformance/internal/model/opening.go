package model

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// opening is how a direction begins full operation: its first FPDUs, as far as the order
// of startup and FPDUs depends on them.
type opening struct {
	Count uint64
	// most is how much of the other direction the sender of an FPDU had at most.
	most int64
	// First is the first FPDU, even with a wrong CRC; Refused is the first one after a
	// rejecting Reply, nil if there is none; later are those whose senders had received more
	// than the first one had, nil if there are none.
	First   FPDUNote
	Refused *FPDUNote
	later   *later
	// Good is the end of the first FPDU with a right CRC, or 0.
	Good int64
}

// later are FPDUs before which their sender had received more than before those that came
// earlier: the first ones, and the last one.
type later struct {
	rises [maxRises]risen // n of them
	n     int
	most  risen
}

// risen is such an FPDU.
type risen struct {
	acked      int64
	frame, pdu uint64
	refuses    bool
}

func (n *FPDUNote) risen() risen { return risen{n.Acked, n.frame, n.pdu, n.Refuses()} }

func risenOf(p *trace.PDU) risen {
	return risen{p.Acked, p.Frame, p.Number, refuses(p.Control.Opcode, p.TermCode)}
}

// Knew is [Span.Knew] for it.
func (n *risen) Knew(end int64) Order {
	span := Span{Acked: n.acked}
	return span.Knew(end)
}

// in is its place.
func (n *risen) in(d trace.Dir) Place {
	return Place{Dir: d, HasDir: true, Frame: n.frame, PDU: n.pdu, HasPDU: true}
}

// FPDUNote is what is kept of an FPDU.
type FPDUNote struct {
	Span
	frame, pdu uint64
	begun      uint64 // the frame that carried its first octets
	Seen       bool
	Dir        trace.Dir
	Op         rdmap.Opcode
	code       rdmap.TermCode
	CRC        mpa.CRCStatus
	// whole: all of it was sent; lead: it begins with a marker; alone: that marker is in a
	// TCP segment of its own.
	whole, Lead, Alone bool
	// BehindGap: octets were missing, of either direction, that may have come before it.
	BehindGap bool
}

// Where is the place of the FPDU.
func (n *FPDUNote) Where() Place {
	return Place{Dir: n.Dir, HasDir: true, Frame: n.frame, PDU: n.pdu, HasPDU: true}
}

// Begin is the place of the FPDU, in the frame in which its first octets left.
func (n *FPDUNote) Begin() Place {
	at := n.Where()
	at.Frame = n.begun
	return at
}

func noteOf(p *trace.PDU) FPDUNote {
	f := p.FPDU
	return FPDUNote{
		Span: SpanOf(p), Seen: true, Dir: p.Dir, frame: p.Frame, pdu: p.Number, Op: p.Control.Opcode, code: p.TermCode, CRC: f.CRCStatus,
		whole: f.Unsent == 0, Lead: f.Lead, Alone: f.Lead && partsAt(p.Bounds, mpa.MarkerSize),
		begun: begunIn(p),
	}
}

// begunIn is the frame that carried the first octets of a PDU.
func begunIn(p *trace.PDU) uint64 {
	if p.Begun > 0 {
		return p.Begun
	}
	return frameOf(p)
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

// maxRises bounds the FPDUs that are kept of those: the startup frame of the other side
// comes first, in one segment or a few.
const maxRises = 4

func (o *opening) add(p *trace.PDU, k *pool) {
	o.Count++
	switch {
	case o.Count == 1:
		o.First, o.most = noteOf(p), p.Acked
	case o.Count <= maxKnowing && p.Acked > o.most:
		if o.later == nil {
			o.later = k.later.Take()
		}
		r := risenOf(p)
		o.later.most, o.most = r, r.acked
		if k := o.later; k.n < maxRises {
			k.rises[k.n] = r
			k.n++
		}
	}
	if o.Good == 0 && p.FPDU.CRCStatus == mpa.CRCGood {
		o.Good = p.From + p.Length
	}
	if o.Refused == nil && p.Conn.Outcome == trace.Rejected {
		n := noteOf(p)
		for d := range p.Conn.Flow {
			f := &p.Conn.Flow[d]
			n.BehindGap = n.BehindGap || f.Waiting || f.Rare().GapOctets > 0
		}
		o.Refused = &n
	}
}

// best is the FPDU whose sender had received most.
func (o *opening) best() risen {
	if o.later != nil {
		return o.later.most
	}
	return o.First.risen()
}

// knew is the first FPDU whose sender had received the other direction up to end; if there is
// none, the one whose sender had received most.
func (o *opening) knew(end int64) risen {
	if o.First.Knew(end) == Having {
		return o.First.risen()
	}
	if o.later != nil {
		for i := range o.later.n {
			if n := o.later.rises[i]; n.Knew(end) == Having {
				return n
			}
		}
	}
	return o.best()
}

// OfKind returns the startup frames of a kind that the direction sent.
func (h *Direction) OfKind(k trace.Kind) (out []*Frame) {
	for f := range h.Frames {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}

// FirstOf returns the first startup frame of a kind that the direction sent, nil if there is
// none.
func (h *Direction) FirstOf(k trace.Kind) *Frame {
	for f := range h.Frames {
		if f.Kind == k {
			return f
		}
	}
	return nil
}

// Pair returns the Request and the Reply that belong together, the last ones of the
// connection; nil if they were not seen.
func (c *Conn) Pair() (q, r *Frame) {
	if q = c.Request; q != nil && q.Dir != trace.I2R {
		q = nil
	}
	if r = c.Reply; r != nil && (r.Dir != trace.R2I || q != nil && q.Knew(r.End) == Having) {
		r = nil // a Reply that came before the Request, which is the second one
	}
	return q, r
}

// Started is the offset where the last startup frame of the direction ends, 0 if it sent
// none.
func (h *Direction) Started() int64 {
	if f := h.lastFrame(); f != nil {
		return f.End
	}
	return 0
}

// LooseAt returns the octets outside frames and FPDUs that begin at an offset of the
// stream, nil if there are none.
func (h *Direction) LooseAt(from int64) *Loose {
	for i := range h.looses() {
		if h.looses()[i].From == from {
			return &h.looses()[i]
		}
	}
	return nil
}

// Starts reports whether it is known where the stream of a direction begins.
func (c *Conn) Starts(h *Direction) bool {
	f := &c.Trace.Flow[h.Dir]
	return f.Started || f.SYNAnswered
}

// AllOf reports whether everything that a direction sent was captured.
func (c *Conn) AllOf(h *Direction) bool {
	return c.Starts(h) && !h.Hole && !c.Trace.Flow[h.Dir].Cut
}

// FirstDamaged reports whether the first packets of a side may have been damaged on their way: their checksums are
// wrong, and those that followed are right. Their octets were taken in, as those of a sender whose adapter fills in
// its checksums.
func (c *Conn) FirstDamaged() bool {
	return c.Trace.Transport == trace.TCP && (c.Trace.Flow[0].SumsUnsure || c.Trace.Flow[1].SumsUnsure)
}

// RequiresCRC reports whether a startup frame of the connection has C=1, which makes CRCs compulsory for both sides
// whatever the other frame says (RFC 5044 section 7.1.1).
func (c *Conn) RequiresCRC() bool {
	return c.Trace.Outcome != trace.Rejected && (c.wholeRequest && c.Request.C || c.wholeReply && c.Reply.C)
}

// StartupGates is the evidence for a startup event in these directions; the SYN alone may
// establish where each begins.
func (c *Conn) StartupGates(directions ...*Direction) catalogue.Gate {
	have := c.EndGates() | catalogue.Start | catalogue.Contig | catalogue.Sync | catalogue.Sum
	for _, h := range directions {
		if !h.Began && !c.Starts(h) {
			have &^= catalogue.Start
		}
		if h.Hole {
			have &^= catalogue.Contig
		}
		if h.Unsure {
			have &^= catalogue.Sync
		}
		if c.Trace.Flow[h.Dir].SumsUnsure {
			have &^= catalogue.Sum
		}
	}
	return have
}

// perhapsPayload reports whether a startup frame of a direction may be in the payload of a message: the capture begins late, and
// other octets are in front of it. What follows it may prove that it is none.
func (c *Conn) perhapsPayload(h *Direction) bool {
	return !c.Trace.SYN && !c.Starts(h) && !h.HasFrames() && len(h.looses()) > 0
}

// KeysInDoubt reports whether the startup frames may be in the payload of messages: nothing proves that of one of them.
func (c *Conn) KeysInDoubt() bool {
	for i := range c.Directions {
		if h := &c.Directions[i]; h.HasFrames() && !h.Began && !c.Starts(h) {
			return true
		}
	}
	return false
}

// provesFrame reports whether an FPDU right behind the startup frame of a direction proves that this is one.
func (h *Direction) provesFrame(p *trace.PDU) bool {
	if h.Began || h.Count > 0 || !h.HasFrames() || p.From != h.NextOffset || p.FPDU.Sync != mpa.InSync {
		return false
	}
	return p.FPDU.CRCStatus == mpa.CRCGood || p.FPDU.CRCStatus == mpa.CRCOff && Headed(p.FPDU.Wire)
}

// StartupEvidence is the evidence have for an event that concerns a startup frame:
// what was missing of its direction when it came counts, and nothing that came later.
func (f *Frame) StartupEvidence(have catalogue.Gate) catalogue.Gate {
	const own = catalogue.Start | catalogue.Contig
	return have&^own | f.gates&own
}

// Headed reports whether octets in place of an FPDU have plausible control octets. Then
// they are a damaged FPDU.
func Headed(b []byte) bool {
	return HeadedAt(b, 0) || ZeroMarker(b) && HeadedAt(b, mpa.MarkerSize)
}

// HeadedAt reports whether plausible control octets follow ULPDU_Length, if that begins at lead.
func HeadedAt(b []byte, lead int) bool {
	if len(b) < lead+LengthSize+2 {
		return false
	}
	ddp, rdma := b[lead+LengthSize], b[lead+LengthSize+1]
	op := rdmap.ControlOf(rdma).Opcode
	// Reserved bits and the high bit of both versions.
	return ddp&0x3e == 0 && rdma&0xb0 == 0 && op.Assigned() && op.Tagged() == (ddp&0x80 != 0)
}

// minFPDU is the size of the smallest FPDU: a tagged header and nothing else.
const minFPDU = 2 + mpa.MinULPDU + CrcSize

// FirstEnd is the end of the first FPDU of the initiator. If that was not captured or
// never completed, the offset is a lower bound, and exact is false.
func (c *Conn) FirstEnd(q *Frame) (end int64, exact bool) {
	o := &c.Directions[trace.I2R].Opening
	if o.Seen() && o.First.whole && o.First.From == q.End {
		return o.First.End, true
	}
	return q.End + minFPDU, false
}

// ZeroMarker reports whether octets begin like the first marker of a stream.
func ZeroMarker(b []byte) bool {
	return len(b) >= mpa.MarkerSize && binary.BigEndian.Uint32(b) == 0
}

// Keyed reports whether octets begin with the key of a Request or a Reply.
func Keyed(b []byte) bool {
	k, ok := mpa.KeyKind(b)
	return ok && k != mpa.StartupRTR
}

func (o *opening) Seen() bool { return o.Count > 0 }

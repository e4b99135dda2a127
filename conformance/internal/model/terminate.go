package model

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Terminate is the current Terminate.
type Terminate struct {
	*Segment
	// Straight is as the RFC lays it out, code as it is chosen to be read.
	Straight rdmap.Terminate
	Broken   error
	Code     rdmap.TermCode
	Swapped  bool
	// Quote is what it quotes in the chosen reading, Header the quoted one.
	Quote  rdmap.Terminate
	Header *ddp.Segment
	Op     rdmap.Opcode // of the quoted segment
	// Sent are the segments of the other direction that have the quoted header, the
	// latest one first, Asked the request that it leads to.
	Sent  []Sent
	Asked *asked
	// OnlyReserved: its reserved bits are its only fault.
	OnlyReserved bool
}

// terminated records a Terminate.
func (c *Conn) terminated(s *Segment, have catalogue.Gate) {
	if rel, _ := s.Relate(); rel == GoesOn {
		return // a part of the one that its first segment was taken for
	}
	t := &Terminate{Segment: s}
	var err error
	t.Straight, err = rdmap.DecodeTerminate(s.Body)
	s.Terminates++
	if len(s.Body) < rdmap.TerminateLen {
		return
	}
	t.Broken = err
	t.Code, t.Swapped, t.Quote = s.PDU.TermCode, s.PDU.TermSwapped, t.Straight
	if t.Swapped {
		t.Quote, _ = rdmap.DecodeTerminateSwapped(s.Body)
		t.OnlyReserved = t.Straight.Rsvd != 0
	}
	if d := t.Quote.DDPHeader; d != nil && s.Terminates <= maxTerminates {
		var h ddp.Segment
		if ddp.DecodeTo(&h, d) == nil {
			t.Header, t.Op = &h, rdmap.ControlOf(h.RsvdULP).Opcode
			t.Sent = t.ofQuotedLength(t.Peer.Sent.find(d))
			if !h.Tagged && h.QN == 1 {
				t.Asked = t.Peer.Asked.find(h.MSN)
			}
		}
	}
	t.refuses()
	if s.FirstTerminate == nil {
		s.FirstTerminate = t.keep()
		if s.FirstTerminate.quotesNone(s.PDU.Conn) {
			s.Peer.steady.on = false
		}
	}
	c.Tell.Terminate(t, have)
}

// ofQuotedLength returns those of the segments with the quoted header whose length, with or without
// the header, is quoted as well; all of them if there is none or the length was not quoted.
func (t *Terminate) ofQuotedLength(all []Sent) []Sent {
	n := int64(t.Quote.SegLength)
	other := func(x Sent) bool { return int64(x.Length) != n && x.Octets() != n }
	if !t.Quote.HasSegLength || !slices.ContainsFunc(all, func(x Sent) bool { return !other(x) }) {
		return all
	}
	return slices.DeleteFunc(all, other)
}

// maxTerminates bounds those of a direction whose quotes are looked up: there should
// be one.
const maxTerminates = 16

// Names of fields of a Terminate, which depend on its layer.
const (
	TermCode   = "iwarp_rdma.term_errcode"
	TermEType  = "iwarp_rdma.term_etype"
	TermHeader = "iwarp_rdma.term_ddp_h"
)

// FieldName is the name that a field has in this Terminate.
func (t *Terminate) FieldName(name string) string {
	switch name {
	case TermHeader:
		if t.Swapped {
			return "iwd.term.swapped_ddp_h"
		}
	case TermCode, TermEType, "iwarp_rdma.term_layer", "iwarp_rdma.term_hdrct_m", "iwarp_rdma.hdrct_r":
		switch k := &t.Straight; {
		case t.Swapped:
			return "iwd.term.swapped_name"
		case name == TermCode:
			return rdmap.CodeField(k.Layer, k.EType).Name
		case name == TermEType:
			return rdmap.ETypeField(k.Layer).Name
		}
	}
	return name
}

// Cause is the place of the PDU that the Terminate quotes, if it was found, and of several
// that fit the latest. It is to be seen with the Terminate.
func (t *Terminate) Cause() (p Place, ok bool) {
	x := t.PDU.Terminate
	if x == nil || !x.Quote.Match.Found() {
		return p, false
	}
	q := &x.Quote
	p = Place{Dir: t.Peer.Dir, HasDir: true, Frame: q.Frame, PDU: q.PDU, HasPDU: true, Offset: q.Offset, HasOffset: q.HasOffset}
	if r := t.Refused(); r != nil {
		p = r.Where(t.Peer.Dir)
	}
	p.Related = []uint64{t.PDU.Number}
	return p, true
}

// Refused is the unanswered request that the Terminate quotes; nil if there is none.
func (t *Terminate) Refused() *Request {
	x := t.PDU.Terminate
	if x == nil || !x.Quote.Match.Found() {
		return nil
	}
	for i := range t.Peer.Requests {
		if r := &t.Peer.Requests[i]; r.At.PDU == x.Quote.PDU {
			return r
		}
	}
	return nil
}

// Plausible reports whether the quoted message is valid at any time, and is none that stands in the place of a
// ready-to-receive indication, which may have to be of another kind.
func (t *Terminate) Plausible(c *Conn) bool {
	if t.Header.Tagged != t.Op.Tagged() {
		return false
	}
	switch t.Op {
	case OpSend:
		return t.Header.QN == 0 && (t.Header.MSN > 1 || t.Header.MSN == 1 && (t.Peer.Dir == trace.R2I || c.clientServer()))
	case OpWrite:
		return t.Payload() && t.Peer.Count > 1
	default:
		return false
	}
}

// clientServer reports whether the startup shows that nothing has to come before the first message of the
// initiator: no side sets a flag of the enhanced data, in any layout.
func (c *Conn) clientServer() bool {
	ini, res := &c.Trace.Side[trace.I2R], &c.Trace.Side[trace.R2I]
	flags := func(s *trace.Side) bool {
		return s.HasEnhanced && (s.Enhanced.A || s.Enhanced.B || s.Enhanced.C || s.Enhanced.D)
	}
	return c.Trace.Negotiated && c.Trace.Layout != mpa.LayoutRTR2007 && ini.HasStartup && res.HasStartup && !flags(ini) && !flags(res)
}

// QuotedRead is the Read Request that a Terminate quotes, and the one it was.
func (t *Terminate) QuotedRead() (q, was rdmap.ReadRequest, ok bool) {
	if t.OnlyReserved || !t.Code.R || t.Asked == nil || t.Asked.Atomic || t.Op != OpReadRequest {
		return q, was, false // with another opcode it is RDMAP-TERM-HDRCT-01
	}
	q, ok = t.Quote.ReadRequest()
	return q, t.Asked.Request, ok
}

// AskedAtomics reports whether the side that sends the Terminate sent Atomic Requests.
func (t *Terminate) AskedAtomics() bool { return t.Direction.atomics > 0 }

// Got is how much of the quoted Read was answered.
func (t *Terminate) Got() uint64 {
	if r := t.Peer.Outstanding(t.Asked.Nth); r != nil {
		return r.Got
	}
	return uint64(t.Asked.Request.Size)
}

// Quotes reports whether the first Terminate of a direction quotes a segment that was
// found.
func (h *Direction) Quotes() bool { return h.FirstTerminate != nil && len(h.FirstTerminate.Sent) > 0 }

// FirstTerminate is the first Terminate of the connection that the other side has received, or
// has answered with one of its own; nil if there is none.
func (c *Conn) FirstTerminate() (first *SentTerminate) {
	for i := range c.Directions {
		h := &c.Directions[i]
		w := h.FirstTerminate
		if w != nil && (h.Peer.FirstTerminate != nil || w.End <= c.Trace.Flow[h.Dir].Acked) && (first == nil || w.Time < first.Time) {
			first = w
		}
	}
	return first
}

// CodeText is an error code for people: layer, type and code.
func CodeText(k rdmap.TermCode) string {
	return fmt.Sprintf("%d/%d/%02x", k.Layer, k.EType, k.Code)
}

// BitsText is the header control bits for people.
func BitsText(k rdmap.TermCode) string {
	return fmt.Sprintf("M=%d D=%d R=%d", Bit(k.M), Bit(k.D), Bit(k.R))
}

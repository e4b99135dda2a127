package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// terminate is a Terminate at hand.
type terminate struct {
	*segment
	// straight is as the RFC lays it out, code as it is chosen to be read.
	straight rdmap.Terminate
	broken   error
	code     rdmap.TermCode
	swapped  bool
	// quote is what it quotes in the chosen reading, header the quoted one.
	quote  rdmap.Terminate
	header *ddp.Segment
	op     rdmap.Opcode // of the quoted segment
	// sent are the segments of the other half that have the quoted header, the
	// latest one first, asked the request that it leads to.
	sent  []sent
	asked *asked
	// onlyReserved: its reserved bits are all that is to be said of it.
	onlyReserved bool
}

// terminated takes in a Terminate.
func (c *conn) terminated(s *segment, have Gate) {
	t := &terminate{segment: s}
	var err error
	t.straight, err = rdmap.DecodeTerminate(s.body)
	s.terminates++
	if len(s.body) < rdmap.TerminateLen {
		return
	}
	t.broken = err
	t.code, t.swapped, t.quote = s.p.TermCode, s.p.TermSwapped, t.straight
	if t.swapped {
		t.quote, _ = rdmap.DecodeTerminateSwapped(s.body)
		t.onlyReserved = t.straight.Rsvd != 0
	}
	if d := t.quote.DDPHeader; d != nil && s.terminates <= maxTerminates {
		var h ddp.Segment
		if ddp.DecodeTo(&h, d) == nil {
			t.header, t.op = &h, rdmap.ControlOf(h.RsvdULP).Opcode
			t.sent = t.peer.sent.find(d)
			if !h.Tagged && h.QN == 1 {
				t.asked = t.peer.asked.find(h.MSN)
			}
		}
	}
	t.refuses()
	if s.word == nil {
		s.word = t.keep()
	}
	c.tell.Terminate(t, have)
}

// maxTerminates bounds those of a half whose quotes are looked up: there should
// be one.
const maxTerminates = 16

// Names of fields of a Terminate, which depend on its layer.
const (
	termCode   = "iwarp_rdma.term_errcode"
	termEType  = "iwarp_rdma.term_etype"
	termHeader = "iwarp_rdma.term_ddp_h"
)

// fieldName is the name that a field has in this Terminate.
func (t *terminate) fieldName(name string) string {
	switch name {
	case termHeader:
		if t.swapped {
			return "iwd.term.swapped_ddp_h"
		}
	case termCode, termEType, "iwarp_rdma.term_layer", "iwarp_rdma.term_hdrct_m", "iwarp_rdma.hdrct_r":
		switch k := &t.straight; {
		case t.swapped:
			return "iwd.term.swapped_name"
		case name == termCode:
			return rdmap.CodeField(k.Layer, k.EType).Name
		case name == termEType:
			return rdmap.ETypeField(k.Layer).Name
		}
	}
	return name
}

// plausible reports whether the quoted message is one that can come at any time,
// and is not the first of its half.
func (t *terminate) plausible() bool {
	if t.header.Tagged != t.op.Tagged() {
		return false
	}
	switch t.op {
	case opSend:
		return t.header.QN == 0 && t.header.MSN > 1
	case opWrite:
		return t.payload() && t.peer.count > 1
	default:
		return false
	}
}

// quotedRead is the Read Request that a Terminate quotes, and the one it was.
func (t *terminate) quotedRead() (q, was rdmap.ReadRequest, ok bool) {
	if t.onlyReserved || !t.code.R || t.asked == nil || t.asked.atomic || t.op != opReadRequest {
		return q, was, false // with another opcode it is RDMAP-TERM-HDRCT-01
	}
	q, ok = t.quote.ReadRequest()
	return q, t.asked.request, ok
}

// got is how much of the quoted Read was answered.
func (t *terminate) got() uint64 {
	if r := t.peer.outstanding(t.asked.nth); r != nil {
		return r.got
	}
	return uint64(t.asked.request.Size)
}

// quotes reports whether the first Terminate of a half quotes a segment that was
// found.
func (h *half) quotes() bool { return h.word != nil && len(h.word.sent) > 0 }

// firstWord is the first Terminate of the connection that the other side has, or has
// answered with one of its own; nil if there is none.
func (c *conn) firstWord() (first *word) {
	for i := range c.half {
		h := &c.half[i]
		w := h.word
		if w != nil && (h.peer.word != nil || w.end <= c.t.Flow[h.dir].Acked) && (first == nil || w.time < first.time) {
			first = w
		}
	}
	return first
}

// codeText is an error code for people: layer, type and code.
func codeText(k rdmap.TermCode) string {
	return fmt.Sprintf("%d/%d/%02x", k.Layer, k.EType, k.Code)
}

// bitsText is the header control bits for people.
func bitsText(k rdmap.TermCode) string {
	return fmt.Sprintf("M=%d D=%d R=%d", bit(k.M), bit(k.D), bit(k.R))
}

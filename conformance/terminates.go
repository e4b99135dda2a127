package conformance

import (
	"bytes"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
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
	c.ask(c.lists().terminate, have, func(r *rule) {
		from := len(c.findings)
		r.terminate(c, t)
		t.named(c.findings[from:])
	})
}

// Names of fields of a Terminate, which depend on its layer.
const (
	termCode   = "iwarp_rdma.term_errcode"
	termEType  = "iwarp_rdma.term_etype"
	termHeader = "iwarp_rdma.term_ddp_h"
)

// named gives findings the names that fields have in this Terminate.
func (t *terminate) named(fs []Finding) {
	for i := range fs {
		f := &fs[i]
		switch k := &t.straight; f.Field {
		case termHeader:
			if t.swapped {
				f.Field = "iwd.term.swapped_ddp_h"
			}
		case termCode, termEType, "iwarp_rdma.term_layer", "iwarp_rdma.term_hdrct_m", "iwarp_rdma.hdrct_r":
			switch {
			case t.swapped:
				f.Field = "iwd.term.swapped_name"
			case f.Field == termCode:
				f.Field = rdmap.CodeField(k.Layer, k.EType).Name
			case f.Field == termEType:
				f.Field = rdmap.ETypeField(k.Layer).Name
			}
		}
	}
}

// maxTerminates bounds those of a half whose quotes are looked up: there should
// be one.
const maxTerminates = 16

// terminateChecks are about Terminates (RFC 5040 section 4.8, RFC 6580).
var terminateChecks = []check{
	{id: "RDMAP-TERM-QN-01", needs: Sync, terminate: func(c *conn, t *terminate) {
		if t.seg.Tagged || !c.applies() {
			return
		}
		if t.seg.QN != 2 || t.seg.MSN != 1 && c.have&Start != 0 && t.terminates == 1 {
			c.at(t.segment, "the Terminate is not the first message of queue 2", fmt.Sprintf("QN %d, MSN %d", t.seg.QN, t.seg.MSN), "QN 2, MSN 1")
		}
	}},
	{id: "RDMAP-TERM-SEG-01", needs: Sync, terminate: func(c *conn, t *terminate) {
		if !c.applies() {
			return
		}
		switch {
		case !t.seg.Last && t.broken == nil:
			c.at(t.segment, "the Terminate is complete, and L is not set", "L=0", "L=1")
		case !t.seg.Last, t.seg.MO != 0:
			c.as(Warning, t.segment, "the Terminate is in several segments, although it fits one", fmt.Sprintf("MO %d, L=%d", t.seg.MO, bit(t.seg.Last)), "MO 0, L=1")
		}
	}},
	{id: "RDMAP-TERM-ONCE-01", needs: Sync, terminate: func(c *conn, t *terminate) {
		if c.applies() && t.terminates > 1 {
			c.at(t.segment, "a second Terminate in the direction", fmt.Sprint(t.terminates), "1")
		}
	}},
	{id: "RDMAP-TERM-AFTER-01", shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || s.terminates == 0 || s.op == opTerminate {
			return
		}
		if c.applies() && c.once(s.half) {
			c.at(s, "a message behind the Terminate of the same side", s.op.String(), "nothing")
		}
	}, terminate: func(c *conn, _ *terminate) { c.applies() }},
	{id: "RDMAP-TERM-RSVD-01", terminate: func(c *conn, t *terminate) {
		if c.applies() && t.straight.Rsvd != 0 {
			c.at(t.segment, "reserved bits of the Terminate are set", fmt.Sprintf("%#04x", t.straight.Rsvd), "0")
		}
	}},
	termTable("RDMAP-TERM-LAYER-01", func(*terminate) bool { return true }, func(c *conn, t *terminate) {
		if t.code.Layer > 2 {
			c.at(t.segment, "the layer of the Terminate does not exist", fmt.Sprint(t.code.Layer), "0 to 2")
		}
	}),
	termTable("RDMAP-TERM-CODE-01", layer(rdmap.LayerRDMAP), func(c *conn, t *terminate) {
		if !t.code.Assigned() {
			c.at(t.segment, "an error of RDMAP that is not assigned", codeText(t.code), "type 0; type 1 codes 0 to 4, 9, ff; type 2 codes 5 to 9, ff")
		}
	}),
	termTable("RDMAP-TERM-CODE-02", layer(rdmap.LayerRDMAP), func(c *conn, t *terminate) {
		if t.header == nil || !t.code.Assigned() || c.gates(t.peer)&Sync == 0 {
			return
		}
		quoted := rdmap.ControlOf(t.header.RsvdULP)
		switch k := t.code; {
		case k.EType == 2 && k.Code == 5 && t.peer.hasVersions && quoted.RV == t.peer.rv:
			c.at(t.segment, "the quoted message has the version of the stream", fmt.Sprintf("RV %d", quoted.RV), "another version")
		case k.Code == 9 && !t.op.Invalidates():
			c.at(t.segment, "the quoted message invalidates nothing", t.op.String(), "a Send with Invalidate")
		case k.EType == 2 && k.Code == 6 && t.plausible():
			c.at(t.segment, "the quoted opcode is one that can come at any time", t.op.String(), "one that is unexpected")
		}
	}),
	termTable("RDMAP-TERM-CODE-03", layer(rdmap.LayerRDMAP), func(c *conn, t *terminate) {
		if t.header == nil || t.code.EType != 1 {
			return
		}
		if t.op != opReadRequest && !t.op.Invalidates() && t.op != opAtomicRequest {
			c.at(t.segment, "a protection error of RDMAP about a message that cannot cause one", t.op.String(), "a Read Request or a Send with Invalidate; a DDP error otherwise")
		}
	}),
	termTable("DDP-ERR-CODE-01", layer(rdmap.LayerDDP), func(c *conn, t *terminate) {
		switch {
		case t.code.EType == 3:
			c.as(Note, t.segment, "an error type of DDP that is kept for the lower layer", t.code.Name(), "type 0 to 2")
		case !t.code.Assigned():
			c.at(t.segment, "an error of DDP that is not assigned", codeText(t.code), "type 0 code 0, type 1 codes 0 to 4, type 2 codes 1 to 6")
		}
	}),
	termTable("DDP-ERR-CODE-02", layer(rdmap.LayerDDP), func(c *conn, t *terminate) {
		if t.header == nil || t.code.EType != 1 && t.code.EType != 2 {
			return
		}
		if (t.code.EType == 1) != t.header.Tagged {
			c.at(t.segment, "the error type does not fit the quoted segment", fmt.Sprintf("type %d, T=%d", t.code.EType, bit(t.header.Tagged)), "type 1 of tagged, type 2 of untagged ones")
		}
	}),
	termTable("MPA-TERM-LLP-ETYPE", layer(rdmap.LayerLLP), func(c *conn, t *terminate) {
		if t.code.EType != 0 || t.code.Code == 0 || t.code.Code > 7 {
			sev := None
			if c.t.Transport == trace.SCTP {
				sev = Note
			}
			c.as(sev, t.segment, "an error of the lower layer that is not assigned", codeText(t.code), "type 0, codes 1 to 7")
		}
	}),
	termTable("MPA-C-OFF-01", layer(rdmap.LayerLLP), func(c *conn, t *terminate) {
		if c.t.Transport == trace.TCP && c.have&Neg != 0 && c.t.CRC == mpa.No && c.t.Negotiated && t.code.EType == 0 && t.code.Code == 2 {
			c.at(t.segment, "a CRC error although neither side wants CRCs", codeText(t.code), "no CRC is checked")
		}
	}),
	termTable("MPA-TERM-LLP-03", layer(rdmap.LayerLLP), func(c *conn, t *terminate) {
		if c.t.Transport == trace.TCP && c.have&Neg != 0 && t.code.EType == 0 && t.code.Code == 3 && c.t.Markers[t.peer.dir] == mpa.No {
			c.at(t.segment, "a marker error in a direction without markers", codeText(t.code), "markers in that direction")
		}
	}),
	termTable("RDMAP-TERM-HDRCT-02", always, func(c *conn, t *terminate) {
		if !t.swapped && t.broken != nil && c.have&Full != 0 {
			c.at(t.segment, "the Terminate is shorter than what M, D and R announce", fmt.Sprintf("%d octets", t.octets), t.broken.Error())
		}
	}),
	termTable("RDMAP-TERM-HDRCT-01", always, func(c *conn, t *terminate) {
		k := t.code
		some := k.M || k.D || k.R
		none := k.Layer == 0 && k.EType == 0 || k.Layer == 1 && k.EType == 0 || k.Layer == 2
		switch {
		case none && some:
			c.at(t.segment, "header control bits with an error that has no segment", bitsText(k), "M=0 D=0 R=0")
		case k.Layer == 1 && (k.EType == 1 || k.EType == 2) && (!k.M || !k.D):
			c.at(t.segment, "a DDP error without the segment in error", bitsText(k), "M=1 D=1")
		case k.Layer == 0 && k.EType == 1 && t.header != nil && t.op == opReadRequest && !k.R:
			c.at(t.segment, "a protection error of a Read without its header", bitsText(k), "R=1")
		case k.R && t.header != nil && t.op != opReadRequest:
			c.at(t.segment, "an RDMA header is quoted of a message that has none", fmt.Sprintf("R=1 with %v", t.op), "R=0")
		case k.Layer == 0 && (k.EType == 1 || k.EType == 2) && !k.D:
			c.as(Note, t.segment, "an RDMAP error without the header of the segment in error", bitsText(k), "D=1 if possible")
		}
	}),
	termTable("RDMAP-TERM-HDRCT-03", always, func(c *conn, t *terminate) {
		switch k := t.code; {
		case k.R && !k.D:
			c.as(Warning, t.segment, "an RDMA header without the DDP header that it belongs to", bitsText(k), "D=1")
		case k.M != k.D:
			c.at(t.segment, "M and D belong together", bitsText(k), "both or none")
		}
	}),
	termTable("RDMAP-TERM-LEN-01", always, func(c *conn, t *terminate) {
		if t.broken != nil || len(t.quote.Trailing) == 0 || c.have&Full == 0 {
			return
		}
		sev := None
		if len(bytes.Trim(t.quote.Trailing, "\x00")) == 0 {
			sev = Note
		}
		c.as(sev, t.segment, "octets behind the parts that the Terminate announces", fmt.Sprintf("%d octets", len(t.quote.Trailing)), "none")
	}),
	termTable("RDMAX-TERM-01", always, func(c *conn, t *terminate) {
		if t.header != nil && extension(t.op) && t.code.R {
			c.at(t.segment, "an RDMA header is quoted of a message of RFC 7306", "R=1", "R=0")
		}
	}),
	{id: "RDMAP-TERM-QUOTE-01", needs: Full, terminate: func(c *conn, t *terminate) {
		if t.onlyReserved || t.header == nil {
			return
		}
		peer := t.peer
		if len(t.sent) > 0 {
			c.applies()
			return
		}
		if peer.gap || peer.unsure || !peer.began || peer.sent.dropped() || c.t.Flow[peer.dir].Waiting || hides(&c.t.Flow[peer.dir]) {
			c.lacks(Contig)
			return
		}
		if c.applies() {
			c.at(t.segment, "the quoted DDP header is that of no segment that was sent", fmt.Sprintf("% x", t.quote.DDPHeader), "the header of a segment")
		}
	}},
	{id: "DDP-STAG-02", needs: Sync, terminate: func(c *conn, t *terminate) {
		if t.header == nil || !t.header.Tagged || t.code.Layer != rdmap.LayerDDP || !c.applies() {
			return
		}
		if t.code.EType == 1 && (t.code.Code == 0 || t.code.Code == 2) && t.payload() {
			c.at(t.segment, "the other side knows no such STag", fmt.Sprintf("STag %#08x", t.header.STag), "one that it has made known")
		}
	}},
	{id: "DDP-ZERO-02", needs: Sync, terminate: func(c *conn, t *terminate) {
		if t.header == nil || !t.header.Tagged || !c.applies() || !t.empty() {
			return
		}
		ddpError := t.code.Layer == rdmap.LayerDDP && t.code.EType == 1 && t.code.Code <= 3
		if ddpError || t.code.Layer == rdmap.LayerRDMAP && t.code.EType == 1 {
			c.at(t.segment, "STag and TO of a message of length zero were checked", codeText(t.code), "no error")
		}
	}},
	{id: "SCTP-DDP-ENH-06", needs: Sync, transport: onSCTP, terminate: func(c *conn, t *terminate) {
		if t.code.Layer == rdmap.LayerLLP && c.applies() && t.code.Code >= 1 && t.code.Code <= 4 {
			c.at(t.segment, "an error code of MPA over SCTP", codeText(t.code), "5 to 7")
		}
	}},
}

// termTable is a rule on the code of a Terminate, in the reading that was chosen.
func termTable(id string, of func(*terminate) bool, f func(*conn, *terminate)) check {
	return check{id: id, needs: Full, terminate: func(c *conn, t *terminate) {
		if !t.onlyReserved && of(t) && c.applies() {
			f(c, t)
		}
	}}
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

func always(*terminate) bool { return true }

func layer(l uint8) func(*terminate) bool {
	return func(t *terminate) bool { return t.code.Layer == l }
}

func codeText(k rdmap.TermCode) string {
	return fmt.Sprintf("%d/%d/%02x", k.Layer, k.EType, k.Code)
}

func bitsText(k rdmap.TermCode) string {
	return fmt.Sprintf("M=%d D=%d R=%d", bit(k.M), bit(k.D), bit(k.R))
}

package conformance

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// quoteChecks are about what Terminates quote, and whether their code fits it
// (RFC 5040 sections 4.8 and 7, RFC 5041 section 7).
var quoteChecks = []check{
	{id: "RDMAP-TERM-QUOTE-02", needs: Full, terminate: func(c *conn, t *terminate) {
		if t.onlyReserved || !t.code.M || !t.quote.HasSegLength || len(t.sent) == 0 || !c.applies() {
			return
		}
		x, has := &t.sent[0], int64(t.quote.SegLength)
		switch {
		case !t.every(func(x *sent) bool { return int64(x.length) != has }):
		case has == x.octets():
			c.at(t.segment, "the DDP Segment Length is that of the payload alone", fmt.Sprint(has), fmt.Sprintf("%d, with the header", x.length))
		default:
			c.at(t.segment, "the DDP Segment Length is not that of the quoted segment", fmt.Sprint(has), fmt.Sprint(x.length))
		}
	}},
	{id: "RDMAP-TERM-QUOTE-03", needs: ReadSync | Full, terminate: func(c *conn, t *terminate) {
		q, was, ok := t.quotedRead()
		if !ok || !c.applies() {
			return
		}
		n := was.Size - q.Size // what was answered by then
		left := rdmap.ReadRequest{SinkSTag: was.SinkSTag, SinkTO: was.SinkTO + uint64(n), Size: q.Size, SrcSTag: was.SrcSTag, SrcTO: was.SrcTO + uint64(n)}
		switch got := t.got(); {
		case q.Size > was.Size || q != left:
			c.at(t.segment, "the quoted Read Request is not the one that was sent, nor what is left of it", readText(q), readText(was))
		case got != uint64(n):
			c.as(Note, t.segment, "the quoted Read Request says that another part of it was answered", fmt.Sprintf("%d octets", n), fmt.Sprintf("%d octets", got))
		}
	}},
	termTable("DDP-ERR-CODE-03", layer(rdmap.LayerDDP), func(c *conn, t *terminate) {
		h := t.header
		if h == nil {
			return
		}
		fits := func(x *sent) bool { return h.TO+uint64(max(x.octets(), 0)) < h.TO }
		switch k := t.code; {
		case h.Tagged && k.EType == 1 && k.Code == 3 && len(t.sent) > 0 && !t.every(fits):
			c.at(t.segment, "TO and length of the quoted segment do not wrap", fmt.Sprintf("TO %#x", h.TO), "a segment beyond 2^64")
		case (h.Tagged && k.EType == 1 && k.Code == 4 || !h.Tagged && k.EType == 2 && k.Code == 6) && c.version(h.DV) && t.seg.DV == h.DV:
			c.at(t.segment, "the quoted segment has the DDP version of the stream", fmt.Sprintf("DV %d", h.DV), "another version")
		case h.Tagged || k.EType != 2:
		case k.Code == 1 && (h.QN == 0 || h.QN == 2):
			c.at(t.segment, "the quoted queue is always in use", fmt.Sprintf("QN %d", h.QN), "a queue that does not exist")
		case k.Code == 4 && h.MO == 0:
			c.at(t.segment, "the quoted segment begins its message", "MO 0", "an offset that is out of range")
		case k.Code == 3 && t.expected(c):
			c.as(Note, t.segment, "the quoted segment has the MSN that was awaited; error 1/2/02 says better that there is no buffer", fmt.Sprintf("MSN %d", h.MSN), "another MSN")
		}
	}),
	termTable("RDMAP-READ-ZERO-02", layer(rdmap.LayerRDMAP), func(c *conn, t *terminate) {
		q := t.asked
		if k := t.code; k.EType != 1 || k.Code > 4 || q == nil || q.atomic || t.op != opReadRequest || t.peer.unsure {
			return
		}
		if q.request.Size == 0 {
			c.at(t.segment, "the source of a Read of nothing was checked", codeText(t.code), "no error")
		}
	}),
	{id: "RDMAP-TERM-FIRST-01", needs: Sync, end: quoted(func(c *conn, h *half, w *word) {
		class := classOf(w.code)
		if len(class) == 0 || !c.applies() {
			return
		}
		for i := range c.findings {
			f := &c.findings[i]
			if f.Severity != Error || !f.HasPDU || f.Dir == h.dir || f.PDU >= w.sent[len(w.sent)-1].pdu || !isOf(f, class...) {
				continue
			}
			x := w.at
			x.Severity, x.Message = Warning, "the Terminate quotes another segment than the first one with that error"
			x.Observed, x.Expected = fmt.Sprintf("that of PDU %d", w.sent[0].pdu), fmt.Sprintf("that of PDU %d, which breaks %s", f.PDU, f.Rule.ID)
			c.fire(x)
			return
		}
	})},
	ignored("DDP-RSVD-IGN-01", "DDP-RSVD-01"),
	ignored("RDMAP-RSV-IGN-01", "RDMAP-RSV-01", "RDMAP-INVSTAG-01"),
}

// quoted asks about the first Terminate of each half, if it quotes a segment that
// was found.
func quoted(f func(*conn, *half, *word)) func(*conn) {
	return func(c *conn) {
		for i := range c.half {
			if h := &c.half[i]; h.word != nil && len(h.word.sent) > 0 {
				f(c, h, h.word)
			}
		}
	}
}

// ignored is a rule on bits that a receiver must not look at: a Terminate quotes a
// segment that breaks only the rules on them.
func ignored(id string, rules ...string) check {
	return check{id: id, needs: Sync, end: quoted(func(c *conn, _ *half, w *word) {
		bits := ""
		for i := range c.findings {
			f := &c.findings[i]
			if !f.HasPDU || f.PDU != w.sent[0].pdu {
				continue
			}
			if !isOf(f, rules...) {
				return
			}
			bits = f.Observed
		}
		if bits != "" && c.applies() {
			f := w.at
			f.Message, f.Observed, f.Expected = "reserved bits are all that is wrong with the quoted segment", bits, "they are ignored"
			c.fire(f)
		}
	})}
}

// isOf reports whether a finding is of a rule, or of rules with an id that begins
// so.
func isOf(f *Finding, ids ...string) bool {
	for _, id := range ids {
		if strings.HasPrefix(f.Rule.ID, id) {
			return true
		}
	}
	return false
}

// flagged reports whether a PDU breaks one of the rules.
func (c *conn) flagged(pdu uint64, ids ...string) bool {
	for i := range c.findings {
		if f := &c.findings[i]; f.HasPDU && f.PDU == pdu && isOf(f, ids...) {
			return true
		}
	}
	return false
}

// expected reports whether the quoted segment has the MSN that its queue awaited.
func (t *terminate) expected(c *conn) bool {
	return len(t.sent) > 0 && c.gates(t.peer)&MsgSync != 0 &&
		!c.flagged(t.sent[0].pdu, "DDP-UNTAG-MSN-", "DDP-DUP-01", "RDMAP-QN-01", "RDMAP-TFLAG-01", "RDMAP-TERM-QN-01") // not the MSNs of its queue
}

// version reports whether a DDP version is the one that the startup leads to. Where
// only one side has revision 0 that is disputed.
func (c *conn) version(dv uint8) bool {
	q, r := c.request, c.reply
	if c.t.Transport == trace.SCTP || q == nil || r == nil {
		return dv == 1
	}
	return (q.Rev == 0) == (r.Rev == 0) && (dv == 0) == (r.Rev == 0) && dv <= 1
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

// classOf lists the rules on what an error code is about.
func classOf(k rdmap.TermCode) []string {
	switch {
	case k.Layer == rdmap.LayerDDP && k.EType == 2 && k.Code == 1:
		return []string{"DDP-UNTAG-QN-", "RDMAP-QN-"}
	case k.Layer == rdmap.LayerDDP && k.EType == 2 && k.Code == 3:
		return []string{"DDP-UNTAG-MSN-"}
	case k.Layer == rdmap.LayerDDP && k.EType == 2 && k.Code == 4:
		return []string{"DDP-UNTAG-MO-"}
	case k.Layer == rdmap.LayerDDP && (k.EType == 1 && k.Code == 4 || k.EType == 2 && k.Code == 6):
		return []string{"DDP-DV-"}
	case k.Layer == rdmap.LayerRDMAP && k.EType == 2 && k.Code == 5:
		return []string{"RDMAP-RV-"}
	case k.Layer == rdmap.LayerRDMAP && k.EType == 2 && k.Code == 6:
		return []string{"RDMAP-OPCODE-"}
	}
	return nil
}

func readText(r rdmap.ReadRequest) string {
	return fmt.Sprintf("sink STag %#08x TO %#x, source STag %#08x TO %#x, %d octets", r.SinkSTag, r.SinkTO, r.SrcSTag, r.SrcTO, r.Size)
}

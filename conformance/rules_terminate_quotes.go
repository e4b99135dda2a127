package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// quoteRules judge what Terminates quote, and whether their code fits it (RFC 5040
// sections 4.8 and 7, RFC 5041 section 7).
var quoteRules = []Rule{
	{
		ID: "RDMAP-TERM-QUOTE-02", Needs: Full,
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAP-TERM-QUOTE-01"},
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope {
				return InScopeIf(!t.onlyReserved && t.code.M && t.quote.HasSegLength && len(t.sent) > 0)
			},
			Judge: func(r *Report, t *terminate) {
				x, has := &t.sent[0], int64(t.quote.SegLength)
				switch {
				case !t.every(func(x *sent) bool { return int64(x.length) != has }):
				case has == x.octets():
					r.On(t, "the DDP Segment Length is that of the payload alone", fmt.Sprint(has), fmt.Sprintf("%d, with the header", x.length))
				default:
					r.On(t, "the DDP Segment Length is not that of the quoted segment", fmt.Sprint(has), fmt.Sprint(x.length))
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-QUOTE-03", Needs: ReadSync | Full,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope {
				_, _, ok := t.quotedRead()
				return InScopeIf(ok)
			},
			Judge: func(r *Report, t *terminate) {
				q, was, _ := t.quotedRead()
				n := was.Size - q.Size // what was answered by then
				left := rdmap.ReadRequest{SinkSTag: was.SinkSTag, SinkTO: was.SinkTO + uint64(n), Size: q.Size, SrcSTag: was.SrcSTag, SrcTO: was.SrcTO + uint64(n)}
				switch got := t.got(); {
				case q.Size > was.Size || q != left:
					r.On(t, "the quoted Read Request is not the one that was sent, nor what is left of it", readText(q), readText(was))
				case got != uint64(n):
					r.OnAs(Note, t, "the quoted Read Request says that another part of it was answered", fmt.Sprintf("%d octets", n), fmt.Sprintf("%d octets", got))
				}
			},
		},
	},
	{
		ID: "DDP-ERR-CODE-03", Needs: Full,
		YieldsTo:  []string{"ADV-TERM-SWAPPED", "DDP-ERR-CODE-02"},
		Terminate: &On[*terminate]{Applies: codeOf(rdmap.LayerDDP), Judge: judgeQuotedHeader},
	},
	{
		ID: "RDMAP-READ-ZERO-02", Needs: Full,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *Report, t *terminate) {
				q := t.asked
				if k := t.code; k.EType != 1 || k.Code > 4 || q == nil || q.atomic || t.op != opReadRequest || t.peer.unsure {
					return
				}
				if q.request.Size == 0 {
					r.On(t, "the source of a Read of nothing was checked", codeText(t.code), "no error")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-FIRST-01", Needs: Sync,
		EndDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope { return InScopeIf(h.quotes() && len(aboutCode(h.word.code)) > 0) },
			Judge: func(r *Report, h *half) {
				w := h.word
				about := aboutCode(w.code)
				for i := range r.Found() {
					f := &r.Found()[i]
					if f.Severity != Error || !f.HasPDU || f.Dir == h.dir || f.PDU >= w.sent[len(w.sent)-1].pdu || !isOf(f, about...) {
						continue
					}
					r.OnAs(Warning, w, "the Terminate quotes another segment than the first one with that error",
						fmt.Sprintf("that of PDU %d", w.sent[0].pdu), fmt.Sprintf("that of PDU %d, which breaks %s", f.PDU, f.Rule.ID))
					return
				}
			},
		},
	},
	{ID: "DDP-RSVD-IGN-01", Needs: Sync, EndDirection: refusesBits("DDP-RSVD-01")},
	{ID: "RDMAP-RSV-IGN-01", Needs: Sync, EndDirection: refusesBits("RDMAP-RSV-01", "RDMAP-INVSTAG-01")},
}

// judgeQuotedHeader judges whether an error of DDP fits the header that is quoted.
func judgeQuotedHeader(r *Report, t *terminate) {
	h := t.header
	if h == nil {
		return
	}
	fits := func(x *sent) bool { return h.TO+uint64(max(x.octets(), 0)) < h.TO }
	switch k := t.code; {
	case h.Tagged && k.EType == 1 && k.Code == 3 && len(t.sent) > 0 && !t.every(fits):
		r.On(t, "TO and length of the quoted segment do not wrap", fmt.Sprintf("TO %#x", h.TO), "a segment beyond 2^64")
	case (h.Tagged && k.EType == 1 && k.Code == 4 || !h.Tagged && k.EType == 2 && k.Code == 6) && r.version(h.DV) && t.seg.DV == h.DV:
		r.On(t, "the quoted segment has the DDP version of the stream", fmt.Sprintf("DV %d", h.DV), "another version")
	case h.Tagged || k.EType != 2:
	case k.Code == 1 && (h.QN == 0 || h.QN == 2):
		r.On(t, "the quoted queue is always in use", fmt.Sprintf("QN %d", h.QN), "a queue that does not exist")
	case k.Code == 4 && h.MO == 0:
		r.On(t, "the quoted segment begins its message", "MO 0", "an offset that is out of range")
	case k.Code == 3 && r.awaits(t):
		r.OnAs(Note, t, "the quoted segment has the MSN that was awaited; error 1/2/02 says better that there is no buffer", fmt.Sprintf("MSN %d", h.MSN), "another MSN")
	}
}

// refusesBits judges Terminates about bits that a receiver must not look at: one
// quotes a segment that breaks only the rules on them.
func refusesBits(ids ...string) *On[*half] {
	// bits are those of the quoted segment; "" if something else is wrong with it, or
	// nothing at all.
	bits := func(c *Case, w *word) (bits string) {
		for i := range c.Found() {
			f := &c.Found()[i]
			if !f.HasPDU || f.PDU != w.sent[0].pdu {
				continue
			}
			if !isOf(f, ids...) {
				return ""
			}
			bits = f.Observed
		}
		return bits
	}
	return &On[*half]{
		Applies: func(c *Case, h *half) Scope { return InScopeIf(h.quotes() && bits(c, h.word) != "") },
		Judge: func(r *Report, h *half) {
			r.On(h.word, "reserved bits are all that is wrong with the quoted segment", bits(&r.Case, h.word), "they are ignored")
		},
	}
}

// aboutCode lists the rules on what an error code is about.
func aboutCode(k rdmap.TermCode) []string {
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

// readText is a Read Request for people.
func readText(r rdmap.ReadRequest) string {
	return fmt.Sprintf("sink STag %#08x TO %#x, source STag %#08x TO %#x, %d octets", r.SinkSTag, r.SinkTO, r.SrcSTag, r.SrcTO, r.Size)
}

package terminate

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// quoteRules judge what Terminates quote, and whether their code fits it (RFC 5040
// sections 4.8 and 7, RFC 5041 section 7).
var quoteRules = []rules.Rule{
	{
		ID: "RDMAP-TERM-QUOTE-02", Needs: catalogue.Full,
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAP-TERM-QUOTE-01"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				return rules.InScopeIf(!t.OnlyReserved && t.Code.M && t.Quote.HasSegLength && len(t.Sent) > 0)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				x, has := &t.Sent[0], int64(t.Quote.SegLength)
				switch {
				case !t.Every(func(x *model.Sent) bool { return int64(x.Length) != has }):
				case has == x.Octets():
					r.On(t, "the DDP Segment Length counts the payload only", fmt.Sprint(has), fmt.Sprintf("%d, header included", x.Length))
				default:
					r.On(t, "the DDP Segment Length does not match the quoted segment", fmt.Sprint(has), fmt.Sprint(x.Length))
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-QUOTE-03", Needs: catalogue.ReadSync | catalogue.Full,
		Test:     rules.Test{Related: []string{"RDMAP-READREQ-VALID-01"}}, // the Read that it quotes was refused
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				_, _, ok := t.QuotedRead()
				return rules.InScopeIf(ok)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				q, was, _ := t.QuotedRead()
				n := was.Size - q.Size // what was answered by then
				left := rdmap.ReadRequest{SinkSTag: was.SinkSTag, SinkTO: was.SinkTO + uint64(n), Size: q.Size, SrcSTag: was.SrcSTag, SrcTO: was.SrcTO + uint64(n)}
				switch got := t.Got(); {
				case q.Size > was.Size || q != left:
					r.On(t, "the quoted Read Request is neither the one that was sent nor its unanswered remainder", readText(q), readText(was))
				case got != uint64(n):
					r.OnAs(catalogue.Note, t, "the quoted Read Request implies that a different part of it was answered", fmt.Sprintf("%d octets", n), fmt.Sprintf("%d octets", got))
				}
			},
		},
	},
	{
		ID: "DDP-ERR-CODE-03", Weighs: true, Needs: catalogue.Full,
		YieldsTo:  []string{"ADV-TERM-SWAPPED", "DDP-ERR-CODE-02"},
		Terminate: &rules.On[*model.Terminate]{Applies: codeOf(rdmap.LayerDDP), Judge: judgeQuotedHeader},
	},
	{
		ID: "RDMAP-READ-ZERO-02", Needs: catalogue.Full,
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				q := t.Asked
				if k := t.Code; k.EType != 1 || k.Code > 4 || q == nil || q.Atomic || t.Op != model.OpReadRequest || t.Peer.Unsure {
					return
				}
				if q.Request.Size == 0 {
					r.On(t, "the receiver checked the source of a zero-length Read", model.CodeText(t.Code), "no error")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-FIRST-01", If: model.Terminated, Weighs: true, Needs: catalogue.Sync,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(h.Quotes() && len(aboutCode(h.FirstTerminate.Code)) > 0)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				w := h.FirstTerminate
				about := aboutCode(w.Code)
				for i := range r.Found() {
					f := &r.Found()[i]
					if f.Severity != catalogue.Error || !f.HasPDU || f.Dir == h.Dir || f.PDU >= w.Sent[len(w.Sent)-1].PDU || !rules.IsOf(f, about...) {
						continue
					}
					r.Capture.Crosses() // others may change the numbers
					r.OnAs(catalogue.Warning, w, "the Terminate does not quote the first segment with that error",
						fmt.Sprintf("that of PDU %d", w.Sent[0].PDU), fmt.Sprintf("that of PDU %d, which violates %s", f.PDU, f.Rule.ID))
					return
				}
			},
		},
	},
	{ID: "DDP-RSVD-IGN-01", If: model.Terminated, Weighs: true, Needs: catalogue.Sync, EndDirection: refusesBits("DDP-RSVD-01")},
	{ID: "RDMAP-RSV-IGN-01", If: model.Terminated, Weighs: true, Needs: catalogue.Sync, EndDirection: refusesBits("RDMAP-RSV-01", "RDMAP-INVSTAG-01")},
}

// judgeQuotedHeader judges whether an error of DDP fits the header that is quoted.
func judgeQuotedHeader(r *rules.Report, t *model.Terminate) {
	h := t.Header
	if h == nil {
		return
	}
	fits := func(x *model.Sent) bool { return h.TO+uint64(max(x.Octets(), 0)) < h.TO }
	switch k := t.Code; {
	case h.Tagged && k.EType == 1 && k.Code == 3 && len(t.Sent) > 0 && !t.Every(fits):
		r.On(t, "TO and length of the quoted segment do not wrap", fmt.Sprintf("TO %#x", h.TO), "a segment beyond 2^64")
	case (h.Tagged && k.EType == 1 && k.Code == 4 || !h.Tagged && k.EType == 2 && k.Code == 6) && r.Version(h.DV) && t.DDP.DV == h.DV:
		r.On(t, "the quoted segment has the DDP version of the stream", fmt.Sprintf("DV %d", h.DV), "another version")
	case !h.Tagged && k.EType == 2:
		judgeQuotedQueue(r, t)
	}
}

// judgeQuotedQueue judges whether an error about an untagged buffer fits the header that is quoted.
func judgeQuotedQueue(r *rules.Report, t *model.Terminate) {
	switch h, k := t.Header, t.Code; {
	case k.Code == 1 && (h.QN == 0 || h.QN == 2):
		r.On(t, "the quoted queue always exists", fmt.Sprintf("QN %d", h.QN), "a queue that does not exist")
	case k.Code == 1 && h.QN == 3 && t.Op == model.OpAtomicResponse && t.AskedAtomics():
		r.On(t, "the quoted queue is that of the answers to its own Atomic Requests", fmt.Sprintf("QN %d", h.QN), "a queue that does not exist")
	case k.Code == 4 && h.MO == 0:
		r.On(t, "the quoted segment is the first of its message", "MO 0", "an offset that is out of range")
	case k.Code == 3 && r.Awaits(t):
		r.OnAs(catalogue.Note, t, "the quoted segment has the expected MSN; error 1/2/02 is the one for a missing buffer", fmt.Sprintf("MSN %d", h.MSN), "another MSN")
	}
}

// refusesBits judges Terminates about bits that a receiver must ignore: one quotes a
// segment that violates only the rules on them.
func refusesBits(ids ...string) *rules.On[*model.Direction] {
	// bits are those of the quoted segment; "" if something else is wrong with it, or
	// nothing at all.
	bits := func(c *rules.Case, w *model.SentTerminate) (bits string) {
		for i := range c.Found() {
			f := &c.Found()[i]
			if !f.HasPDU || f.PDU != w.Sent[0].PDU {
				continue
			}
			if !rules.IsOf(f, ids...) {
				return ""
			}
			bits = f.Observed
		}
		return bits
	}
	return &rules.On[*model.Direction]{
		Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
			return rules.InScopeIf(h.Quotes() && bits(c, h.FirstTerminate) != "")
		},
		Judge: func(r *rules.Report, h *model.Direction) {
			r.On(h.FirstTerminate, "the only fault of the quoted segment is its reserved bits", bits(&r.Case, h.FirstTerminate), "reserved bits ignored")
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

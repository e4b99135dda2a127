package terminate

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// terminateRules judge Terminates as messages, and against what the other side has
// sent (RFC 5040 section 4.8).
var terminateRules = []rules.Rule{
	{
		ID: "RDMAP-TERM-QN-01", Needs: catalogue.Sync, Field: "iwarp_ddp.qn",
		YieldsTo: []string{"RDMAP-TFLAG-01", "RDMAP-TERM-ONCE-01", "DDP-UNTAG-QN-02"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope { return rules.InScopeIf(!t.DDP.Tagged) },
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.DDP.QN != 2 || t.DDP.MSN != 1 && r.Has(catalogue.Start) && t.Terminates == 1 {
					r.On(t, "the Terminate is not the first message of queue 2", fmt.Sprintf("QN %d, MSN %d", t.DDP.QN, t.DDP.MSN), "QN 2, MSN 1")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-SEG-01", Needs: catalogue.Sync, Field: "iwarp_ddp.last_flag",
		YieldsTo: []string{"DDP-UNTAG-MO-01"},
		Terminate: &rules.On[*model.Terminate]{
			Judge: func(r *rules.Report, t *model.Terminate) {
				switch {
				case !t.DDP.Last && t.Broken == nil:
					r.On(t, "the Terminate is complete, but L is not set", "L=0", "L=1")
				case !t.DDP.Last, t.DDP.MO != 0:
					r.OnAs(catalogue.Warning, t, "the Terminate spans several segments although it fits in one", fmt.Sprintf("MO %d, L=%d", t.DDP.MO, model.Bit(t.DDP.Last)), "MO 0, L=1")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-ONCE-01", Needs: catalogue.Sync,
		Terminate: &rules.On[*model.Terminate]{
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Terminates > 1 {
					r.On(t, "the side sends a second Terminate", fmt.Sprint(t.Terminates), "1")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-AFTER-01", Needs: catalogue.Sync, Field: "iwarp_rdma.opcode", ByShape: true,
		YieldsTo: []string{"RDMAP-TERM-ONCE-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.DDP != nil && s.Terminates > 0 && s.Op != model.OpTerminate)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if !r.Reported(s.Direction) {
					r.On(s, "the side sends a message after its own Terminate", s.Op.String(), "nothing")
				}
			},
		},
		Terminate: &rules.On[*model.Terminate]{}, // nothing may follow it
	},
	{
		ID: "RDMAP-TERM-RSVD-01", Field: "iwarp_rdma.term_rsvd",
		Terminate: &rules.On[*model.Terminate]{
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Straight.Rsvd != 0 {
					r.On(t, "reserved bits of the Terminate are set", fmt.Sprintf("%#04x", t.Straight.Rsvd), "0")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-QUOTE-01", Needs: catalogue.Full, Field: model.TermHeader,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(c *rules.Case, t *model.Terminate) rules.Scope {
				peer := t.Peer
				switch {
				case t.OnlyReserved || t.Header == nil:
					return rules.OutOfScope
				case len(t.Sent) > 0:
					return rules.InScope
				case peer.Gap || peer.Unsure || !peer.Began || peer.Sent.Dropped() || c.Trace.Flow[peer.Dir].Waiting || model.Hides(&c.Trace.Flow[peer.Dir]):
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if len(t.Sent) > 0 {
					return
				}
				v := rules.Violation{
					Place: t.Where(), Message: "the quoted DDP header does not match any segment that was sent",
					Observed: fmt.Sprintf("% x", t.Quote.DDPHeader), Expected: "the header of a segment that was sent", Field: t.FieldName(r.Field()),
				}
				if r.Trace.Transport == trace.SCTP {
					r.ReportUnlessLost(v) // only what comes behind a chunk shows that it was not captured
					return
				}
				r.Report(v)
			},
		},
	},
	{
		ID: "DDP-STAG-02", Needs: catalogue.Sync, Field: "iwarp_ddp.stag",
		YieldsTo: []string{"DDP-ZERO-02"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				// A Read Response goes where the refusing side asked for it; if not, that is RDMAP-READRESP-STAG-01.
				return rules.InScopeIf(t.Header != nil && t.Header.Tagged && t.Code.Layer == rdmap.LayerDDP && t.Op != model.OpReadResponse)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Code.EType == 1 && (t.Code.Code == 0 || t.Code.Code == 2) && t.Payload() {
					reportCause(r, t, "the "+t.Dir.Sender()+" refuses the STag of this "+t.Op.String(),
						fmt.Sprintf("STag %#08x", t.Header.STag), "an STag that the "+t.Dir.Sender()+" lets be written")
				}
			},
		},
	},
	{
		ID: "RDMAP-READREQ-VALID-01", Weighs: true, Needs: catalogue.Sync, Field: "iwarp_rdma.srcstag",
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				q := t.Refused()
				return rules.InScopeIf(q != nil && !q.Atomic && q.Size > 0 && t.Op == model.OpReadRequest)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				q := t.Refused()
				if k := t.Code; k.Layer != rdmap.LayerRDMAP || k.EType != rdmap.ETypeRemoteProtection || k.Code > 3 || r.Flagged(q.At.PDU, "RDMAP-READREQ-WRAP-") {
					return
				}
				src := q.Source()
				reportCause(r, t, "the "+t.Dir.Sender()+" refuses to read the memory that this Read Request names",
					fmt.Sprintf("%d octets at STag %#08x, TO %#x; %s", q.Size, src.STag, src.TO, rdmap.CodeName(t.Code.Layer, t.Code.EType, t.Code.Code)),
					"memory that the "+t.Dir.Sender()+" lets be read")
			},
		},
	},
	{
		ID: "DDP-ZERO-02", Needs: catalogue.Sync, Field: model.TermCode,
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				return rules.InScopeIf(t.Header != nil && t.Header.Tagged)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if !t.Empty() {
					return
				}
				ddpError := t.Code.Layer == rdmap.LayerDDP && t.Code.EType == 1 && t.Code.Code <= 3
				if ddpError || t.Code.Layer == rdmap.LayerRDMAP && t.Code.EType == 1 {
					reportTerminate(r, catalogue.None, t, "the receiver checked the STag and TO of a zero-length message", model.CodeText(t.Code), "no error")
				}
			},
		},
	},
}

// reportCause reports the PDU that a Terminate quotes. Where that is not known, the finding
// stands on the Terminate and speaks of the quote.
func reportCause(r *rules.Report, t *model.Terminate, message, observed, expected string) {
	at, ok := t.Cause()
	if !ok {
		reportTerminate(r, catalogue.None, t, message+", which is not among the latest that were captured", observed, expected)
		return
	}
	if t.Terminates > 1 && r.ReportedPDU(at.PDU) {
		return // an earlier Terminate is about the same segment
	}
	observed += fmt.Sprintf(", refused by the Terminate in frame %d", t.PDU.Frame)
	if n := t.PDU.Terminate.Quote.Candidates; n > 1 {
		observed += fmt.Sprintf(", which quotes this one or an earlier one of %d with the same header", n)
	}
	r.Report(rules.Violation{Place: at, Message: message, Observed: observed, Expected: expected})
}

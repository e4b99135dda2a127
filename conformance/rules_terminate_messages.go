package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// terminateRules judge Terminates as messages, and against what the other side has
// sent (RFC 5040 section 4.8).
var terminateRules = []Rule{
	{
		ID: "RDMAP-TERM-QN-01", Needs: Sync, Field: "iwarp_ddp.qn",
		YieldsTo: []string{"RDMAP-TFLAG-01", "RDMAP-TERM-ONCE-01"},
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope { return InScopeIf(!t.seg.Tagged) },
			Judge: func(r *Report, t *terminate) {
				if t.seg.QN != 2 || t.seg.MSN != 1 && r.Has(Start) && t.terminates == 1 {
					r.On(t, "the Terminate is not the first message of queue 2", fmt.Sprintf("QN %d, MSN %d", t.seg.QN, t.seg.MSN), "QN 2, MSN 1")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-SEG-01", Needs: Sync, Field: "iwarp_ddp.last_flag",
		Terminate: &On[*terminate]{
			Judge: func(r *Report, t *terminate) {
				switch {
				case !t.seg.Last && t.broken == nil:
					r.On(t, "the Terminate is complete, and L is not set", "L=0", "L=1")
				case !t.seg.Last, t.seg.MO != 0:
					r.OnAs(Warning, t, "the Terminate is in several segments, although it fits one", fmt.Sprintf("MO %d, L=%d", t.seg.MO, bit(t.seg.Last)), "MO 0, L=1")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-ONCE-01", Needs: Sync,
		Terminate: &On[*terminate]{
			Judge: func(r *Report, t *terminate) {
				if t.terminates > 1 {
					r.On(t, "a second Terminate in the direction", fmt.Sprint(t.terminates), "1")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-AFTER-01", Needs: Sync, Field: "iwarp_rdma.opcode", ByShape: true,
		YieldsTo: []string{"RDMAP-TERM-ONCE-01"},
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				return InScopeIf(s.seg != nil && s.terminates > 0 && s.op != opTerminate)
			},
			Judge: func(r *Report, s *segment) {
				if !r.Reported(s.half) {
					r.On(s, "a message behind the Terminate of the same side", s.op.String(), "nothing")
				}
			},
		},
		Terminate: &On[*terminate]{}, // nothing may come behind it
	},
	{
		ID: "RDMAP-TERM-RSVD-01", Field: "iwarp_rdma.term_rsvd",
		Terminate: &On[*terminate]{
			Judge: func(r *Report, t *terminate) {
				if t.straight.Rsvd != 0 {
					r.On(t, "reserved bits of the Terminate are set", fmt.Sprintf("%#04x", t.straight.Rsvd), "0")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-QUOTE-01", Needs: Full, Field: termHeader,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &On[*terminate]{
			Applies: func(c *Case, t *terminate) Scope {
				peer := t.peer
				switch {
				case t.onlyReserved || t.header == nil:
					return OutOfScope
				case len(t.sent) > 0:
					return InScope
				case peer.gap || peer.unsure || !peer.began || peer.sent.dropped() || c.t.Flow[peer.dir].Waiting || hides(&c.t.Flow[peer.dir]):
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, t *terminate) {
				if len(t.sent) == 0 {
					reportTerminate(r, None, t, "the quoted DDP header is that of no segment that was sent", fmt.Sprintf("% x", t.quote.DDPHeader), "the header of a segment")
				}
			},
		},
	},
	{
		ID: "DDP-STAG-02", Needs: Sync, Field: termHeader,
		YieldsTo: []string{"DDP-ZERO-02"},
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope {
				return InScopeIf(t.header != nil && t.header.Tagged && t.code.Layer == rdmap.LayerDDP)
			},
			Judge: func(r *Report, t *terminate) {
				if t.code.EType == 1 && (t.code.Code == 0 || t.code.Code == 2) && t.payload() {
					reportTerminate(r, None, t, "the other side knows no such STag", fmt.Sprintf("STag %#08x", t.header.STag), "one that it has made known")
				}
			},
		},
	},
	{
		ID: "DDP-ZERO-02", Needs: Sync, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope { return InScopeIf(t.header != nil && t.header.Tagged) },
			Judge: func(r *Report, t *terminate) {
				if !t.empty() {
					return
				}
				ddpError := t.code.Layer == rdmap.LayerDDP && t.code.EType == 1 && t.code.Code <= 3
				if ddpError || t.code.Layer == rdmap.LayerRDMAP && t.code.EType == 1 {
					reportTerminate(r, None, t, "STag and TO of a message of length zero were checked", codeText(t.code), "no error")
				}
			},
		},
	},
}

package fields

import (
	"github.com/iwdissect/iwdissect/trace"
)

var (
	fTermWhy        = Must(&ownFields, "iwd.term.why")
	fQuotedOpcode   = Must(&ownFields, "iwd.term.quoted_opcode")
	fQuotedSTag     = Must(&ownFields, "iwd.term.quoted_stag")
	fQuotedTO       = Must(&ownFields, "iwd.term.quoted_to")
	fQuotedQN       = Must(&ownFields, "iwd.term.quoted_qn")
	fQuotedMSN      = Must(&ownFields, "iwd.term.quoted_msn")
	fQuotedMO       = Must(&ownFields, "iwd.term.quoted_mo")
	fQuotedLast     = Must(&ownFields, "iwd.term.quoted_last")
	fQuotedSinkSTag = Must(&ownFields, "iwd.term.quoted_sinkstag")
	fQuotedSinkTO   = Must(&ownFields, "iwd.term.quoted_sinkto")
	fQuotedSize     = Must(&ownFields, "iwd.term.quoted_size")
	fQuotedSrcSTag  = Must(&ownFields, "iwd.term.quoted_srcstag")
	fQuotedSrcTO    = Must(&ownFields, "iwd.term.quoted_srcto")
	fQuotedMatch    = Must(&ownFields, "iwd.term.match")
	fQuotedPDU      = Must(&ownFields, "iwd.term.quoted_pdu")
	fQuotedFrame    = Must(&ownFields, "iwd.term.quoted_frame")
	fCandidates     = Must(&ownFields, "iwd.term.candidates")
)

// quoted shows what a Terminate quotes, field by field, in the reading in which it makes
// sense, and the PDU that it is about.
func quoted(v Visitor, t *trace.Terminate) {
	if t == nil {
		return
	}
	if t.Why != "" {
		v.Text(fTermWhy, t.Why)
	}
	q := &t.Quote
	if q.HasHeader {
		v.Text(fQuotedOpcode, q.Opcode.String())
		if h := &q.Header; h.Tagged {
			v.Number(fQuotedSTag, uint64(h.STag))
			v.Number(fQuotedTO, h.TO)
		} else {
			v.Number(fQuotedQN, uint64(h.QN))
			v.Number(fQuotedMSN, uint64(h.MSN))
			v.Number(fQuotedMO, uint64(h.MO))
		}
		v.Flag(fQuotedLast, q.Header.Last)
	}
	if r := &q.Read; q.HasRead {
		v.Number(fQuotedSinkSTag, uint64(r.SinkSTag))
		v.Number(fQuotedSinkTO, r.SinkTO)
		v.Number(fQuotedSize, uint64(r.Size))
		v.Number(fQuotedSrcSTag, uint64(r.SrcSTag))
		v.Number(fQuotedSrcTO, r.SrcTO)
	}
	if q.Match == trace.NoQuote {
		return
	}
	v.Text(fQuotedMatch, q.Match.String())
	if q.Match.Found() {
		v.Number(fQuotedPDU, q.PDU)
		v.Number(fQuotedFrame, q.Frame)
		v.Number(fCandidates, uint64(q.Candidates)) //nolint:gosec // a count
	}
}

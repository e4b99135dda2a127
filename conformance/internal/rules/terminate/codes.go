package terminate

import (
	"bytes"
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// terminateCodeRules judge the error codes and the header control bits of Terminates
// (RFC 5040 section 4.8, RFC 6580).
var terminateCodeRules = []rules.Rule{
	{
		ID: "RDMAP-TERM-LAYER-01", Needs: catalogue.Full, Field: "iwarp_rdma.term_layer",
		Terminate: &rules.On[*model.Terminate]{
			Applies: anyCode,
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Code.Layer > 2 {
					reportTerminate(r, catalogue.None, t, "the layer of the Terminate is not assigned", fmt.Sprint(t.Code.Layer), "0 to 2")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CODE-01", Needs: catalogue.Full, Field: model.TermCode,
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				if !t.Code.Assigned() {
					reportTerminate(r, catalogue.None, t, "the RDMAP error is not assigned", model.CodeText(t.Code), "type 0; type 1 codes 0 to 4, 9, ff; type 2 codes 5 to 9, ff")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CODE-02", Weighs: true, Needs: catalogue.Full, Field: model.TermCode,
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAX-AREQ-ALIGN-02", "RDMAP-RSV-IGN-01"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Header == nil || !t.Code.Assigned() || r.Gates(t.Peer)&catalogue.Sync == 0 {
					return
				}
				quoted := rdmap.ControlOf(t.Header.RsvdULP)
				switch k := t.Code; {
				case k.EType == 1 && k.Code == 4:
					if _, q, ok := t.QuotedRead(); ok && !wraps(q) {
						reportTerminate(r, catalogue.None, t, "the octets that the quoted Read Request asks for do not wrap around",
							fmt.Sprintf("%d octets from TO %#x", q.Size, q.SrcTO), "octets beyond TO 0xffffffffffffffff")
					}
				case k.EType == 2 && k.Code == 5 && t.Peer.HasVersions && quoted.RV == t.Peer.RDMAPVersion:
					reportTerminate(r, catalogue.None, t, "the quoted message has the RDMAP version of the stream", fmt.Sprintf("RV %d", quoted.RV), "another version")
				case k.Code == 9 && !t.Op.Invalidates():
					reportTerminate(r, catalogue.None, t, "the quoted message does not invalidate an STag", t.Op.String(), "a Send with Invalidate")
				case k.EType == 2 && k.Code == 6 && t.Plausible(r.Conn):
					reportTerminate(r, catalogue.None, t, "the quoted opcode is valid at any time", t.Op.String(), "an unexpected opcode")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CODE-03", Needs: catalogue.Full, Field: model.TermEType,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Header == nil || t.Code.EType != 1 {
					return
				}
				if t.Op != model.OpReadRequest && !t.Op.Invalidates() && t.Op != model.OpAtomicRequest {
					reportTerminate(r, catalogue.None, t, "an RDMAP protection error for a message that cannot cause one", t.Op.String(), "a Read Request or a Send with Invalidate; a DDP error otherwise")
				}
			},
		},
	},
	{
		ID: "DDP-ERR-CODE-01", Needs: catalogue.Full, Field: model.TermCode,
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerDDP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				switch {
				case t.Code.EType == 3:
					reportTerminate(r, catalogue.Note, t, "the DDP error type is reserved for the lower layer", t.Code.Name(), "type 0 to 2")
				case !t.Code.Assigned():
					reportTerminate(r, catalogue.None, t, "the DDP error is not assigned", model.CodeText(t.Code), "type 0 code 0, type 1 codes 0 to 4, type 2 codes 1 to 6")
				}
			},
		},
	},
	{
		ID: "DDP-ERR-CODE-02", Needs: catalogue.Full, Field: model.TermEType,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerDDP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Header == nil || t.Code.EType != 1 && t.Code.EType != 2 {
					return
				}
				if (t.Code.EType == 1) != t.Header.Tagged {
					reportTerminate(r, catalogue.None, t, "the error type does not fit the quoted segment", fmt.Sprintf("type %d, T=%d", t.Code.EType, model.Bit(t.Header.Tagged)), "type 1 for tagged segments, type 2 for untagged ones")
				}
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-ETYPE", Needs: catalogue.Full, Field: model.TermCode,
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Code.EType == 0 && t.Code.Code != 0 && t.Code.Code <= 7 {
					return
				}
				severity := catalogue.None
				if r.Trace.Transport == trace.SCTP {
					severity = catalogue.Note
				}
				reportTerminate(r, severity, t, "the error of the lower layer is not assigned", model.CodeText(t.Code), "type 0, codes 1 to 7")
			},
		},
	},
	{
		ID: "MPA-C-OFF-01", Needs: catalogue.Full, Field: model.TermCode,
		Test: rules.Test{NotDetected: "with revision 0 CRC is always on"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				crcError := t.Code.EType == 0 && t.Code.Code == 2
				if r.Trace.Transport == trace.TCP && r.Has(catalogue.Neg) && r.Trace.CRC == mpa.No && r.Trace.Negotiated && crcError {
					reportTerminate(r, catalogue.None, t, "a CRC error is reported although neither side enabled CRCs", model.CodeText(t.Code), "no CRC check")
				}
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-03", Needs: catalogue.Full, Field: model.TermCode,
		Test: rules.Test{
			Needs:       rules.SameMarkers,
			NotDetected: "with revision 0 there are always markers",
		},
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				markerError := t.Code.EType == 0 && t.Code.Code == 3
				if r.Trace.Transport == trace.TCP && r.Has(catalogue.Neg) && markerError && r.Trace.Markers[t.Peer.Dir] == mpa.No {
					reportTerminate(r, catalogue.None, t, "a marker error is reported for a direction without markers", model.CodeText(t.Code), "markers in that direction")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-06", Needs: catalogue.Sync, Transport: rules.OnSCTP, Field: model.TermCode,
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				return rules.InScopeIf(t.Code.Layer == rdmap.LayerLLP)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Code.Code >= 1 && t.Code.Code <= 4 {
					reportTerminate(r, catalogue.None, t, "an error code of MPA is used over SCTP", model.CodeText(t.Code), "5 to 7")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-HDRCT-02", Needs: catalogue.Full, Field: "iwd.payload.length",
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		On:       model.OpcodeSet(model.OpTerminate),
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(!s.DDP.Tagged && s.DDP.Last && s.DDP.MO == 0 && s.Octets < rdmap.TerminateLen)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				r.On(s, "the Terminate is shorter than its control word", fmt.Sprintf("%d octets", s.Octets), fmt.Sprintf("%d octets or more", rdmap.TerminateLen))
			},
		},
		Terminate: &rules.On[*model.Terminate]{
			Applies: anyCode,
			Judge: func(r *rules.Report, t *model.Terminate) {
				if !t.Swapped && t.Broken != nil && t.DDP.Last {
					reportTerminate(r, catalogue.None, t, "the Terminate is shorter than M, D and R announce", fmt.Sprintf("%d octets", t.Octets), "the parts that they announce")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-HDRCT-01", Needs: catalogue.Full, Field: "iwarp_rdma.term_hdrct_m",
		YieldsTo:  []string{"ADV-TERM-SWAPPED", "RDMAX-TERM-01"},
		Terminate: &rules.On[*model.Terminate]{Applies: anyCode, Judge: judgeControlBits},
	},
	{
		ID: "RDMAP-TERM-HDRCT-03", Needs: catalogue.Full, Field: "iwarp_rdma.term_hdrct_m",
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAP-TERM-HDRCT-01"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: anyCode,
			Judge: func(r *rules.Report, t *model.Terminate) {
				switch k := t.Code; {
				case k.R && !k.D:
					reportTerminate(r, catalogue.Warning, t, "the Terminate quotes an RDMA header without its DDP header", model.BitsText(k), "D=1")
				case k.M != k.D:
					reportTerminate(r, catalogue.None, t, "M and D differ", model.BitsText(k), "both set or both clear")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-LEN-01", Needs: catalogue.Full, Field: "iwd.payload.length",
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAP-TERM-HDRCT-02"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: anyCode,
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Broken != nil || len(t.Quote.Trailing) == 0 {
					return
				}
				severity := catalogue.None
				if len(bytes.Trim(t.Quote.Trailing, "\x00")) == 0 {
					severity = catalogue.Note
				}
				reportTerminate(r, severity, t, "octets follow the parts that the Terminate announces", fmt.Sprintf("%d octets", len(t.Quote.Trailing)), "none")
			},
		},
	},
	{
		ID: "RDMAX-TERM-01", Needs: catalogue.Full, Field: "iwarp_rdma.hdrct_r",
		Terminate: &rules.On[*model.Terminate]{
			Applies: anyCode,
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Header != nil && model.Extension(t.Op) && t.Code.R {
					reportTerminate(r, catalogue.None, t, "the Terminate quotes the RDMA header of an RFC 7306 message", "R=1", "R=0")
				}
			},
		},
	},
}

// anyCode is the scope of rules on the control word of a Terminate, in the chosen reading.
func anyCode(_ *rules.Case, t *model.Terminate) rules.Scope { return rules.InScopeIf(!t.OnlyReserved) }

// wraps reports whether the octets that a Read Request asks for go beyond the last offset, or up to it: some take
// that for a wrap as well.
func wraps(q rdmap.ReadRequest) bool { return q.SrcTO+uint64(q.Size) < q.SrcTO }

// codeOf is that scope for the errors of a layer.
func codeOf(layer uint8) func(*rules.Case, *model.Terminate) rules.Scope {
	return func(_ *rules.Case, t *model.Terminate) rules.Scope {
		return rules.InScopeIf(!t.OnlyReserved && t.Code.Layer == layer)
	}
}

// reportTerminate reports a violation by a Terminate, of the severity of the entry if
// that is None. The field that the rule speaks of has the name that it has there.
func reportTerminate(r *rules.Report, s catalogue.Severity, t *model.Terminate, message, observed, expected string) {
	r.Report(rules.Violation{
		Place: t.Where(), Severity: s, Message: message, Observed: observed, Expected: expected, Field: t.FieldName(r.Field()),
	})
}

// judgeControlBits judges M, D and R by what the error is about.
func judgeControlBits(r *rules.Report, t *model.Terminate) {
	k := t.Code
	some := k.M || k.D || k.R
	none := k.Layer == 0 && k.EType == 0 || k.Layer == 1 && k.EType == 0 || k.Layer == 2
	switch {
	case none && some:
		reportTerminate(r, catalogue.None, t, "header control bits are set for an error that concerns no segment", model.BitsText(k), "M=0 D=0 R=0")
	case k.Layer == 1 && (k.EType == 1 || k.EType == 2) && (!k.M || !k.D):
		reportTerminate(r, catalogue.None, t, "the Terminate reports a DDP error without quoting the segment in error", model.BitsText(k), "M=1 D=1")
	case k.Layer == 0 && k.EType == 1 && !k.R && quotesRead(t):
		reportTerminate(r, catalogue.None, t, "the Terminate reports a protection error of a Read without quoting its header", model.BitsText(k), "R=1")
	case k.R && t.Header != nil && t.Op != model.OpReadRequest:
		reportTerminate(r, catalogue.None, t, "the Terminate quotes an RDMA header of a message that has none", fmt.Sprintf("R=1 with %v", t.Op), "R=0")
	case k.Layer == 0 && concernsSegment(k) && !k.D && r.Trace.Flow[t.Peer.Dir].Rare().Malformed == 0: // else it may be about one without a whole header
		reportTerminate(r, catalogue.Note, t, "the Terminate reports an RDMAP error without quoting the header of the segment in error", model.BitsText(k), "D=1 if possible")
	}
}

// quotesRead reports whether a Terminate quotes a segment with a Read Request, all of which can be quoted.
func quotesRead(t *model.Terminate) bool {
	return t.Header != nil && t.Op == model.OpReadRequest && !t.Every(lacksRequest)
}

// lacksRequest reports whether a segment has no whole Read Request that can be quoted.
func lacksRequest(x *model.Sent) bool { return x.Octets() < rdmap.ReadRequestLen }

// concernsSegment reports whether an error of RDMAP is that of a segment: not one for which the side gave up the stream, or all of them.
func concernsSegment(k rdmap.TermCode) bool {
	const stream, global = 7, 8
	return k.EType == rdmap.ETypeRemoteProtection || k.EType == rdmap.ETypeRemoteOperation && k.Code != stream && k.Code != global
}

package conformance

import (
	"bytes"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// terminateCodeRules judge the error codes and the header control bits of Terminates
// (RFC 5040 section 4.8, RFC 6580).
var terminateCodeRules = []Rule{
	{
		ID: "RDMAP-TERM-LAYER-01", Needs: Full, Field: "iwarp_rdma.term_layer",
		Terminate: &On[*terminate]{
			Applies: anyCode,
			Judge: func(r *Report, t *terminate) {
				if t.code.Layer > 2 {
					reportTerminate(r, None, t, "the layer of the Terminate does not exist", fmt.Sprint(t.code.Layer), "0 to 2")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CODE-01", Needs: Full, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *Report, t *terminate) {
				if !t.code.Assigned() {
					reportTerminate(r, None, t, "an error of RDMAP that is not assigned", codeText(t.code), "type 0; type 1 codes 0 to 4, 9, ff; type 2 codes 5 to 9, ff")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CODE-02", Needs: Full, Field: termCode,
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAX-AREQ-ALIGN-02"},
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *Report, t *terminate) {
				if t.header == nil || !t.code.Assigned() || r.gates(t.peer)&Sync == 0 {
					return
				}
				quoted := rdmap.ControlOf(t.header.RsvdULP)
				switch k := t.code; {
				case k.EType == 2 && k.Code == 5 && t.peer.hasVersions && quoted.RV == t.peer.rv:
					reportTerminate(r, None, t, "the quoted message has the version of the stream", fmt.Sprintf("RV %d", quoted.RV), "another version")
				case k.Code == 9 && !t.op.Invalidates():
					reportTerminate(r, None, t, "the quoted message invalidates nothing", t.op.String(), "a Send with Invalidate")
				case k.EType == 2 && k.Code == 6 && t.plausible():
					reportTerminate(r, None, t, "the quoted opcode is one that can come at any time", t.op.String(), "one that is unexpected")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CODE-03", Needs: Full, Field: termEType,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerRDMAP),
			Judge: func(r *Report, t *terminate) {
				if t.header == nil || t.code.EType != 1 {
					return
				}
				if t.op != opReadRequest && !t.op.Invalidates() && t.op != opAtomicRequest {
					reportTerminate(r, None, t, "a protection error of RDMAP about a message that cannot cause one", t.op.String(), "a Read Request or a Send with Invalidate; a DDP error otherwise")
				}
			},
		},
	},
	{
		ID: "DDP-ERR-CODE-01", Needs: Full, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerDDP),
			Judge: func(r *Report, t *terminate) {
				switch {
				case t.code.EType == 3:
					reportTerminate(r, Note, t, "an error type of DDP that is kept for the lower layer", t.code.Name(), "type 0 to 2")
				case !t.code.Assigned():
					reportTerminate(r, None, t, "an error of DDP that is not assigned", codeText(t.code), "type 0 code 0, type 1 codes 0 to 4, type 2 codes 1 to 6")
				}
			},
		},
	},
	{
		ID: "DDP-ERR-CODE-02", Needs: Full, Field: termEType,
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerDDP),
			Judge: func(r *Report, t *terminate) {
				if t.header == nil || t.code.EType != 1 && t.code.EType != 2 {
					return
				}
				if (t.code.EType == 1) != t.header.Tagged {
					reportTerminate(r, None, t, "the error type does not fit the quoted segment", fmt.Sprintf("type %d, T=%d", t.code.EType, bit(t.header.Tagged)), "type 1 of tagged, type 2 of untagged ones")
				}
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-ETYPE", Needs: Full, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *Report, t *terminate) {
				if t.code.EType == 0 && t.code.Code != 0 && t.code.Code <= 7 {
					return
				}
				severity := None
				if r.t.Transport == trace.SCTP {
					severity = Note
				}
				reportTerminate(r, severity, t, "an error of the lower layer that is not assigned", codeText(t.code), "type 0, codes 1 to 7")
			},
		},
	},
	{
		ID: "MPA-C-OFF-01", Needs: Full, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *Report, t *terminate) {
				crcError := t.code.EType == 0 && t.code.Code == 2
				if r.t.Transport == trace.TCP && r.Has(Neg) && r.t.CRC == mpa.No && r.t.Negotiated && crcError {
					reportTerminate(r, None, t, "a CRC error although neither side wants CRCs", codeText(t.code), "no CRC is checked")
				}
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-03", Needs: Full, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *Report, t *terminate) {
				markerError := t.code.EType == 0 && t.code.Code == 3
				if r.t.Transport == trace.TCP && r.Has(Neg) && markerError && r.t.Markers[t.peer.dir] == mpa.No {
					reportTerminate(r, None, t, "a marker error in a direction without markers", codeText(t.code), "markers in that direction")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-06", Needs: Sync, Transport: onSCTP, Field: termCode,
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope { return InScopeIf(t.code.Layer == rdmap.LayerLLP) },
			Judge: func(r *Report, t *terminate) {
				if t.code.Code >= 1 && t.code.Code <= 4 {
					reportTerminate(r, None, t, "an error code of MPA over SCTP", codeText(t.code), "5 to 7")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-HDRCT-02", Needs: Full, Field: "iwd.payload.length",
		YieldsTo: []string{"ADV-TERM-SWAPPED"},
		Terminate: &On[*terminate]{
			Applies: anyCode,
			Judge: func(r *Report, t *terminate) {
				if !t.swapped && t.broken != nil {
					reportTerminate(r, None, t, "the Terminate is shorter than what M, D and R announce", fmt.Sprintf("%d octets", t.octets), t.broken.Error())
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-HDRCT-01", Needs: Full, Field: "iwarp_rdma.term_hdrct_m",
		YieldsTo:  []string{"ADV-TERM-SWAPPED", "RDMAX-TERM-01"},
		Terminate: &On[*terminate]{Applies: anyCode, Judge: judgeControlBits},
	},
	{
		ID: "RDMAP-TERM-HDRCT-03", Needs: Full, Field: "iwarp_rdma.term_hdrct_m",
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAP-TERM-HDRCT-01"},
		Terminate: &On[*terminate]{
			Applies: anyCode,
			Judge: func(r *Report, t *terminate) {
				switch k := t.code; {
				case k.R && !k.D:
					reportTerminate(r, Warning, t, "an RDMA header without the DDP header that it belongs to", bitsText(k), "D=1")
				case k.M != k.D:
					reportTerminate(r, None, t, "M and D belong together", bitsText(k), "both or none")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-LEN-01", Needs: Full, Field: "iwd.payload.length",
		YieldsTo: []string{"ADV-TERM-SWAPPED", "RDMAP-TERM-HDRCT-02"},
		Terminate: &On[*terminate]{
			Applies: anyCode,
			Judge: func(r *Report, t *terminate) {
				if t.broken != nil || len(t.quote.Trailing) == 0 {
					return
				}
				severity := None
				if len(bytes.Trim(t.quote.Trailing, "\x00")) == 0 {
					severity = Note
				}
				reportTerminate(r, severity, t, "octets behind the parts that the Terminate announces", fmt.Sprintf("%d octets", len(t.quote.Trailing)), "none")
			},
		},
	},
	{
		ID: "RDMAX-TERM-01", Needs: Full, Field: "iwarp_rdma.hdrct_r",
		Terminate: &On[*terminate]{
			Applies: anyCode,
			Judge: func(r *Report, t *terminate) {
				if t.header != nil && extension(t.op) && t.code.R {
					reportTerminate(r, None, t, "an RDMA header is quoted of a message of RFC 7306", "R=1", "R=0")
				}
			},
		},
	},
}

// anyCode is the scope of rules on the control word of a Terminate, in the reading
// that was chosen.
func anyCode(_ *Case, t *terminate) Scope { return InScopeIf(!t.onlyReserved) }

// codeOf is that scope for the errors of a layer.
func codeOf(layer uint8) func(*Case, *terminate) Scope {
	return func(_ *Case, t *terminate) Scope { return InScopeIf(!t.onlyReserved && t.code.Layer == layer) }
}

// reportTerminate reports a violation by a Terminate, of the severity of the entry if
// that is None. The field that the rule speaks of has the name that it has there.
func reportTerminate(r *Report, s Severity, t *terminate, message, observed, expected string) {
	r.Report(Violation{
		Place: t.where(), Severity: s, Message: message, Observed: observed, Expected: expected, Field: t.fieldName(r.Field()),
	})
}

// judgeControlBits judges M, D and R by what the error is about.
func judgeControlBits(r *Report, t *terminate) {
	k := t.code
	some := k.M || k.D || k.R
	none := k.Layer == 0 && k.EType == 0 || k.Layer == 1 && k.EType == 0 || k.Layer == 2
	switch {
	case none && some:
		reportTerminate(r, None, t, "header control bits with an error that has no segment", bitsText(k), "M=0 D=0 R=0")
	case k.Layer == 1 && (k.EType == 1 || k.EType == 2) && (!k.M || !k.D):
		reportTerminate(r, None, t, "a DDP error without the segment in error", bitsText(k), "M=1 D=1")
	case k.Layer == 0 && k.EType == 1 && t.header != nil && t.op == opReadRequest && !k.R:
		reportTerminate(r, None, t, "a protection error of a Read without its header", bitsText(k), "R=1")
	case k.R && t.header != nil && t.op != opReadRequest:
		reportTerminate(r, None, t, "an RDMA header is quoted of a message that has none", fmt.Sprintf("R=1 with %v", t.op), "R=0")
	case k.Layer == 0 && (k.EType == 1 || k.EType == 2) && !k.D:
		reportTerminate(r, Note, t, "an RDMAP error without the header of the segment in error", bitsText(k), "D=1 if possible")
	}
}

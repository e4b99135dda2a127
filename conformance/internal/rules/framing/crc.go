package framing

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// crcRules judge the CRCs of FPDUs (RFC 5044 section 4.4).
var crcRules = []rules.Rule{
	{
		ID: "MPA-CRC-VALUE-01", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full | catalogue.Sum, ByShape: true,
		Field:    "iwarp_mpa.crc",
		YieldsTo: []string{"MPA-C-ON-01", "MPA-CRC-KEEP-01", "MPA-CRC-COVER-01", "MPA-CRC-COVER-02", "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-FPDU-FMT-01"},
		FPDU: &rules.On[*model.FPDU]{
			Applies: agreedCRC,
			Judge: func(r *rules.Report, e *model.FPDU) {
				f := e.FPDU
				if f.CRCStatus != mpa.CRCBad || e.Displaced != nil { // which its markers explain
					return
				}
				hint, variant := crcHint(f)
				r.Report(rules.Violation{
					Place: e.Where(), Message: "wrong CRC" + hint, Variant: variant,
					Observed: fmt.Sprintf("%08x", f.CRC), Expected: fmt.Sprintf("%08x", f.WantCRC),
					Soon:    !model.Constant(f.CRC), // a constant may turn out only later not to be a CRC
					Dropped: true,
				})
			},
		},
	},
	{
		ID: "MPA-C-ON-01", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full, ByShape: true, Late: true,
		Field: "iwarp_mpa.crc",
		Test: rules.Test{ // the indication had a right CRC
			Needs:   rules.KeepsSteps | rules.ComesFirst,
			Related: []string{"MPA-CRC-KEEP-01"},
		},
		FPDU: &rules.On[*model.FPDU]{
			Applies: agreedCRC,
			Judge: func(r *rules.Report, e *model.FPDU) {
				// The two before this one had the same value.
				if !e.CRC.Good && e.CRC.Run >= 2 && e.RepeatsConstant() && !r.Reported(e.Direction) {
					r.On(e.ConstantsBegin(), "CRCs are enabled, but the CRC fields are not filled in", fmt.Sprintf("%08x in each FPDU", e.FPDU.CRC), "the CRC of each FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-CRC-KEEP-01", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full, ByShape: true, Late: true,
		Field: "iwarp_mpa.crc",
		Test:  rules.Test{Needs: rules.KeepsSteps},
		FPDU: &rules.On[*model.FPDU]{
			Applies: agreedCRC,
			Judge: func(r *rules.Report, e *model.FPDU) {
				if e.CRC.Good && e.CRC.Run >= 1 && e.RepeatsConstant() && !r.Reported(e.Direction) {
					r.On(e.ConstantsBegin(), "the sender stops computing CRCs in the middle of the connection", fmt.Sprintf("%08x from here on", e.FPDU.CRC), "the CRC of each FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-CRC-COVER-01", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full | catalogue.Sum, ByShape: true,
		Field: "iwarp_mpa.crc",
		Test:  rules.Test{Related: []string{"MPA-CRC-COVER-02"}}, // the marker stands in front
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf(e.Marked(c.Conn) && innerMarkers(e.FPDU) > 0 && crcVerified(e.FPDU))
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				if f := e.FPDU; f.CRCStatus == mpa.CRCBad && model.CRCOf(withoutMarkers(f)) == f.CRC {
					r.On(e, "the CRC does not cover the markers", fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC))
				}
			},
		},
	},
	{
		ID: "MPA-CRC-COVER-02", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full | catalogue.Sum, ByShape: true,
		Field: "iwarp_mpa.crc",
		Test:  rules.Test{Needs: rules.ComesFirst},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf(e.FPDU.Lead && e.Marked(c.Conn) && crcVerified(e.FPDU))
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				f, w := e.FPDU, e.FPDU.Wire
				if f.CRCStatus == mpa.CRCBad && len(w) > mpa.MarkerSize+model.CrcSize && model.CRCOf(w[mpa.MarkerSize:len(w)-model.CrcSize]) == f.CRC {
					r.On(e, "the CRC does not cover the marker before ULPDU_Length", fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC))
				}
			},
		},
	},
}

// agreedCRC is the scope of rules on FPDUs whose CRC was verified, where CRCs were
// agreed.
func agreedCRC(c *rules.Case, e *model.FPDU) rules.Scope {
	switch {
	case !crcVerified(e.FPDU):
		return rules.OutOfScope
	case !c.Trace.Negotiated && c.RequiresCRC() && unmarked(c, e):
		return rules.InScope.Given(catalogue.Neg)
	}
	return rules.InScopeIf(c.Trace.CRC == mpa.Yes)
}

// unmarked reports whether an FPDU is known to have no markers, although one startup frame was not captured: FPDUs in
// front of it with right CRCs have none where the first ones would be.
func unmarked(c *rules.Case, e *model.FPDU) bool {
	return e.Began && !e.Hole && c.Marking(e.Dir) == mpa.No && e.PDU.Offset > mpa.MarkerInterval && !e.CRC.Early
}

// crcVerified reports whether the CRC of an FPDU is known to be right or wrong.
func crcVerified(f *mpa.FPDU) bool { return f.CRCStatus == mpa.CRCGood || f.CRCStatus == mpa.CRCBad }

// withoutMarkers returns an FPDU up to its CRC field, without its markers.
func withoutMarkers(f *mpa.FPDU) []byte {
	w := f.Wire[:max(len(f.Wire)-model.CrcSize, 0)]
	out := make([]byte, 0, len(w))
	from := 0
	for i := range f.Markers {
		at := int(f.Markers[i].Offset - f.Offset)
		if at < from || at > len(w) {
			continue
		}
		out = append(out, w[from:at]...)
		from = min(at+mpa.MarkerSize, len(w))
	}
	return append(out, w[from:]...)
}

// crcHint describes a wrong CRC.
func crcHint(f *mpa.FPDU) (hint string, v catalogue.Variant) {
	switch f.CRC {
	case bits.ReverseBytes32(f.WantCRC):
		return ", its octets are reversed", catalogue.SwappedOctets
	case 0:
		return ", the field is zero", catalogue.ZeroField
	}
	w := f.Wire[:max(len(f.Wire)-model.CrcSize, 0)]
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], crc32.ChecksumIEEE(w))
	if binary.BigEndian.Uint32(b[:]) == f.CRC {
		return ", it is a plain CRC-32", catalogue.PlainCRC32
	}
	return "", 0
}

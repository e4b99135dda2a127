package conformance

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// crcRules judge the CRCs of FPDUs (RFC 5044 section 4.4).
var crcRules = []Rule{
	{
		ID: "MPA-CRC-VALUE-01", Needs: Neg | Sync | Full | Sum, ByShape: true,
		Field:    "iwarp_mpa.crc",
		YieldsTo: []string{"MPA-C-ON-01", "MPA-CRC-KEEP-01", "MPA-CRC-COVER-01", "MPA-CRC-COVER-02", "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-FPDU-FMT-01"},
		FPDU: &On[*fpdu]{
			Applies: agreedCRC,
			Judge: func(r *Report, e *fpdu) {
				f := e.f
				if f.CRCStatus != mpa.CRCBad {
					return
				}
				r.Report(Violation{
					Place: e.where(), Message: "wrong CRC" + crcHint(f),
					Observed: fmt.Sprintf("%08x", f.CRC), Expected: fmt.Sprintf("%08x", f.WantCRC),
					Soon: !constant(f.CRC), // that a constant is no CRC at all may show only later
				})
			},
		},
	},
	{
		ID: "MPA-C-ON-01", Needs: Neg | Sync | Full, ByShape: true, Late: true,
		Field: "iwarp_mpa.crc",
		FPDU: &On[*fpdu]{
			Applies: agreedCRC,
			Judge: func(r *Report, e *fpdu) {
				// Two before this one had the same value.
				if e.crc.good == 0 && e.crc.run >= 2 && e.repeatsConstant() && !r.Reported(e.half) {
					r.On(e.constantsBegin(), "CRCs are agreed, and none is filled in", fmt.Sprintf("%08x in each FPDU", e.f.CRC), "the CRC of each")
				}
			},
		},
	},
	{
		ID: "MPA-CRC-KEEP-01", Needs: Neg | Sync | Full, ByShape: true, Late: true,
		Field: "iwarp_mpa.crc",
		FPDU: &On[*fpdu]{
			Applies: agreedCRC,
			Judge: func(r *Report, e *fpdu) {
				if e.crc.good > 0 && e.crc.run >= 1 && e.repeatsConstant() && !r.Reported(e.half) {
					r.On(e.constantsBegin(), "the CRCs stop in the middle of the connection", fmt.Sprintf("%08x from here on", e.f.CRC), "the CRC of each FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-CRC-COVER-01", Needs: Neg | Sync | Full | Sum, ByShape: true,
		Field: "iwarp_mpa.crc",
		FPDU: &On[*fpdu]{
			Applies: func(c *Case, e *fpdu) Scope {
				return InScopeIf(e.marked(c.conn) && innerMarkers(e.f) > 0 && crcVerified(e.f))
			},
			Judge: func(r *Report, e *fpdu) {
				if f := e.f; f.CRCStatus == mpa.CRCBad && crcOf(withoutMarkers(f)) == f.CRC {
					r.On(e, "the CRC leaves out the markers", fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC))
				}
			},
		},
	},
	{
		ID: "MPA-CRC-COVER-02", Needs: Neg | Sync | Full | Sum, ByShape: true,
		Field: "iwarp_mpa.crc",
		FPDU: &On[*fpdu]{
			Applies: func(c *Case, e *fpdu) Scope {
				return InScopeIf(e.f.Lead && e.marked(c.conn) && crcVerified(e.f))
			},
			Judge: func(r *Report, e *fpdu) {
				f, w := e.f, e.f.Wire
				if f.CRCStatus == mpa.CRCBad && len(w) > mpa.MarkerSize+crcSize && crcOf(w[mpa.MarkerSize:len(w)-crcSize]) == f.CRC {
					r.On(e, "the CRC leaves out the marker before ULPDU_Length", fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC))
				}
			},
		},
	},
}

// agreedCRC is the scope of rules on FPDUs whose CRC was verified, where CRCs were
// agreed.
func agreedCRC(c *Case, e *fpdu) Scope { return InScopeIf(c.t.CRC == mpa.Yes && crcVerified(e.f)) }

// crcVerified reports whether the CRC of an FPDU is known to be right or wrong.
func crcVerified(f *mpa.FPDU) bool { return f.CRCStatus == mpa.CRCGood || f.CRCStatus == mpa.CRCBad }

// withoutMarkers returns an FPDU up to its CRC field, without its markers.
func withoutMarkers(f *mpa.FPDU) []byte {
	w := f.Wire[:max(len(f.Wire)-crcSize, 0)]
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

// crcHint says what a wrong CRC looks like.
func crcHint(f *mpa.FPDU) string {
	switch f.CRC {
	case bits.ReverseBytes32(f.WantCRC):
		return ", its octets are reversed"
	case 0:
		return ", the field is zero"
	}
	w := f.Wire[:max(len(f.Wire)-crcSize, 0)]
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], crc32.ChecksumIEEE(w))
	if binary.BigEndian.Uint32(b[:]) == f.CRC {
		return ", it is a plain CRC-32"
	}
	return ""
}

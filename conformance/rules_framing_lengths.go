package conformance

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// lengthRules judge the length and the layout of FPDUs (RFC 5044 section 4.1).
var lengthRules = []Rule{
	{
		ID: "MPA-FPDU-LEN-01", Needs: Sync | Full, ByShape: true,
		FPDU: &On[*fpdu]{
			Applies: endByCRC,
			Judge: func(r *Report, e *fpdu) {
				f := e.f
				if f.CRCStatus == mpa.CRCGood {
					return
				}
				if len(f.Markers) > 0 && !r.t.Negotiated {
					r.Unproven(Neg) // perhaps they are no markers
					return
				}
				if what, want := countedToo(f); what != "" {
					r.On(e, "ULPDU_Length counts "+what+" as well", fmt.Sprint(f.ULPDULength), fmt.Sprint(want))
				}
			},
		},
	},
	{
		ID: "MPA-FPDU-PAD-02", Needs: Sync | Full, ByShape: true,
		FPDU: &On[*fpdu]{
			Applies: endByCRC,
			Judge: func(r *Report, e *fpdu) {
				if pad, ok := shorterPad(e.f); ok {
					r.On(e, "the pad is too short", fmt.Sprintf("%d octets", pad), fmt.Sprintf("%d octets", e.f.PadLen))
				}
			},
		},
		Loose: &On[*loose]{
			Applies: func(c *Case, s *loose) Scope {
				return InScopeIf(behindSuspect(s) && c.marking(s.dir) != mpa.Yes && c.streamed(s.half)).Given(Full)
			},
			Judge: func(r *Report, s *loose) {
				k := &s.chain
				if pad, ok := k.longerPad(s.octets); ok {
					r.On(k.at.in(s.dir), "the pad is too long", fmt.Sprintf("%d octets", pad), fmt.Sprintf("%d octets", k.pad))
				}
			},
		},
	},
	{
		ID: "MPA-C-FIELD-01", Needs: Neg | Start | Contig, ByShape: true,
		FPDU: &On[*fpdu]{
			Applies: func(c *Case, e *fpdu) Scope { return InScopeIf(e.f.CRCStatus == mpa.CRCOff && c.t.Negotiated) },
		},
		Loose: &On[*loose]{
			Applies: func(c *Case, s *loose) Scope {
				return InScopeIf(s.bare >= enoughBare && c.t.CRC == mpa.No && c.t.Negotiated && c.streamed(s.half))
			},
			Judge: func(r *Report, s *loose) {
				if !r.Reported(s.half) {
					r.On(s, "FPDUs without the CRC field, which has to be there though nobody verifies it",
						fmt.Sprintf("%d FPDUs follow each other if they have none", s.bare), "four octets behind each ULPDU and pad")
				}
			},
		},
	},
	{
		ID: "MPA-FPDU-FMT-01", Needs: Sync, ByShape: true,
		YieldsTo: []string{"MPA-CONN-POINT-01", "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-C-FIELD-01"},
		FPDU: &On[*fpdu]{
			Applies: func(c *Case, e *fpdu) Scope {
				switch {
				case !c.streamed(e.half):
					return OutOfScope
				case c.astray(e.half):
					return Lacking(Sync)
				case foundAgain(e) && !c.t.Negotiated:
					return Lacking(Neg) // there may be markers of which nobody knows
				}
				return InScope
			},
			Judge: func(r *Report, e *fpdu) {
				switch f := e.f; {
				case foundAgain(e):
					reportLost(r, e.half, e.chain.at.in(e.dir), "the octets behind this FPDU are none: its length is wrong")
				case f.CRCStatus == mpa.CRCBad && (f.ULPDULength < mpa.MinULPDU || f.ULPDULength > mpa.MaxULPDU):
					reportLost(r, e.half, e.where(), "no FPDU has this length")
				case f.Unsent > 0 && r.t.CRC == mpa.Yes && holdsFPDU(f.Wire[:len(f.Wire)-f.Unsent]):
					reportLost(r, e.half, e.where(), "the FPDU ends before its length says so")
				}
			},
		},
		Loose: &On[*loose]{
			Applies: func(c *Case, s *loose) Scope {
				switch {
				case !c.streamed(s.half) || s.count == 0 && !(c.accepted() && headed(s.octets)):
					return OutOfScope
				case c.astray(s.half):
					return Lacking(Sync)
				case !c.t.Negotiated:
					return Lacking(Neg)
				}
				return InScopeIf(behindSuspect(s) || inPlaceOfFPDU(s))
			},
			Judge: func(r *Report, s *loose) {
				if behindSuspect(s) {
					reportLost(r, s.half, s.chain.at.in(s.dir), "the octets behind this FPDU are none: its length is wrong")
				} else {
					reportLost(r, s.half, s.where(), "octets that are no FPDU where one has to begin")
				}
			},
		},
	},
}

// enoughBare is how many FPDUs without a CRC field prove that there is none.
const enoughBare = 3

// reportLost reports once for a direction where its framing is lost.
func reportLost(r *Report, h *half, at Place, message string) {
	if !r.Reported(h) {
		r.On(at, "framing is lost: "+message, "octets that cannot be laid out", "one FPDU behind the other")
	}
}

// endByCRC is the scope of rules on FPDUs whose CRC tells where they end.
func endByCRC(c *Case, e *fpdu) Scope {
	f := e.f
	switch {
	case c.t.CRC != mpa.Yes:
		return OutOfScope
	case f.Unsent > 0 && len(f.Missing) == 1 && f.Missing[0].To-f.Missing[0].From == f.Unsent:
		return InScope.Given(Full) // all that was sent of it
	}
	return InScopeIf(crcVerified(f))
}

// countedToo returns what an FPDU counts in ULPDU_Length although it is not part of the
// ULPDU, and the length without it: with that the CRC is right. "" if nothing fits.
func countedToo(f *mpa.FPDU) (what string, want int) {
	for _, w := range [...]struct {
		octets int
		what   string
	}{
		{2, "ULPDU_Length"}, {4, "the CRC"}, {6, "ULPDU_Length and the CRC"}, {mpa.MarkerSize * innerMarkers(f), "the markers"},
	} {
		if n := int(f.ULPDULength) - w.octets; w.octets > 0 && n >= mpa.MinULPDU && endsAt(f, n, mpa.PadLen(n)) {
			return w.what, n
		}
	}
	return "", 0
}

// shorterPad returns the length of the pad, in octets, with which the CRC of an FPDU is
// right, if it is shorter than it has to be.
func shorterPad(f *mpa.FPDU) (pad int, ok bool) {
	if f.CRCStatus == mpa.CRCGood {
		return 0, false
	}
	for pad := range f.PadLen {
		if endsAt(f, int(f.ULPDULength), pad) {
			return pad, true
		}
	}
	return 0, false
}

// endsAt reports whether the CRC is right if the ULPDU has n octets and the pad
// has pad.
func endsAt(f *mpa.FPDU, n, pad int) bool {
	end := lengthSize + n + pad + crcSize
	if f.Lead {
		end += mpa.MarkerSize
	}
	for i := range f.Markers {
		if m := &f.Markers[i]; m.Expected != 0 && int(m.Offset-f.Offset) < end {
			end += mpa.MarkerSize
		}
	}
	if end > len(f.Wire)-f.Unsent {
		return false
	}
	return crcOf(f.Wire[:end-crcSize]) == binary.BigEndian.Uint32(f.Wire[end-crcSize:])
}

// foundAgain reports whether an FPDU was found by search, behind one with a wrong CRC
// whose length leads elsewhere.
func foundAgain(e *fpdu) bool { return e.f.Sync != mpa.InSync && e.chain.suspect }

// behindSuspect reports whether loose octets follow an FPDU with a wrong CRC.
func behindSuspect(s *loose) bool { return s.chain.suspect && s.from == s.chain.end }

// inPlaceOfFPDU reports whether loose octets are as many as an FPDU has at least, and
// cannot be the beginning of one.
func inPlaceOfFPDU(s *loose) bool {
	return s.length >= mpa.MinULPDU+lengthSize+crcSize && impossible(s.octets)
}

// holdsFPDU reports whether an FPDU with a right CRC begins where w begins, and
// ends before w does.
func holdsFPDU(w []byte) bool {
	var sum uint32
	for end := 0; end+crcSize <= len(w); end += 4 {
		if end >= lengthSize+mpa.MinULPDU && sum == binary.LittleEndian.Uint32(w[end:]) {
			return true
		}
		sum = crc32.Update(sum, castagnoli, w[end:end+4])
	}
	return false
}

// impossible reports whether octets cannot be the beginning of an FPDU.
func impossible(b []byte) bool {
	if len(b) >= mpa.MarkerSize && binary.BigEndian.Uint32(b) == 0 {
		b = b[mpa.MarkerSize:]
	}
	if len(b) < lengthSize {
		return false
	}
	if n := binary.BigEndian.Uint16(b); n < mpa.MinULPDU || n > mpa.MaxULPDU {
		return true
	}
	var s ddp.Segment
	if ddp.DecodeTo(&s, b[lengthSize:]) != nil {
		return false // too few of them
	}
	op := rdmap.ControlOf(s.RsvdULP).Opcode
	qn, _ := op.Queue()
	return s.DV > 1 && (!op.Assigned() || op.Tagged() != s.Tagged || !s.Tagged && qn != s.QN)
}

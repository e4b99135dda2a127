package framing

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// lengthRules judge the length and the layout of FPDUs (RFC 5044 section 4.1).
var lengthRules = []rules.Rule{
	{
		ID: "MPA-FPDU-LEN-01", Needs: catalogue.Sync | catalogue.Full, ByShape: true, Late: true,
		Test: rules.Test{Needs: rules.SameCRC},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				_, before := e.SwappedBefore()
				_, toEnd := e.SwappedToEnd()
				short, _, _ := e.ShortBefore()
				if (before || toEnd || short != nil) && c.LengthsOnly(e.Direction) {
					return rules.InScope.Given(catalogue.Sync | catalogue.Full)
				}
				return endByCRC(c, e)
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				f := e.FPDU
				if r.Trace.CRC == mpa.No {
					if n, ok := e.SwappedBefore(); ok {
						r.Report(swappedLength(e.LastFPDU(), e.LastLength, n))
					} else if n, ok := e.SwappedToEnd(); ok {
						r.Report(swappedLength(e.Begin(), f.ULPDULength, n))
					} else if s, least, most := e.ShortBefore(); s != nil {
						r.On(s.Begin(), "ULPDU_Length is less than a DDP header has, and the next FPDU begins later",
							fmt.Sprint(binary.BigEndian.Uint16(s.Octets)), fmt.Sprintf("%d to %d", least, most))
					}
					return
				}
				if f.CRCStatus == mpa.CRCGood || e.Displaced != nil {
					return
				}
				if len(f.Markers) > 0 && !r.Trace.Negotiated {
					r.Unproven(catalogue.Neg) // perhaps they are no markers
					return
				}
				if v := rightLength(e); v.Message != "" {
					r.Report(v)
				}
			},
		},
		Loose: &rules.On[*model.Loose]{
			// The CRC field may be missing, and the pad.
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				x, over := s.Overlaps()
				_, swapped := s.Swapped()
				return rules.InScopeIf((over && x.By > mpa.PadLen(int(x.Length))+model.CrcSize || swapped) && c.LengthsOnly(s.Direction)).Given(catalogue.Sync | catalogue.Full)
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				x, _ := s.Overlaps()
				if n, ok := s.SwappedBefore(); ok {
					r.Report(swappedLength(s.LastFPDU(), s.LastLength, n))
					return
				}
				if n, ok := s.Swapped(); ok {
					r.Report(swappedLength(s.Begin(), binary.BigEndian.Uint16(s.Octets), n))
					return
				}
				reportSwallowed(r, &x)
			},
		},
		Segment: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				_, ok := s.SkipsSwallowed(c.Conn)
				return rules.InScopeIf(ok).Given(catalogue.Sync | catalogue.Full)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				x, _ := s.SkipsSwallowed(r.Conn)
				reportSwallowed(r, &x)
			},
		},
	},
	{
		ID: "MPA-FPDU-PAD-02", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Test: rules.Test{Needs: rules.SameCRC},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				if model.LacksPad(e.FPDU) {
					return rules.InScope
				}
				return endByCRC(c, e)
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				if model.LacksPad(e.FPDU) {
					if !r.Reported(e.Direction) {
						r.On(e.Begin(), "FPDUs have no pad, from this one on", "0 octets", fmt.Sprintf("%d octets", mpa.PadLen(int(e.FPDU.ULPDULength))))
					}
				} else if pad, ok := shorterPad(e.FPDU); ok {
					r.On(e.Begin(), "the pad is too short", fmt.Sprintf("%d octets", pad), fmt.Sprintf("%d octets", e.FPDU.PadLen))
				}
			},
		},
		Loose: &rules.On[*model.Loose]{
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				return rules.InScopeIf(behindSuspect(s) && c.Marking(s.Dir) != mpa.Yes).Given(catalogue.Full)
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				k := &s.Chain
				if pad, ok := k.LongerPad(s.Octets); ok {
					r.On(k.At.In(s.Dir), "the pad is too long", fmt.Sprintf("%d octets", pad), fmt.Sprintf("%d octets", k.Pad))
				}
			},
		},
	},
	{
		ID: "MPA-C-FIELD-01", Needs: catalogue.Neg | catalogue.Start | catalogue.Contig, ByShape: true,
		Test: rules.Test{Needs: rules.KeepsSteps | rules.SameMarkers},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf(e.FPDU.CRCStatus == mpa.CRCOff && c.Trace.Negotiated)
			},
		},
		Loose: &rules.On[*model.Loose]{
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				return rules.InScopeIf(s.Bare >= enoughBare && c.Trace.CRC == mpa.No && c.Trace.Negotiated && c.Streamed(s.Direction))
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				if !r.Reported(s.Direction) {
					// The FPDU before them is the first one of these; they show it.
					first, at := s.LastFPDU(), s.Where()
					at.Frame, at.HasOffset, at.Related = first.Frame, false, []uint64{first.PDU}
					r.On(at, "the CRC field is missing; it must be present even if it is not used",
						fmt.Sprintf("%d consecutive FPDUs if none has a CRC field", s.Bare), "four octets after each ULPDU and pad")
				}
			},
		},
	},
	{
		ID: "MPA-FPDU-FMT-01", Needs: catalogue.Sync, ByShape: true, Late: true, Noise: true,
		YieldsTo: []string{"MPA-CONN-POINT-01", "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-C-FIELD-01", "MPA-MARKER-POS-01"},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				_, unchained := e.Unchained(c.Conn)
				switch {
				case !c.Streamed(e.Direction) || e.Chain.Outer() != nil:
					return rules.OutOfScope
				case unchained || e.Between(c.Conn) != nil:
					return rules.InScopeIf(!c.FramingLost(e.Direction)).Given(catalogue.Sync)
				case c.Astray(e.Direction):
					return rules.Lacking(catalogue.Sync)
				case foundAgain(e) && !c.Trace.Negotiated:
					return rules.Lacking(catalogue.Neg) // there may be unknown markers
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				at, unchained := e.Unchained(r.Conn)
				s := e.Between(r.Conn)
				switch f := e.FPDU; {
				case s != nil:
					reportLost(r, e.Direction, s.Begin(), notFPDU)
				case unchained:
					reportLost(r, e.Direction, at, noFPDUBehind)
				case foundAgain(e):
					reportLost(r, e.Direction, e.Chain.Begin(e.Dir), "the octets after this FPDU are not an FPDU; its length is wrong")
				case f.CRCStatus == mpa.CRCBad && (f.ULPDULength < mpa.MinULPDU || f.ULPDULength > mpa.MaxULPDU):
					reportLost(r, e.Direction, e.Begin(), noLength)
				case f.Unsent > 0 && r.Trace.CRC == mpa.Yes && holdsFPDU(f.Wire[:len(f.Wire)-f.Unsent]):
					message := "the FPDU ends before its length is reached"
					if _, ok := swapped(f); ok {
						message += "; the octets of ULPDU_Length are swapped"
					}
					reportLost(r, e.Direction, e.Begin(), message)
				}
			},
		},
		Loose: &rules.On[*model.Loose]{
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				switch {
				case !c.Streamed(s.Direction) || s.Chain.Outer() != nil || s.Count == 0 && !(c.Accepted() && model.Headed(s.Octets)):
					return rules.OutOfScope
				case c.Astray(s.Direction):
					return rules.Lacking(catalogue.Sync)
				case !c.Trace.Negotiated:
					return rules.Lacking(catalogue.Neg)
				}
				return rules.InScopeIf(behindSuspect(s) || inPlaceOfFPDU(s))
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				_, over := s.Overlaps()
				switch {
				case behindSuspect(s):
					reportLost(r, s.Direction, s.Chain.Begin(s.Dir), "the octets after this FPDU are not an FPDU; its length is wrong")
				case over && r.Trace.CRC == mpa.No, (s.Awaited || s.Noise) && s.From == s.Latest.End: // something is wrong with the FPDU before them, too
					reportLost(r, s.Direction, s.LastFPDU(), noFPDUBehind)
				case tooLong(s.Octets):
					reportLost(r, s.Direction, s.Begin(), noLength)
				default:
					reportLost(r, s.Direction, s.Begin(), notFPDU)
				}
			},
		},
		Segment: &rules.On[*model.Segment]{
			// One alone may be what its sender put into a right FPDU.
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Noise && s.Direction.Noise && c.Streamed(s.Direction) && !c.Astray(s.Direction))
			},
			Judge: func(r *rules.Report, s *model.Segment) { reportLost(r, s.Direction, s.LastFPDU(), noFPDUBehind) },
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				noise := h.Noise && c.Streamed(h) && !c.Astray(h)
				reaches := h.Chain.Outer() != nil && !h.Unsure && c.FramedToEnd(h) && !c.FramingLost(h)
				return rules.InScopeIf(noise || reaches).Given(catalogue.Sync)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if h.Noise {
					reportLost(r, h, h.LastFPDU(), noFPDUBehind)
				} else {
					reportLost(r, h, *h.Chain.Outer(), "the length of this FPDU reaches over others, up to the end of the stream")
				}
			},
		},
	},
}

// reportSwallowed reports an FPDU that reaches over others.
func reportSwallowed(r *rules.Report, x *model.Swallowed) {
	r.On(x.At, fmt.Sprintf("ULPDU_Length is at least %d octets too large: the next FPDU begins %d octets before its end", int(x.Length)-x.Most, x.By),
		fmt.Sprint(x.Length), fmt.Sprintf("at most %d", x.Most))
}

// noFPDUBehind is what is wrong where no CRC says which part of an FPDU leads astray.
const noFPDUBehind = "the octets after this FPDU are not an FPDU; its length, its pad or its CRC field is wrong"

// noLength is what is wrong with a length that no FPDU has.
const noLength = "an FPDU cannot have this length"

// tooLong reports whether octets begin with an FPDU, but for a length that is above the maximum. The rest of it may not have come.
func tooLong(b []byte) bool {
	return model.HeadedAt(b, 0) && binary.BigEndian.Uint16(b) > mpa.MaxULPDU
}

// notFPDU is what is wrong with octets between two FPDUs.
const notFPDU = "octets are not an FPDU where one must begin"

// enoughBare is how many FPDUs without a CRC field prove that there is none.
const enoughBare = 3

// reportLost reports once for a direction where its framing is lost.
func reportLost(r *rules.Report, h *model.Direction, at model.Place, message string) {
	if !r.Reported(h) {
		r.On(at, "framing is lost: "+message, "octets that cannot be framed", "one FPDU after another")
	}
}

// endByCRC is the scope of rules on FPDUs whose CRC shows where they end.
func endByCRC(c *rules.Case, e *model.FPDU) rules.Scope {
	f := e.FPDU
	switch {
	case c.Trace.CRC != mpa.Yes:
		return rules.OutOfScope
	case model.NeverWhole(f):
		return rules.InScope.Given(catalogue.Full) // all that was sent of it
	}
	return rules.InScopeIf(crcVerified(f))
}

// rightLength says what is wrong with the length of an FPDU, and with which one its CRC is right. The pad hides up to three octets
// of it. What a sender counts too, it counts in each FPDU: not where one before had a right CRC.
func rightLength(e *model.FPDU) (v rules.Violation) {
	f := e.FPDU
	if n, ok := swapped(f); ok && f.Unsent == 0 { // else MPA-FPDU-FMT-01 says so
		return swappedLength(e.Begin(), f.ULPDULength, n)
	}
	v.Place, v.Observed = e.Begin(), fmt.Sprint(f.ULPDULength)
	what, n := countedToo(f)
	if what == "" {
		return v
	}
	fits := n
	if !e.CRC.Good {
		v.Message, v.Expected, v.Variant = "ULPDU_Length counts "+what+" as well", fmt.Sprint(n), catalogue.CountsMore
		return v
	}
	n += mpa.PadLen(n) // the longest one that ends there
	pad := paddedBy(f, n)
	if size := fixedULPDU(f); size >= n-pad && size <= n {
		n, pad = size, 0
	}
	least := int(f.ULPDULength) - n
	v.Message, v.Expected = fmt.Sprintf("ULPDU_Length is %d octets too large", least), fmt.Sprint(n)
	switch {
	case pad > 0:
		v.Message, v.Expected = fmt.Sprintf("ULPDU_Length is %d to %d octets too large", max(least, 1), least+pad), fmt.Sprintf("%d to %d", n-pad, n)
	case least == 1:
		v.Message = "ULPDU_Length is 1 octet too large"
	case fits == n:
		v.Message += ", as if it counted " + what + " as well"
	}
	return v
}

// swappedLength is a length with its octets swapped.
func swappedLength(at model.Place, length uint16, n int) rules.Violation {
	return rules.Violation{
		Place: at, Message: "the octets of ULPDU_Length are swapped", Observed: fmt.Sprint(length), Expected: fmt.Sprint(n), Variant: catalogue.SwappedOctets,
	}
}

// swapped returns the length of an FPDU with its octets swapped, if the CRC is right with that.
func swapped(f *mpa.FPDU) (n int, ok bool) {
	n = int(bits.ReverseBytes16(f.ULPDULength))
	return n, n >= mpa.MinULPDU && n < int(f.ULPDULength) && endsAt(f, n, mpa.PadLen(n))
}

// fixedULPDU is the length of the ULPDU of an FPDU with a message that has only one; 0: it may have any.
func fixedULPDU(f *mpa.FPDU) int {
	if len(f.Head) <= ddp.UntaggedLen || f.Head[0]&0x80 != 0 {
		return 0
	}
	switch rdmap.ControlOf(f.Head[1]).Opcode {
	case rdmap.OpReadRequest:
		return ddp.UntaggedLen + rdmap.ReadRequestLen
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		return ddp.UntaggedLen + rdmap.ImmediateDataLen
	case rdmap.OpAtomicRequest:
		return ddp.UntaggedLen + rdmap.AtomicRequestLen
	case rdmap.OpAtomicResponse:
		return ddp.UntaggedLen + rdmap.AtomicResponseLen
	default:
		return 0
	}
}

// paddedBy is how many of the last octets of an ULPDU may be its pad, by their value; where there are markers, all that a pad can have.
func paddedBy(f *mpa.FPDU, n int) (pad int) {
	const most = 3
	if len(f.Markers) > 0 {
		return most
	}
	end := model.LengthSize + n
	for pad < most && n-pad > mpa.MinULPDU && end-pad <= len(f.Wire) && f.Wire[end-pad-1] == 0 {
		pad++
	}
	return pad
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
	end := model.LengthSize + n + pad + model.CrcSize
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
	return model.CRCOf(f.Wire[:end-model.CrcSize]) == binary.BigEndian.Uint32(f.Wire[end-model.CrcSize:])
}

// foundAgain reports whether an FPDU was found by search, after one with a wrong CRC whose
// length leads elsewhere.
func foundAgain(e *model.FPDU) bool { return e.FPDU.Sync != mpa.InSync && e.Chain.Suspect() }

// behindSuspect reports whether loose octets follow an FPDU with a wrong CRC.
func behindSuspect(s *model.Loose) bool { return s.Chain.Suspect() && s.From == s.Chain.End }

// inPlaceOfFPDU reports whether loose octets are as many as an FPDU has at least, and
// cannot be the beginning of one.
func inPlaceOfFPDU(s *model.Loose) bool {
	return s.Length >= mpa.MinULPDU+model.LengthSize+model.CrcSize && impossible(s.Octets)
}

// holdsFPDU reports whether an FPDU with a right CRC begins where w begins, and
// ends before w does.
func holdsFPDU(w []byte) bool {
	var sum uint32
	for end := 0; end+model.CrcSize <= len(w); end += 4 {
		if end >= model.LengthSize+mpa.MinULPDU && sum == binary.LittleEndian.Uint32(w[end:]) {
			return true
		}
		sum = crc32.Update(sum, model.Castagnoli, w[end:end+4])
	}
	return false
}

// impossible reports whether octets cannot be the beginning of an FPDU.
func impossible(b []byte) bool {
	if len(b) >= mpa.MarkerSize && binary.BigEndian.Uint32(b) == 0 {
		b = b[mpa.MarkerSize:]
	}
	if len(b) < model.LengthSize {
		return false
	}
	if n := binary.BigEndian.Uint16(b); n < mpa.MinULPDU || n > mpa.MaxULPDU {
		return true
	}
	var s ddp.Segment
	if ddp.DecodeTo(&s, b[model.LengthSize:]) != nil {
		return false // too few of them
	}
	op := rdmap.ControlOf(s.RsvdULP).Opcode
	qn, _ := op.Queue()
	return s.DV > 1 && (!op.Assigned() || op.Tagged() != s.Tagged || !s.Tagged && qn != s.QN)
}

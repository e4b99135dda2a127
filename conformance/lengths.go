package conformance

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// chain is what is known of the lengths that lead from one FPDU of a half to the
// next.
type chain struct {
	// lost: a length led to the wrong place once.
	lost bool
	// suspect says that the last FPDU had a wrong CRC.
	suspect bool
	*suspected
}

// suspected is the last FPDU of a half that had a wrong CRC.
type suspected struct {
	at  site
	end int64
	// sum is the CRC of that FPDU up to its field, field the field, pad the length
	// of its pad.
	sum   uint32
	field [crcSize]byte
	pad   int
}

// add takes in an FPDU, once the rules were asked.
func (k *chain) add(e *fpdu) {
	f := e.f
	if k.suspect = f.CRCStatus == mpa.CRCBad; !k.suspect {
		return
	}
	if k.suspected == nil {
		k.suspected = &suspected{}
	}
	k.at, k.end, k.pad = e.site(), e.p.From+e.p.Length, f.PadLen
	n := copy(k.field[:], f.Wire[len(f.Wire)-crcSize:])
	k.sum = crc32.Checksum(f.Wire[:len(f.Wire)-n], castagnoli)
}

// lengthChecks are about the length and the layout of FPDUs (RFC 5044 section 4.1).
var lengthChecks = []check{
	{id: "MPA-FPDU-LEN-01", shape: true, needs: Sync | Full, fpdu: func(c *conn, e *fpdu) {
		f := e.f
		if !e.verified(c) || !c.applies() || f.CRCStatus == mpa.CRCGood {
			return
		}
		if len(f.Markers) > 0 && !c.t.Negotiated {
			c.lacks(Neg) // perhaps they are none
			return
		}
		n := int(f.ULPDULength)
		for _, w := range [...]struct {
			octets int
			what   string
		}{
			{2, "ULPDU_Length"}, {4, "the CRC"}, {6, "ULPDU_Length and the CRC"}, {mpa.MarkerSize * inners(f), "the markers"},
		} {
			if least := n - w.octets; w.octets > 0 && least >= mpa.MinULPDU && endsAt(f, least, mpa.PadLen(least)) {
				e.chain.lost = true
				c.fpduAt(e, "ULPDU_Length counts "+w.what+" as well", fmt.Sprint(n), fmt.Sprint(least))
				return
			}
		}
	}},
	{id: "MPA-FPDU-PAD-02", shape: true, needs: Sync | Full, fpdu: func(c *conn, e *fpdu) {
		f := e.f
		if !e.verified(c) || !c.applies() || f.CRCStatus == mpa.CRCGood {
			return
		}
		for pad := range f.PadLen {
			if endsAt(f, int(f.ULPDULength), pad) {
				e.chain.lost = true
				c.fpduAt(e, "the pad is too short", fmt.Sprintf("%d octets", pad), fmt.Sprintf("%d octets", f.PadLen))
				return
			}
		}
	}, loose: func(c *conn, s *loose) {
		k := &s.chain
		if !k.suspect || s.from != k.end || c.marking(s.dir) == mpa.Yes || !c.streamed(s.half) {
			return
		}
		if c.have |= Full; !c.applies() {
			return
		}
		rest := append(k.field[:], s.octets...)
		for more := 1; k.pad+more <= 3 && more+crcSize <= len(rest); more++ {
			if crc32.Update(k.sum, castagnoli, rest[:more]) == binary.LittleEndian.Uint32(rest[more:]) {
				k.lost = true
				f := k.at.at(s.dir)
				f.Message, f.Observed, f.Expected = "the pad is too long", fmt.Sprintf("%d octets", k.pad+more), fmt.Sprintf("%d octets", k.pad)
				c.fire(f)
				return
			}
		}
	}},
	{id: "MPA-C-FIELD-01", shape: true, needs: Neg | Start | Contig, fpdu: func(c *conn, e *fpdu) {
		if e.f.CRCStatus == mpa.CRCOff && c.t.Negotiated {
			c.applies()
		}
	}, loose: func(c *conn, s *loose) {
		if s.bare < enoughBare || c.t.CRC != mpa.No || !c.t.Negotiated || !c.streamed(s.half) {
			return
		}
		if c.applies() && c.once(s.half) {
			s.chain.lost = true
			f := s.at()
			f.Message = "FPDUs without the CRC field, which has to be there though nobody verifies it"
			f.Observed, f.Expected = fmt.Sprintf("%d FPDUs follow each other if they have none", s.bare), "four octets behind each ULPDU and pad"
			c.fire(f)
		}
	}},
	{id: "MPA-FPDU-FMT-01", shape: true, needs: Sync, fpdu: func(c *conn, e *fpdu) {
		f, k := e.f, &e.chain
		bad := f.CRCStatus == mpa.CRCBad
		switch {
		case e.hole || c.t.Flow[e.dir].Cut:
		case c.astray(e.half):
			c.lacks(Sync)
		case f.Sync != mpa.InSync && k.suspect && !c.t.Negotiated:
			c.lacks(Neg) // there may be markers of which nobody knows
		case f.Sync != mpa.InSync && k.suspect:
			c.lostAt(e.half, k.at.at(e.dir), "the octets behind this FPDU are none: its length is wrong")
		case bad && (f.ULPDULength < mpa.MinULPDU || f.ULPDULength > mpa.MaxULPDU):
			c.lostAt(e.half, e.at(), "no FPDU has this length")
		case f.Unsent > 0 && c.t.CRC == mpa.Yes && holdsFPDU(f.Wire[:len(f.Wire)-f.Unsent]):
			c.lostAt(e.half, e.at(), "the FPDU ends before its length says so")
		default:
			c.applies()
		}
	}, loose: func(c *conn, s *loose) {
		switch k := &s.chain; {
		case !c.streamed(s.half) || s.count == 0 && !(c.accepted() && headed(s.octets)):
		case c.astray(s.half):
			c.lacks(Sync)
		case !c.t.Negotiated:
			c.lacks(Neg)
		case k.suspect && s.from == k.end:
			c.lostAt(s.half, k.at.at(s.dir), "the octets behind this FPDU are none: its length is wrong")
		case s.length >= mpa.MinULPDU+lengthSize+crcSize && impossible(s.octets):
			c.lostAt(s.half, s.at(), "octets that are no FPDU where one has to begin")
		}
	}},
}

const lengthSize = 2

// enoughBare is how many FPDUs without a CRC field prove that there is none.
const enoughBare = 3

// streamed reports whether nothing of the half was lost or cut so far.
func (c *conn) streamed(h *half) bool { return !h.hole && !c.t.Flow[h.dir].Cut }

// lostAt fires once for a half on what led astray.
func (c *conn) lostAt(h *half, f Finding, message string) {
	// A rule that says more of it was asked before.
	if !c.applies() || !c.once(h) {
		return
	}
	h.chain.lost = true
	f.Message, f.Observed, f.Expected = "framing is lost: "+message, "octets that cannot be laid out", "one FPDU behind the other"
	c.fire(f)
}

// verified reports whether the CRC of an FPDU tells where it ends.
func (e *fpdu) verified(c *conn) bool {
	f := e.f
	if f.Unsent > 0 && len(f.Missing) == 1 && f.Missing[0].To-f.Missing[0].From == f.Unsent {
		c.have |= Full // all that was sent of it
		return c.t.CRC == mpa.Yes
	}
	return c.t.CRC == mpa.Yes && (f.CRCStatus == mpa.CRCGood || f.CRCStatus == mpa.CRCBad)
}

// inners counts the markers behind ULPDU_Length.
func inners(f *mpa.FPDU) (n int) {
	for i := range f.Markers {
		if f.Markers[i].Expected != 0 {
			n++
		}
	}
	return n
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

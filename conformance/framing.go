package conformance

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// framingChecks are about FPDUs: length, pad, CRC, markers (RFC 5044 section 4).
var framingChecks = []check{
	{id: "MPA-FPDU-PAD-01", shape: true, needs: Sync | Full, fpdu: func(c *conn, e *fpdu) {
		f := e.f
		if f.PadKnown && f.PadLen > 0 && f.CRCStatus != mpa.CRCBad && c.applies() && !f.PadZero() {
			c.fpduAt(e, "the pad is not zero", fmt.Sprintf("% x", f.Pad[:f.PadLen]), "zeros")
		}
	}},
	{id: "MPA-ULPDU-MAX-01", shape: true, needs: Sync, fpdu: func(c *conn, e *fpdu) {
		const most = 64768 // RFC 5044 section 3
		if e.f.CRCStatus != mpa.CRCBad && c.applies() && e.f.ULPDULength > most && c.once(e.half) {
			c.fpduAt(e, "the ULPDU is larger than any may be", fmt.Sprint(e.f.ULPDULength), fmt.Sprintf("at most %d", most))
		}
	}},
	{id: "MPA-CRC-VALUE-01", shape: true, needs: Neg | Sync | Full | Sum, fpdu: func(c *conn, e *fpdu) {
		f := e.f
		if f.CRCStatus != mpa.CRCGood && f.CRCStatus != mpa.CRCBad || c.t.CRC != mpa.Yes || !c.applies() {
			return
		}
		if f.CRCStatus == mpa.CRCBad {
			x := e.at()
			x.shortly = !constant(f.CRC) // of those it may show only later that none is filled in
			x.Message, x.Observed, x.Expected = "wrong CRC"+crcHint(f), fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC)
			c.fire(x)
		}
	}},
	{id: "MPA-C-ON-01", shape: true, late: true, needs: Neg | Sync | Full, fpdu: func(c *conn, e *fpdu) {
		if c.t.CRC != mpa.Yes || e.f.CRCStatus != mpa.CRCGood && e.f.CRCStatus != mpa.CRCBad || !c.applies() {
			return
		}
		// The run counts the FPDUs before this one.
		if r := &e.crc; e.f.CRCStatus == mpa.CRCBad && r.good == 0 && r.run >= 2 && constant(e.f.CRC) && e.f.CRC == r.value && c.once(e.half) {
			x := Finding{Dir: e.dir, HasDir: true, Frame: r.frame, PDU: r.pdu, Message: "CRCs are agreed, and none is filled in"}
			x.Observed, x.Expected = fmt.Sprintf("%08x in each FPDU", e.f.CRC), "the CRC of each"
			c.fire(x)
		}
	}},
	{id: "MPA-CRC-KEEP-01", shape: true, late: true, needs: Neg | Sync | Full, fpdu: func(c *conn, e *fpdu) {
		if c.t.CRC != mpa.Yes || e.f.CRCStatus != mpa.CRCGood && e.f.CRCStatus != mpa.CRCBad || !c.applies() {
			return
		}
		if r := &e.crc; e.f.CRCStatus == mpa.CRCBad && r.good > 0 && r.run >= 1 && constant(e.f.CRC) && e.f.CRC == r.value && c.once(e.half) {
			x := Finding{Dir: e.dir, HasDir: true, Frame: r.frame, PDU: r.pdu, Message: "the CRCs stop in the middle of the connection"}
			x.Observed, x.Expected = fmt.Sprintf("%08x from here on", e.f.CRC), "the CRC of each FPDU"
			c.fire(x)
		}
	}},
	{id: "MPA-CRC-COVER-01", shape: true, needs: Neg | Sync | Full | Sum, fpdu: func(c *conn, e *fpdu) {
		f := e.f
		if !e.marked(c) || !inner(f) || f.CRCStatus != mpa.CRCGood && f.CRCStatus != mpa.CRCBad || !c.applies() {
			return
		}
		if f.CRCStatus == mpa.CRCBad && crcOf(bare(f)) == f.CRC {
			c.fpduAt(e, "the CRC leaves out the markers", fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC))
		}
	}},
	{id: "MPA-CRC-COVER-02", shape: true, needs: Neg | Sync | Full | Sum, fpdu: func(c *conn, e *fpdu) {
		f := e.f
		if !f.Lead || !e.marked(c) || f.CRCStatus != mpa.CRCGood && f.CRCStatus != mpa.CRCBad || !c.applies() {
			return
		}
		w := f.Wire
		if f.CRCStatus == mpa.CRCBad && len(w) > mpa.MarkerSize+crcSize && crcOf(w[mpa.MarkerSize:len(w)-crcSize]) == f.CRC {
			c.fpduAt(e, "the CRC leaves out the marker before ULPDU_Length", fmt.Sprintf("%08x", f.CRC), fmt.Sprintf("%08x", f.WantCRC))
		}
	}},
	{id: "MPA-MARKER-RSVD-01", shape: true, needs: Sync | Full, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if m.Reserved != 0 && !displaced(m) && e.pos(m) != 0 {
			c.marker(e, m, "the reserved half of a marker is not zero", fmt.Sprintf("%#04x", m.Reserved), "0")
		}
	})},
	{id: "MPA-MARKER-PTR-01", shape: true, needs: Sync | Full, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if m.Expected != 0 && int(m.Pointer&^3) != m.Expected && !displaced(m) {
			c.marker(e, m, "a marker points to the wrong place", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
		}
	})},
	{id: "MPA-MARKER-PTR-02", shape: true, needs: Sync | Full, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if m.Expected == 0 && e.pos(m) != 0 && m.Pointer&^3 != 0 && !displaced(m) {
			c.marker(e, m, "a marker between two FPDUs has a pointer", fmt.Sprint(m.Pointer), "0")
		}
	})},
	{id: "MPA-MARKER-PTR-03", shape: true, needs: Sync | Full, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if m.Pointer&3 != 0 && !displaced(m) {
			c.marker(e, m, "the two low bits of a pointer are set", fmt.Sprintf("%#04x", m.Pointer), "both 0")
		}
	})},
	{id: "MPA-MARKER-PTR-05", shape: true, needs: Sync | Full, fpdu: func(c *conn, e *fpdu) {
		var inner []*mpa.Marker
		for i := range e.f.Markers {
			if m := &e.f.Markers[i]; m.Expected != 0 && m.Status() != mpa.MarkerMissing {
				inner = append(inner, m)
			}
		}
		if len(inner) < 2 || e.f.CRCStatus == mpa.CRCBad || !c.applies() {
			return
		}
		for _, m := range inner {
			if p := int64(m.Pointer); p == 0 || p%4 != 0 || p >= int64(e.f.Size) {
				return // not plausible by itself: a wrong pointer
			}
		}
		start := inner[0].Offset - int64(inner[0].Pointer)
		for _, m := range inner[1:] {
			if m.Offset-int64(m.Pointer) != start {
				c.marker(e, m, "the markers of an FPDU point to different places", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
				return
			}
		}
	}},
	{id: "MPA-MARKER-PTR-07", shape: true, needs: Sync | Full, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if int(m.Pointer) == m.Expected || m.Expected == 0 || m.Pointer == 0 || m.Pointer&3 != 0 || displaced(m) {
			return
		}
		for _, s := range e.crc.starts {
			if s > m.Offset-mpa.MarkerInterval && m.Offset-s == int64(m.Pointer) && s != m.Offset-int64(m.Expected) {
				c.marker(e, m, "a marker points to an FPDU before the one that it stands in", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
				return
			}
		}
	})},
	{id: "MPA-MARKER-POS-01", shape: true, needs: Neg | Start | Full | Sync, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if displaced(m) && c.once(e.half) {
			c.marker(e, m, "no marker where one has to be", fmt.Sprintf("%04x%04x", m.Reserved, m.Pointer), fmt.Sprintf("pointer %d", m.Expected))
		}
	})},
	{id: "MPA-START-07A", shape: true, needs: Neg | Start | Full, fpdu: markers(func(c *conn, e *fpdu, m *mpa.Marker) {
		if e.pos(m) == 0 && (m.Reserved != 0 || m.Pointer&^3 != 0) {
			c.marker(e, m, "the first marker is not zero", fmt.Sprintf("%04x%04x", m.Reserved, m.Pointer), "00000000")
		}
	})},
	{id: "MPA-M-REQ-01", needs: Neg | Start | Contig, transport: onTCP, end: func(c *conn) {
		unmarked(c, trace.R2I, c.request)
	}},
	{id: "MPA-M-REP-01", needs: Neg | Start | Contig, transport: onTCP, end: func(c *conn) {
		unmarked(c, trace.I2R, c.reply)
	}},
	{id: "MPA-M-ZERO-01", needs: Neg | Start, transport: onTCP, end: func(c *conn) {
		for d := range c.half {
			h := &c.half[d]
			asker := c.request
			if h.dir == trace.I2R {
				asker = c.reply
			}
			if !h.opening.seen() || asker == nil || asker.M || c.reply == nil || c.reply.Rev == 0 || !c.accepted() || !c.applies() {
				continue
			}
			if c.t.Flow[d].MarkersSeen == mpa.Yes && !c.oneMarker(h) { // a single one is judged by MPA-START-07B
				x := h.opening.first.at()
				x.Message, x.Observed, x.Expected = "markers although the receiver wants none", "markers", "M=0: none"
				c.fire(x)
			}
		}
	}},
	{id: "RNIC-IOP-MARKER-01", needs: Neg | Start, transport: onTCP, end: func(c *conn) {
		if c.reply == nil || c.reply.Rev != 0 || !c.accepted() || c.reply.R {
			return
		}
		for d := range c.half {
			h := &c.half[d]
			asker := c.request
			if h.dir == trace.I2R {
				asker = c.reply
			}
			if !h.first.seen || asker == nil || asker.M || !c.applies() {
				continue
			}
			if c.t.Flow[d].MarkersSeen == mpa.No || c.t.Flow[d].Markers == 0 && c.t.Flow[d].FPDUs > 0 {
				c.first(h, None, "no markers on a connection of revision 0", "no markers", "markers in both directions")
				return
			}
		}
	}},
	{id: "TCP-FIN-FPDU-01", needs: Contig | Sync, transport: onTCP, end: func(c *conn) {
		for d := range c.half {
			h := &c.half[d]
			if h.count == 0 || c.t.Ending != trace.FIN {
				continue
			}
			if h.chain.lost {
				c.lacks(Sync)
			}
			if !c.applies() {
				continue
			}
			if u := h.crc.unsent; u > 0 && !h.unsure && !h.gap {
				c.fire(Finding{
					Dir: h.dir, HasDir: true, Frame: h.crc.frame, PDU: h.crc.pdu, HasPDU: true, Message: "a FIN in the middle of an FPDU",
					Observed: fmt.Sprintf("%d octets are missing", u), Expected: "the whole FPDU",
				})
			}
		}
	}},
}

const crcSize = 4

// displaced reports whether nothing of the octets where a marker has to be is as
// in one: then the marker is elsewhere, or there is none.
func displaced(m *mpa.Marker) bool {
	return m.Status() == mpa.MarkerMissing || m.Reserved != 0 && int(m.Pointer&^3) != m.Expected
}

// pos is the place of a marker in full operation, -1 if that is not known.
func (e *fpdu) pos(m *mpa.Marker) int64 {
	if !e.p.HasOffset {
		return -1
	}
	return m.Offset - e.f.Offset + e.p.Offset
}

// marked reports whether markers were agreed for the half.
func (e *fpdu) marked(c *conn) bool {
	return len(e.f.Markers) > 0 && c.t.Markers[e.dir] == mpa.Yes && c.t.Flow[e.dir].MarkersSeen == mpa.Unknown
}

// inner reports whether a marker stands behind the start of the FPDU.
func inner(f *mpa.FPDU) bool {
	for i := range f.Markers {
		if f.Markers[i].Expected != 0 {
			return true
		}
	}
	return false
}

// fpduAt fires on an FPDU.
func (c *conn) fpduAt(e *fpdu, message, observed, expected string) {
	f := e.at()
	f.Message, f.Observed, f.Expected = message, observed, expected
	c.fire(f)
}

// marker fires on a marker.
func (c *conn) marker(e *fpdu, m *mpa.Marker, message, observed, expected string) {
	f := e.at()
	if f.HasOffset {
		f.Offset += m.Offset - e.f.Offset
	}
	f.Message, f.Observed, f.Expected = message, observed, expected
	c.fire(f)
}

// markers asks about each marker of an FPDU.
func markers(f func(c *conn, e *fpdu, m *mpa.Marker)) func(*conn, *fpdu) {
	return func(c *conn, e *fpdu) {
		// With a wrong CRC nothing proves that these octets are a marker.
		if len(e.f.Markers) == 0 || e.f.CRCStatus == mpa.CRCBad || !c.applies() {
			return
		}
		for i := range e.f.Markers {
			f(c, e, &e.f.Markers[i])
		}
	}
}

// unmarked fires when a half has no markers that asker wants.
func unmarked(c *conn, d trace.Dir, asker *frame) {
	h := &c.half[d]
	if asker == nil || !asker.M || !h.first.seen || !c.accepted() || !c.applies() {
		return
	}
	if c.t.Flow[d].MarkersSeen == mpa.No {
		c.first(h, None, "no markers although the receiver wants them", "no markers", "M=1: a marker every 512 octets")
	}
}

// crcRun is what the FPDUs of a half had in their CRC field so far.
type crcRun struct {
	good   int
	run    uint32 // of bad ones with the same value
	value  uint32 // of those
	frame  uint64 // of the first of those, or of the last FPDU
	pdu    uint64
	starts []int64 // of the last FPDUs, in the stream
	unsent int
}

func (r *crcRun) add(p *trace.PDU) {
	f := p.FPDU
	switch {
	case f.CRCStatus == mpa.CRCGood:
		r.good++
		r.run = 0
	case f.CRCStatus == mpa.CRCBad && r.run > 0 && f.CRC == r.value:
		r.run++
	case f.CRCStatus == mpa.CRCBad:
		r.run, r.value = 1, f.CRC
	}
	if r.run <= 1 {
		r.frame, r.pdu = p.Frame, p.Number
	}
	r.unsent = f.Unsent
	if len(f.Markers) > 0 || len(r.starts) > 0 {
		start := f.Offset
		if f.Lead {
			start += mpa.MarkerSize
		}
		for len(r.starts) > 0 && r.starts[0] <= start-mpa.MarkerInterval {
			r.starts = r.starts[:copy(r.starts, r.starts[1:])]
		}
		r.starts = append(r.starts, start)
	}
}

// constant reports whether a CRC field was left at what memory had.
func constant(v uint32) bool { return v == 0 || v == 0xffffffff }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcOf is the CRC of octets as it stands on the wire, read in network order.
func crcOf(b []byte) uint32 {
	var w [4]byte
	binary.LittleEndian.PutUint32(w[:], crc32.Checksum(b, castagnoli))
	return binary.BigEndian.Uint32(w[:])
}

// bare is what the CRC covers, without markers.
func bare(f *mpa.FPDU) []byte {
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

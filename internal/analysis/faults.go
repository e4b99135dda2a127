package analysis

import (
	"encoding/binary"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// segmentCRCs counts the FPDUs that end in a TCP segment by their CRC. The segment is
// known by its end. One is enough for all connections of a capture: the FPDUs of a segment
// are found one after the other.
type segmentCRCs struct {
	conn      *Conn
	side      int
	end       int64
	good, bad int
}

// faults notes wrong CRCs and wrong markers. The markers of a single FPDU were checked
// before.
func (c *Conn) faults(side int, dir trace.Dir, f *mpa.FPDU, p *trace.PDU, single bool) {
	fl := &c.Trace.Flow[dir]
	switch {
	case f.CRCStatus == mpa.CRCBad:
		c.badCRC(side, fl, f, p)
	case f.CRCStatus == mpa.CRCGood && !single:
		c.goodCRC(side, fl, f)
	}
	if single {
		return
	}
	for i := range f.Markers {
		m := &f.Markers[i]
		if m.Status() == mpa.MarkerOK {
			continue
		}
		k := fl.Faulty()
		k.MarkersBad++
		if k.FirstBadMarker == 0 {
			k.FirstBadMarker = p.Frame
			k.BadMarker = trace.BadMarker{PDU: p.Number, Frame: p.Frame, At: m.Offset - c.dirs[side].origin, Marker: *m}
		}
	}
}

// segmentOf returns the counts of the TCP segment in which an FPDU ends.
func (c *Conn) segmentOf(side int, f *mpa.FPDU) *segmentCRCs {
	to := f.Offset + int64(f.Size)
	end, ok := c.tcp.Direction(side).Bound(to - 1)
	if !ok {
		end = to
	}
	s := &c.env.crcs
	if s.conn != c || s.side != side || s.end != end {
		*s = segmentCRCs{conn: c, side: side, end: end}
	}
	return s
}

// goodCRC counts an FPDU with a right CRC that may share its TCP segment with others.
func (c *Conn) goodCRC(side int, fl *trace.Flow, f *mpa.FPDU) {
	s := c.segmentOf(side, f)
	s.good++
	if s.bad > 0 {
		each(fl, s.end, func(b *trace.BadCRC) { b.Good++ })
	}
}

// each calls do for the listed FPDUs with a wrong CRC that end in a TCP segment.
func each(fl *trace.Flow, end int64, do func(*trace.BadCRC)) {
	if fl.Seldom == nil || fl.Seldom.Wrong == nil {
		return
	}
	l := fl.Seldom.Wrong.BadCRCs
	for i := len(l) - 1; i >= 0 && l[i].SegmentEnd == end; i-- {
		do(&l[i])
	}
}

// badCRC notes an FPDU with a wrong CRC.
func (c *Conn) badCRC(side int, fl *trace.Flow, f *mpa.FPDU, p *trace.PDU) {
	k := fl.Faulty()
	if k.LastBadCRC = p.Frame; fl.CRCBad == 1 {
		k.FirstBadCRC = p.Frame
	}
	if k.LastBadNth == 0 || k.LastBadNth+1 != fl.FPDUs {
		k.BadCRCRuns++
		k.BadCRCRun = 0
	}
	k.LastBadNth = fl.FPDUs
	k.BadCRCRun++
	k.LongestBadCRC = max(k.LongestBadCRC, k.BadCRCRun)
	s := c.segmentOf(side, f)
	s.bad++
	each(fl, s.end, func(b *trace.BadCRC) { b.Bad++ })
	if len(k.BadCRCs) >= trace.MaxListed {
		return
	}
	end := f.Offset + int64(f.Size)
	b := trace.BadCRC{
		PDU: p.Number, Frame: p.Frame, At: f.Offset, Length: int64(f.Size), Nth: fl.FPDUs, CRC: f.CRC, Want: f.WantCRC,
		SegmentEnd: s.end, Good: s.good, Bad: s.bad - 1,
	}
	b.Frames = c.tcp.Direction(side).Carriers(nil, f.Offset, end)
	if len(b.Frames) == 1 && b.Frames[0] == c.Trace.LastFrame && c.env.Checksum != nil {
		b.Checksum = c.env.Checksum(c.Trace.LastFrame)
	}
	k.BadCRCs = append(k.BadCRCs, b)
}

// again notes which FPDUs with a wrong CRC a retransmission brings again, whole.
func (c *Conn) again(side int, s *reassembly.Segment) {
	fl := &c.Trace.Flow[c.Dir(side)]
	if len(s.Data) < s.Len || fl.Seldom == nil || fl.Seldom.Wrong == nil || len(fl.Seldom.Wrong.BadCRCs) == 0 {
		return
	}
	bad := fl.Seldom.Wrong.BadCRCs
	from := c.tcp.Direction(side).Offset(s.Seq)
	for i := range bad {
		b := &bad[i]
		at := b.At - from
		if b.Again == mpa.Yes || at < 0 || at+b.Length > int64(len(s.Data)) || slices.Contains(b.Frames, s.Frame) {
			continue
		}
		octets := s.Data[at : at+b.Length]
		n := len(octets) - 4
		b.Late = c.tcp.Direction(side).Acked() >= b.At+b.Length
		b.AgainFrame, b.Again = s.Frame, mpa.TriOf(mpa.CRC32c(octets[:n]) == binary.BigEndian.Uint32(octets[n:]))
	}
}

// behind is the frame of the first octets behind a hole, 0 if there are none.
func (c *Conn) behind(side int, p *reassembly.Piece) uint64 {
	c.env.frames = c.tcp.Direction(side).Carriers(c.env.frames[:0], p.Off+p.Len, p.Off+p.Len+1)
	if len(c.env.frames) == 0 {
		return 0
	}
	return c.env.frames[0]
}

// hole notes a gap of the capture, of which so many octets stand in packets that were left out.
func (c *Conn) hole(side int, p *reassembly.Piece, damaged int64) {
	rare := c.Trace.Flow[c.Dir(side)].Rarely()
	rare.Gaps++ // those behind it want to know
	if p.Reason == reassembly.OverBudget {
		rare.NoRoom++
		c.env.NoRoom++
	}
	k := c.Trace.Flow[c.Dir(side)].Faulty()
	damagedIn(k, damaged, p.Len)
	if len(k.Holes) >= trace.MaxListed {
		return
	}
	h := trace.Hole{At: p.Off, Octets: p.Len, Damaged: damaged, Behind: c.behind(side, p)}
	if u := c.dirs[side].unusual; u != nil {
		h.FileDamaged = slices.Contains(u.breaks, p.Off)
	}
	k.Holes = append(k.Holes, h)
}

package tracetest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Collect is a sink that keeps copies of what it is told.
type Collect struct {
	PDUs         []*trace.PDU
	Transactions []*trace.Transaction
	Gaps         []*trace.GapEvent
}

var _ trace.Sink = (*Collect)(nil)

// PDU keeps a copy.
func (c *Collect) PDU(p *trace.PDU) {
	q := *p
	q.Frames = slices.Clone(p.Frames)
	q.StartupRaw = bytes.Clone(p.StartupRaw)
	if p.Startup != nil {
		s := *p.Startup
		s.PrivateData = bytes.Clone(s.PrivateData)
		q.Startup = &s
	}
	if p.FPDU != nil {
		f := *p.FPDU
		f.Head, f.ULPDU, f.Wire = bytes.Clone(f.Head), bytes.Clone(f.ULPDU), bytes.Clone(f.Wire)
		f.Markers, f.Missing = slices.Clone(f.Markers), slices.Clone(f.Missing)
		q.FPDU = &f
	}
	if p.Chunk != nil {
		k := *p.Chunk
		k.TSNs, k.Octets = slices.Clone(k.TSNs), bytes.Clone(k.Octets)
		k.Control.PrivateData = bytes.Clone(k.Control.PrivateData)
		q.Chunk = &k
	}
	if p.Segment != nil {
		s := *p.Segment
		q.Segment = &s
	}
	if p.Message != nil {
		m := *p.Message
		q.Message = &m
	}
	if p.Terminate != nil {
		m := *p.Terminate
		q.Terminate = &m
	}
	q.Upper = p.Upper.Clone()
	c.PDUs = append(c.PDUs, &q)
}

// Transaction keeps a copy.
func (c *Collect) Transaction(t *trace.Transaction) {
	u := *t
	u.Responses = slices.Clone(t.Responses)
	c.Transactions = append(c.Transactions, &u)
}

// Gap keeps a copy.
func (c *Collect) Gap(g *trace.GapEvent) {
	h := *g
	c.Gaps = append(c.Gaps, &h)
}

// Of returns the PDUs of a connection in a direction, in the order they came.
func (c *Collect) Of(conn uint64, d trace.Dir) []*trace.PDU {
	var out []*trace.PDU
	for _, p := range c.PDUs {
		if p.Conn.Number == conn && p.Dir == d {
			out = append(out, p)
		}
	}
	return out
}

// Brief is the kind of a PDU and its place in the TCP stream.
func Brief(p *trace.PDU) string { return fmt.Sprintf("%v %d+%d", p.Kind, p.From, p.Length) }

// Line is all of a PDU but its number, its time and its frames.
func Line(p *trace.PDU) string {
	var b strings.Builder
	fmt.Fprintf(&b, "conn %d %v %v from %d", p.Conn.Number, p.Dir, p.Kind, p.From)
	if p.HasOffset {
		fmt.Fprintf(&b, " offset %d", p.Offset)
	}
	fmt.Fprintf(&b, " length %d", p.Length)
	if p.Partial {
		b.WriteString(" partial")
	}
	if s := p.Startup; s != nil {
		fmt.Fprintf(&b, " %v M=%t C=%t R=%t S=%t res %d rev %d pd %d raw %x", s.Kind, s.M, s.C, s.R, s.S, s.Res, s.Rev, s.PDLength, p.StartupRaw)
	}
	if f := p.FPDU; f != nil {
		b.WriteString(" ")
		b.WriteString(fpduLine(f))
	}
	if k := p.Chunk; k != nil {
		fmt.Fprintf(&b, " sid %d ppid %d tsns %d unordered %t idata %t whole %t ssn %d %v", k.SID, k.PPID, k.TSNs, k.Unordered, k.IData, k.Whole, k.SSN, k.Order)
		if k.HasControl {
			fmt.Fprintf(&b, " %v pd %x", k.Control.Function, k.Control.PrivateData)
		}
	}
	if p.Segment != nil {
		b.WriteString(" ")
		b.WriteString(segmentLine(p.Segment))
		fmt.Fprintf(&b, " %v", p.Control.Opcode)
	}
	if m := p.Message; m != nil {
		fmt.Fprintf(&b, " message %d in %d done %t known %t", m.Length, m.Segments, m.Done, m.StartKnown)
	}
	if p.TermSwapped {
		fmt.Fprintf(&b, " swapped %v", p.TermCode)
	}
	return b.String()
}

func segmentLine(s *ddp.Segment) string {
	if s.Tagged {
		return fmt.Sprintf("tagged L=%t DV=%d rsvd %d ulp %02x stag %08x to %x", s.Last, s.DV, s.Rsvd, s.RsvdULP, s.STag, s.TO)
	}
	return fmt.Sprintf("untagged L=%t DV=%d rsvd %d ulp %02x %08x qn %d msn %d mo %d", s.Last, s.DV, s.Rsvd, s.RsvdULP, s.RsvdULP32, s.QN, s.MSN, s.MO)
}

func fpduLine(f *mpa.FPDU) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ulpdu %d crc %v %08x", f.ULPDULength, f.CRCStatus, f.CRC)
	if f.CRCStatus == mpa.CRCBad {
		fmt.Fprintf(&b, " want %08x", f.WantCRC)
	}
	fmt.Fprintf(&b, " %v %v pad %x/%d head %x", f.Captured, f.Sync, f.Pad, f.PadLen, f.Head)
	if f.ULPDU != nil {
		fmt.Fprintf(&b, " sum %08x", crc32.ChecksumIEEE(f.ULPDU))
	}
	for i := range f.Markers {
		m := &f.Markers[i]
		fmt.Fprintf(&b, " marker %d:%d/%d %v", m.Offset, m.Pointer, m.Expected, m.Status())
	}
	for _, m := range f.Missing {
		fmt.Fprintf(&b, " missing %d-%d", m.From, m.To)
	}
	return b.String()
}

// Lines are the lines of the PDUs of both directions of a connection, each in
// its order.
func (c *Collect) Lines(conn uint64) []string {
	var out []string
	for _, d := range []trace.Dir{trace.I2R, trace.R2I} {
		for _, p := range c.Of(conn, d) {
			out = append(out, Line(p))
		}
	}
	return out
}

// Answers are the transactions of a connection without times and numbers. A PDU is named by
// its sender: which one opened the connection may not be known.
func (c *Collect) Answers(conn uint64) []string {
	names := make(map[uint64]string, len(c.PDUs))
	for _, p := range c.PDUs {
		names[p.Number] = fmt.Sprintf("%v@%d", p.Conn.Side[p.Dir].Addr, p.From)
	}
	var out []string
	for _, t := range c.Transactions {
		if t.Conn.Number != conn {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%v %s bytes %d by", t.Kind, names[t.Request], t.Bytes)
		for _, n := range t.Responses {
			fmt.Fprintf(&b, " %s", names[n])
		}
		out = append(out, b.String())
	}
	slices.Sort(out)
	return out
}

// Diff returns the first lines that differ, or nothing.
func Diff(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("%d of %d, %d wanted:\n got  %s\n want %s", i, len(got), len(want), g, w)
		}
	}
	return ""
}

// Summary is all of a connection that does not depend on the order and the
// boundaries of its packets.
func Summary(c *trace.Connection) []string {
	out := []string{fmt.Sprintf("%v %v roles %t mpa %t %v layout %v crc %v markers %v negotiated %t expected %v sent %q startups %d ending %v",
		c.Side[0].Addr, c.Side[1].Addr, c.RolesKnown, c.IsMPA, c.Outcome, c.Layout, c.CRC, c.Markers, c.Negotiated,
		c.RTRExpected, c.RTRSent, c.Startups, c.Ending)}
	for i := range c.Side {
		s := &c.Side[i]
		out = append(out, fmt.Sprintf("side %d startup %t %+v enhanced %t %+v private %x", i, s.HasStartup, s.Startup, s.HasEnhanced, s.Enhanced, s.ULPPrivate))
	}
	for i := range c.Flow {
		f := &c.Flow[i]
		k := f.Faults()
		out = append(out, fmt.Sprintf("flow %d fpdus %d/%d crc %d %d %d %d markers %d %d pad %d partial %d resyncs %v unframed %d malformed %d gaps %d/%d requests %d answered %d unanswered %d unmatched %d seen %v",
			i, f.FPDUs, f.FPDUOctets, f.CRCGood, f.CRCBad, f.Rare().CRCUnverifiable, f.CRCOff, f.Markers, k.MarkersBad, k.PadBad, f.Rare().Partial,
			k.Resyncs, f.Rare().Unframed, f.Rare().Malformed, f.Rare().Gaps, f.Rare().GapOctets, f.Requests, f.Answered, f.Rare().Unanswered, f.Rare().Unmatched, f.MarkersSeen))
		for op, o := range f.Ops {
			if o.Segments > 0 {
				out = append(out, fmt.Sprintf("flow %d op %d %+v", i, op, o))
			}
		}
	}
	return out
}

package render

import (
	"encoding/hex"
	"io"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// Lines writes one line a PDU, as a person reads them, with a tree of all
// fields and a hexadecimal dump on request.
type Lines struct {
	outlet
	opt   LineOptions
	walk  fields.Walker
	tree  treeFields
	index int // of the PDU within its frame
	frame uint64
	mark  *mark // of the current PDU
	last  uint64
	any   bool // last is the number of the PDU that was written last
	times times
	ends  ends
	// several says that a connection other than number 0 was shown.
	several bool
	once    diagnose.Once
}

// LineOptions choose what is written of a PDU.
type LineOptions struct {
	// Tree adds all fields, Hex the octets.
	Tree, Hex bool
	// Colour marks trouble with terminal colours.
	Colour bool
	// Live hands on each line at once.
	Live bool
	// NoConn leaves out the numbers of connections: what stands above says them.
	NoConn bool
	// Times is how the time of a line is shown.
	Times TimeFormat
	// Dump adds the octets of each frame below its PDUs, as tcpdump shows them: 1 from the
	// IP header on, 2 all.
	Dump int
}

// Colours are constant strings: they are part of the output, not of a terminal
// that this package would know of.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

// NewLines writes to w.
func NewLines(w io.Writer, opt LineOptions) *Lines {
	return &Lines{outlet: outlet{output{w: w, live: opt.Live}}, opt: opt, times: times{format: opt.Times}}
}

// Saw takes note of the time of each frame of a capture, shown or not: some formats of
// times count from one that is not shown.
func (l *Lines) Saw(ns int64) { l.times.saw(ns) }

// appendConn appends the number of a connection, such as " c12", where there are several.
// A reader of a stream cannot know whether a second one will come. So the numbers begin
// with the first line of a connection other than 0, and stand in each line from there on:
// a line without one is of connection 0.
func (l *Lines) appendConn(b []byte, c *trace.Connection) []byte {
	l.several = l.several || c.Number > 0
	if !l.several || l.opt.NoConn {
		return b
	}
	return appendNumber(b, " c", c.Number)
}

// PDU implements [trace.Sink].
func (l *Lines) PDU(p *trace.PDU) {
	l.count(p)
	l.show(p)
}

// count finds the index of a PDU within its frame.
func (l *Lines) count(p *trace.PDU) {
	l.index++
	if p.Frame != l.frame {
		l.frame, l.index = p.Frame, 0
	}
}

func (l *Lines) show(p *trace.PDU) {
	l.last, l.any = p.Number, true
	b := l.times.append(l.out.b, p.Time)
	b = appendUint(b, p.Frame)
	if l.index > 0 {
		b = append(b, ':')
		b = appendUint(b, uint64(l.index))
	}
	b = l.appendConn(b, p.Conn)
	b = append(b, l.ends.of(p.Conn, p.Dir)...)
	colour := ""
	if l.opt.Colour {
		colour = colourOf(p)
	}
	b = append(b, colour...)
	b = appendInfo(b, p)
	if colour != "" {
		b = append(b, reset...)
	}
	b = append(b, '\n')
	l.out.b = b
	if l.opt.Tree {
		l.place(p)
		l.tree = treeFields{&l.out, l.mark}
		l.walk.Walk(p, &l.tree)
	}
	if l.opt.Hex {
		l.hex(p)
	}
	l.out.done()
}

// place says where a PDU lies.
func (l *Lines) place(p *trace.PDU) {
	b := append(l.out.b, "    PDU "...)
	b = appendUint(b, p.Number)
	b = append(b, ", connection "...)
	b = appendUint(b, p.Conn.Number)
	if p.HasOffset {
		b = append(b, ", stream offset "...)
		b = appendInt(b, p.Offset)
	}
	b = append(b, ", "...)
	b = appendInt(b, p.Length)
	b = append(b, " octets in frame "...)
	for i, f := range p.Frames {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendUint(b, f)
		if slices.Contains(p.Retransmitted, f) {
			b = append(b, " (retransmission)"...)
		}
		if slices.Contains(p.OutOfOrder, f) {
			b = append(b, " (out of order)"...)
		}
	}
	l.out.b = append(b, '\n')
}

// Mark says what is notable about a PDU.
type Mark uint8

// The marks.
const (
	NoMark Mark = iota
	StartupMark
	OddMark
	BadMark
)

// MarkOf is the mark of a PDU, as lines have it for a colour.
func MarkOf(p *trace.PDU) Mark {
	switch colourOf(p) {
	case red:
		return BadMark
	case yellow:
		return OddMark
	case cyan:
		return StartupMark
	}
	return NoMark
}

func colourOf(p *trace.PDU) string {
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		if p.Startup.R {
			return red
		}
		return cyan
	case trace.KindStreaming, trace.KindUnframed:
		return yellow
	case trace.KindSCTPControl:
		if f := p.Chunk.Control.Function; !p.Chunk.HasControl || f == sctpddp.Reject || f == sctpddp.EnhancedReject {
			return red
		}
		return cyan
	case trace.KindSCTPSegment:
		switch {
		case p.Segment == nil, p.Control.Opcode == rdmap.OpTerminate:
			return red
		case !p.Chunk.Whole, p.Chunk.Order != trace.InOrder:
			return yellow
		}
		return ""
	case trace.KindFPDU:
	}
	f := p.FPDU
	switch {
	case f.CRCStatus == mpa.CRCBad, !f.MarkersOK(), p.Segment == nil, p.Control.Opcode == 7:
		return red
	case len(f.Missing) > 0, f.Sync != mpa.InSync:
		return yellow
	}
	return ""
}

// Finding writes a line beneath the PDU. One that becomes certain only later says
// where it belongs.
func (l *Lines) Finding(f *conformance.Finding) {
	b := append(l.out.b, "    "...)
	colour := ""
	if l.opt.Colour {
		colour = map[conformance.Severity]string{conformance.Error: red, conformance.Warning: yellow}[f.Severity]
	}
	b = append(b, colour...)
	b = append(b, f.Severity.String()...)
	b = append(b, ' ')
	b = append(b, f.Rule.ID...)
	if colour != "" {
		b = append(b, reset...)
	}
	if !l.any || !f.HasPDU || f.PDU != l.last {
		b = appendNumber(b, " conn ", f.Conn.Number)
		b = append(b, ' ')
		b = append(b, place(f)...)
	}
	b = append(b, ": "...)
	b = append(b, said(f)...)
	l.out.b = append(b, '\n')
	l.out.done()
}

// Transaction implements [trace.Sink].
func (l *Lines) Transaction(*trace.Transaction) {}

// Gap implements [trace.Sink].
func (l *Lines) Gap(g *trace.GapEvent) {
	if !g.Conn.IsMPA {
		return
	}
	b := l.times.append(l.out.b, g.Time)
	b = appendUint(b, g.Frame)
	b = l.appendConn(b, g.Conn)
	b = append(b, l.ends.of(g.Conn, g.Dir)...)
	b = appendGap(b, g)
	l.out.b = append(b, '\n')
	l.out.done()
}

// appendGap says what is missing, and why that is certain.
func appendGap(b []byte, g *trace.GapEvent) []byte {
	b = append(b, "-- gap: "...)
	if g.Conn.Transport == trace.SCTP {
		b = appendInt(b, g.Chunks)
		b = appendNumber(b, " DDP-SSNs from ", uint64(g.SSN))
		b = append(b, " on "...)
	} else {
		b = appendInt(b, g.Octets)
		b = append(b, " octets "...)
	}
	return append(b, g.Reason...)
}

// Frame implements [pipeline.Sink]. Of a frame its tunnels are written, in the tree of its
// PDUs, and its octets, if they are wanted.
func (l *Lines) Frame(f *pipeline.Frame) {
	if l.opt.Tree && len(f.Tunnels) > 0 && l.any && l.frame == f.Number {
		l.tunnels(f)
	}
	l.dump(f)
}

// Capture begins another capture; name is written if it is not empty.
func (l *Lines) Capture(name, _ string) {
	l.frame, l.index, l.any, l.several = 0, 0, false, false
	l.times.restart()
	if name != "" {
		l.out.b = append(l.out.b, "==> "+visible.Text(name)+" <==\n"...)
	}
}

// Skipped takes note of a PDU that is not shown, but counted within its frame.
func (l *Lines) Skipped(p *trace.PDU) { l.count(p) }

// Close writes what is left.
func (l *Lines) Close() error {
	return l.out.end()
}

// hex dumps the octets of a PDU as they were on the wire.
func (l *Lines) hex(p *trace.PDU) {
	var octets []byte
	switch {
	case p.FPDU != nil:
		octets = p.FPDU.Wire
	case p.StartupRaw != nil:
		octets = p.StartupRaw
	case p.Chunk != nil:
		octets = p.Chunk.Octets
	}
	var missing []mpa.Range
	if p.FPDU != nil {
		missing = p.FPDU.Missing
	}
	l.out.b = appendHexDump(l.out.b, octets, missing)
}

// appendHexDump appends sixteen octets a line; what was not captured shows as
// two dots.
func appendHexDump(b, octets []byte, missing []mpa.Range) []byte {
	for at := 0; at < len(octets); at += 16 {
		b = append(b, "    "...)
		b = dissect.AppendHex(b, uint64(at), 4)
		b = append(b, "  "...)
		line := octets[at:min(at+16, len(octets))]
		for i := range 16 {
			switch {
			case i >= len(line):
				b = append(b, "   "...)
			case gone(missing, at+i):
				b = append(b, ".. "...)
			default:
				b = hex.AppendEncode(b, line[i:i+1])
				b = append(b, ' ')
			}
		}
		b = append(b, ' ')
		b = append(appendPrintable(b, line), '\n')
	}
	return b
}

func gone(missing []mpa.Range, at int) bool {
	for _, m := range missing {
		if m.From <= at && at < m.To {
			return true
		}
	}
	return false
}

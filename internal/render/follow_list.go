package render

import (
	"bytes"
	"strings"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// list has a line a message.
type list struct {
	f     *Follow
	times times
	line  []byte
	began int // columns before the text
}

// arrows are those of the directions.
var arrows = [2]string{trace.I2R: "-->", trace.R2I: "<--"}

// framesWidth is the width of the numbers of frames.
const framesWidth = 9

func (l *list) saw(ns int64)    { l.times.saw(ns) }
func (l *list) announces() bool { return false }

// begin says who speaks.
func (l *list) begin(c *trace.Connection) {
	b := appendNumber(nil, "conn ", c.Number)
	b = append(b, " over "...)
	if c.Transport == trace.SCTP {
		b = append(b, session(c)...)
	} else {
		b = append(b, "TCP"...)
	}
	b = append(b, ": "...)
	b = c.Side[trace.I2R].Addr.AppendTo(b)
	b = append(b, " (initiator, -->) and "...)
	b = c.Side[trace.R2I].Addr.AppendTo(b)
	b = append(b, " (responder, <--)"...)
	l.write(b, 0, "")
	switch {
	case c.MayBeRest:
		l.write([]byte("its beginning is not in the capture, or belongs to a connection that was ended early to bound memory"), 0, "")
	case !c.SYN:
		l.write([]byte("the capture does not have its beginning"), 0, "")
	}
}

// put writes an entry.
func (l *list) put(e *spoken) {
	b := l.line[:0]
	if e.ended != 0 {
		b = l.times.append(b, e.ended)
	} else if l.times.format != NoTime {
		b = append(b, strings.Repeat(" ", max(l.began-framesWidth-len(" --> "), 0))...)
	}
	b = l.frames(b, e)
	b = append(b, ' ')
	if e.hasDir {
		b = append(b, arrows[e.dir]...)
	} else {
		b = append(b, "   "...)
	}
	b = append(b, ' ')
	if e.ended != 0 {
		l.began = len(b)
	}
	at := len(b)
	b = append(b, e.words()...)
	b = appendAnswer(b, e)
	b = appendMarks(b, e)
	l.line = b
	l.write(b, at, e.colour)
	if len(e.below) > 0 {
		for line := range bytes.SplitSeq(e.below, []byte{'\n'}) {
			if len(line) > 0 {
				l.write(append([]byte(strings.Repeat(" ", at+2)), line...), at+2, "")
			}
		}
	}
	l.f.out.b = appendPayload(l.f.out.b, e, l.f.opt.Payload)
	l.f.out.done()
}

// frames appends the frames of an entry.
func (l *list) frames(b []byte, e *spoken) []byte {
	at := len(b)
	if e.last != 0 {
		b = appendUint(b, e.first)
	}
	if e.last != e.first {
		b = appendNumber(b, "-", e.last)
	}
	if n := framesWidth - (len(b) - at); n > 0 {
		b = append(b, strings.Repeat(" ", n)...)
		copy(b[at+n:], b[at:len(b)-n])
		copy(b[at:], strings.Repeat(" ", n))
	}
	return b
}

// write writes a line, whose text begins at a column, as wide as it may be.
func (l *list) write(line []byte, at int, colour string) {
	o := &l.f.out
	paint := l.f.opt.Colour && colour != ""
	width := l.f.opt.Width
	rest := width - at - 2
	if width == 0 || rest < 20 {
		width = 0
	}
	for i, part := range breakLines(string(line[at:]), max(width-at, 0), max(rest, 0), false) {
		if i == 0 {
			o.b = append(o.b, line[:at]...)
		} else {
			o.b = append(o.b, strings.Repeat(" ", at+2)...)
		}
		if paint {
			o.b = append(o.b, colour...)
		}
		o.b = append(o.b, part...)
		if paint {
			o.b = append(o.b, reset...)
		}
		o.b = append(o.b, '\n')
	}
}

// still writes a line between two.
func (l *list) still(text string) {
	at := max(l.began, framesWidth)
	line := append([]byte(strings.Repeat(" ", at)), "… "...)
	l.write(append(append(line, text...), " …"...), at, map[bool]string{true: cyan}[l.f.opt.Colour])
}

// end says how the connection ended.
func (l *list) end(_ *trace.Connection, text string) {
	l.write([]byte(text), 0, "")
}

// endings are the ways in which a connection ends.
var endings = map[trace.Ending]string{
	trace.FIN: "FIN", trace.RST: "RST", trace.Terminated: "Terminate of the session", trace.Declined: "Reject", trace.Superseded: "next session",
	trace.Shutdown: "SHUTDOWN", trace.Abort: "ABORT",
}

// endOf sums up a connection.
func endOf(c *trace.Connection) string {
	var b []byte
	switch {
	case c.EndedEarly && c.Ending == trace.Open:
		b = append(b, "The connection was ended early to bound memory (--max-connections, --memory)."...)
	case c.Ending == trace.Open:
		b = append(b, "The capture ends before the connection does."...)
	default:
		b = append(b, "Ended: "...)
		b = append(b, endings[c.Ending]...)
		b = append(append(b, " of the "...), c.EndedBy.Sender()...)
		b = append(appendNumber(b, " in frame ", c.EndFrame), '.')
	}
	for d := range c.Flow {
		var n, octets uint64
		for _, op := range c.Flow[d].Ops {
			n += op.Messages
			octets += op.Octets
		}
		b = append(append(append(b, ' '), trace.Dir(d).String()...), ": "...)
		b = append(b, diagnose.Counted(n, "message", "messages")...)
		b = append(append(append(b, ", "...), size(octets)...), '.')
	}
	if l := c.ReadLatency; l != nil && l.Count > 0 {
		b = append(b, " Reads: "...)
		b = append(b, diagnose.Number(l.Count)...)
		b = append(appendRange(append(b, ", answered after "...), l.Min, l.Max), '.')
	}
	return string(b)
}

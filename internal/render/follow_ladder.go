package render

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// ladder draws a sequence diagram: the sides are two lines, what they say are arrows between
// them. A message that others come in the midst of has an arrow where it begins and one where
// it ends, with the same letter, and the line of its sender is thick meanwhile.
type ladder struct {
	f     *Follow
	times times
	// left and right are the columns of the lines.
	left, right int
	open        []ongoing
	next        byte
}

// ongoing is a message that has begun.
type ongoing struct {
	dir    trace.Dir
	first  uint64 // frame
	letter byte
}

const (
	// ladderWidth is the width if that is not bounded, leastBetween the least room between
	// the lines.
	ladderWidth  = 110
	leastBetween = 30
	// mostOngoing bounds the messages that have a letter.
	mostOngoing = 26
)

func newLadder(f *Follow) *ladder { return &ladder{f: f, times: times{format: f.opt.Times}} }

func (l *ladder) saw(ns int64)    { l.times.saw(ns) }
func (l *ladder) announces() bool { return true }

// begin writes the ends above their lines.
func (l *ladder) begin(c *trace.Connection) {
	width := l.f.opt.Width
	if width == 0 {
		width = ladderWidth
	}
	l.left = len(l.sample(c)) + framesWidth + 1
	l.right = max(width-1, l.left+leastBetween)
	name := func(a netip.AddrPort, role string) [2]string { return [2]string{a.String(), role} }
	i, r := name(c.Side[trace.I2R].Addr, "initiator"), name(c.Side[trace.R2I].Addr, "responder")
	for k := range i {
		from := max(l.left-len(i[k])/2, 0)
		to := max(l.right+1-len(r[k]), from+len(i[k])+2)
		l.raw(strings.Repeat(" ", from) + i[k] + strings.Repeat(" ", to-from-len(i[k])) + r[k])
	}
	l.row(nil, "", "")
	if !c.SYN {
		l.middle("the capture does not have the beginning")
	}
}

// sample is a time as wide as those of the connection are.
func (l *ladder) sample(c *trace.Connection) []byte {
	at := max(c.FirstTime, c.LastTime, l.times.first, 1000) // also where the first frame has no time
	if c.FirstTime%1000 != 0 || c.LastTime%1000 != 0 {
		at |= 1 // finer than microseconds
	}
	t := times{format: l.times.format, first: at - at%1000, begun: true}
	if t.format == SinceFirst && l.times.begun {
		t.first = l.times.first
	}
	return t.append(nil, at)
}

// raw writes a line.
func (l *ladder) raw(line string) {
	l.f.out.b = append(append(l.f.out.b, strings.TrimRight(line, " ")...), '\n')
}

// row writes the lines of the sides, with what stands before and between them.
func (l *ladder) row(before []byte, between, colour string) {
	b := append(l.f.out.b, before...)
	if n := l.left - len(before); n > 0 {
		b = append(b, strings.Repeat(" ", n)...)
	}
	b = append(b, l.line(trace.I2R))
	room := l.right - l.left - 1
	paint := l.f.opt.Colour && colour != ""
	if paint {
		b = append(b, colour...)
	}
	b = append(b, between...)
	if paint {
		b = append(b, reset...)
	}
	if n := room - columnsOf(between); n > 0 {
		b = append(b, strings.Repeat(" ", n)...)
	}
	b = append(b, l.line(trace.R2I))
	l.f.out.b = append(b, '\n')
}

// line is the line of a side: thick while it sends a message that goes on.
func (l *ladder) line(d trace.Dir) byte {
	for _, o := range l.open {
		if o.dir == d {
			return '#'
		}
	}
	return '|'
}

// middle writes text in the middle.
func (l *ladder) middle(text string) {
	room := l.right - l.left - 1
	for _, part := range breakLines(text, room-2, room-2, true) {
		l.row(nil, strings.Repeat(" ", max((room-columnsOf(part))/2, 0))+part, "")
	}
}

// letter is that of a message, with a colon; "" if it has none. A message that has ended gives
// its letter back.
func (l *ladder) letter(e *spoken) string {
	for i, o := range l.open {
		if o.dir == e.dir && o.first == e.first {
			if !e.begins {
				l.open = append(l.open[:i], l.open[i+1:]...)
			}
			return string(o.letter) + ": "
		}
	}
	if !e.begins || len(l.open) >= mostOngoing {
		return ""
	}
	o := ongoing{e.dir, e.first, 'a' + l.next%mostOngoing}
	l.next++
	l.open = append(l.open, o)
	return string(o.letter) + ": "
}

// put draws an entry.
func (l *ladder) put(e *spoken) {
	var before []byte
	if e.ended != 0 {
		before = l.times.append(before, e.ended)
	}
	shown := *e
	if e.announced {
		shown.first = e.last
	}
	frames := (&list{}).frames(nil, &shown)
	if len(frames) > framesWidth {
		shown.first = e.last
		frames = (&list{}).frames(nil, &shown)
	}
	if n := l.left - 1 - len(before) - len(frames); n > 0 {
		before = append(before, strings.Repeat(" ", n)...)
	}
	before = append(before, frames...)
	var letter string
	if e.begins || e.announced {
		letter = l.letter(e)
	}
	text := append([]byte(letter), e.words()...)
	text = appendMarks(appendAnswer(text, e), e)
	l.arrow(before, string(text), e)
	if len(e.below) > 0 {
		for line := range bytes.SplitSeq(e.below, []byte{'\n'}) {
			if len(line) > 0 {
				for _, part := range breakLines(string(line), l.right-l.left-6, l.right-l.left-6, true) {
					l.row(nil, "    "+part, "")
				}
			}
		}
	}
	l.f.out.b = appendPayload(l.f.out.b, e, l.f.opt.Payload)
	l.f.out.done()
}

// arrow draws a labelled arrow; what is no message is only a label at its side.
func (l *ladder) arrow(before []byte, text string, e *spoken) {
	room := l.right - l.left - 1
	if !e.hasDir || e.event != "" && e.event != "fin" && e.event != "rst" {
		for i, part := range breakLines(text, room-4, room-4, true) {
			between := "  " + part
			if e.hasDir && e.dir == trace.R2I {
				between = strings.Repeat(" ", max(room-2-columnsOf(part), 0)) + part
			}
			if i > 0 {
				before = nil
			}
			l.row(before, between, e.colour)
		}
		return
	}
	parts := breakLines(text, room-8, room-8, true)
	shaft := "-"
	if e.begins {
		shaft = "."
	}
	dashes := func(n int) string { return strings.Repeat(shaft, max(n, 0)) }
	between, back := dashes(room-1)+">", "<"+dashes(room-1)
	if len(parts) == 1 {
		left := dashes(room - 4 - columnsOf(text))
		between, back = dashes(1)+" "+text+" "+left+">", "<"+left+" "+text+" "+dashes(1)
	} else {
		for _, part := range parts {
			l.row(before, "  "+part, e.colour)
			before = nil
		}
	}
	if e.dir == trace.R2I {
		between = back
	}
	if e.event == "rst" {
		between = strings.NewReplacer("<", "x", ">", "x").Replace(between)
	}
	l.row(before, between, e.colour)
}

// still writes that there is nothing, or that something is left out.
func (l *ladder) still(text string) {
	l.row(nil, "", "")
	l.middle("… " + text + " …")
	l.row(nil, "", "")
}

// end writes how it ended.
func (l *ladder) end(_ *trace.Connection, text string) {
	l.open = nil
	l.row(nil, "", "")
	for _, part := range breakLines(text, max(l.f.opt.Width, 0), max(l.f.opt.Width, 0), false) {
		l.raw(part)
	}
}

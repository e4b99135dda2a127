package details

import (
	"io"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Options say what a [Sink] writes.
type Options struct {
	// Form writes a frame and its tree.
	Form Form
	// Absolute shows sequence numbers as they stand in the header.
	Absolute bool
	// Live hands on each frame at once.
	Live bool
	// Parts keeps the octets of PDUs for [Frame.Parts].
	Parts bool
}

// Form is how frames are written. What it is handed is borrowed.
type Form interface {
	// Begin is called before the first frame of each capture, with its name.
	Begin(o *Output, capture string)
	Frame(o *Output, f *Frame)
	// End is called once after the last capture.
	End(o *Output)
}

// Frame is a frame to be written.
type Frame struct {
	*pipeline.Frame
	Tree    *Tree
	Layers  *fields.Layers
	summary *fields.Summary
	parts   []Part
}

// Part is a run of octets besides those of the frame that nodes were read from.
type Part struct {
	// Name says what the octets are.
	Name   string
	Octets []byte
}

// Parts are the octets that are in no single frame, or not in one piece: those of PDUs that came
// in several segments, and of segments without their markers. They are borrowed.
func (f *Frame) Parts() []Part { return f.parts }

// Line has the columns of the frame in a packet list. It is valid until the next call.
func (f *Frame) Line() [len(fields.ColumnTitles)][]byte { return *f.summary.Line(f.Layers) }

// Sink writes the tree of each frame it is told of. All frames of the capture have to be
// opened, so that it knows what came before.
type Sink struct {
	form   Form
	out    Output
	opt    Options
	layers *fields.Layers
	tree   Tree
	pdus   Tree
	blocks []block
	line   fields.Summary
	walk   walker
	parts  []Part
	opened uint64
	begun  bool
	name   string
	ifaces func() []pcapng.Interface
}

// block are the nodes of one PDU, and where it stands.
type block struct {
	from, to   int // nodes
	ddp        int // the first node of its DDP header
	own        int // the first node of what is not Wireshark's
	start, end int64
	stripped   bool // octets were taken out of it
	placed     bool
	wire, bare int // its parts as it was sent, and without its markers
}

// NewSink makes a sink. info writes a PDU in a line.
func NewSink(w io.Writer, opt Options, info func(b []byte, p *trace.PDU) []byte) *Sink {
	s := &Sink{form: opt.Form, opt: opt, line: fields.Summary{Describe: info}}
	s.out.w, s.out.live = w, opt.Live
	s.fresh()
	return s
}

func (s *Sink) fresh() {
	s.layers = fields.NewLayers(true)
	s.layers.Absolute = s.opt.Absolute
	s.layers.Interfaces = s.ifaces
	s.opened = 0
}

// Capture begins a capture.
func (s *Sink) Capture(name string, interfaces func() []pcapng.Interface) {
	s.name, s.ifaces, s.begun = name, interfaces, false
	s.fresh()
}

func (s *Sink) begin() {
	if !s.begun {
		s.begun = true
		s.form.Begin(&s.out, s.name)
	}
}

// Opened takes in a frame, also one that is not shown.
func (s *Sink) Opened(f *pipeline.Frame) {
	s.layers.Open(f)
	s.opened = f.Number
	s.forget()
}

func (s *Sink) forget() {
	s.pdus.reset()
	s.blocks = s.blocks[:0]
	s.parts = s.parts[:0]
	s.line.Reset()
}

// PDU implements [trace.Sink].
func (s *Sink) PDU(p *trace.PDU) {
	b := block{from: len(s.pdus.Nodes), start: p.From, end: p.From + p.Length}
	b.stripped = p.FPDU != nil && len(p.FPDU.Markers) > 0
	b.placed = p.Kind != trace.KindSCTPSegment && p.Kind != trace.KindSCTPControl
	s.pdus.pdu(p, &s.walk)
	b.ddp = len(s.pdus.Nodes)
	for i := b.from; i < len(s.pdus.Nodes); i++ {
		if s.pdus.Nodes[i].Name == "iwarp_ddp_rdmap" {
			b.ddp = i
			break
		}
	}
	b.own = len(s.pdus.Nodes)
	s.walk.own(&s.pdus, p)
	b.to = len(s.pdus.Nodes)
	s.keep(p, &b)
	s.blocks = append(s.blocks, b)
	s.layers.PDU(p)
	s.line.PDU(p)
}

// Transaction implements [trace.Sink].
func (*Sink) Transaction(*trace.Transaction) {}

// Gap implements [trace.Sink].
func (*Sink) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (s *Sink) Frame(f *pipeline.Frame) {
	if s.opened != f.Number {
		s.layers.Open(f)
		s.opened = f.Number
	}
	s.begin()
	t := &s.tree
	t.reset()
	var parts *[]Part
	if s.opt.Parts {
		parts = &s.parts
	}
	t.headers(s.layers, parts)
	for i := range s.blocks {
		s.place(f, &s.blocks[i])
	}
	t.join(&s.pdus)
	own := len(t.Nodes)
	s.walk.frame(t, f)
	unread(t.Nodes[own:])
	s.form.Frame(&s.out, &Frame{Frame: f, Tree: t, Layers: s.layers, summary: &s.line, parts: s.parts})
	s.layers.Shown()
	s.forget()
	s.out.done()
}

// place sets the positions of a PDU: in the frame, if all of its octets lie there, else in its
// parts.
func (s *Sink) place(f *pipeline.Frame, b *block) {
	s.ofParts(b)
	if !b.placed || !f.HasSpan || f.Packet == nil || f.Packet.Proto != packet.ProtoTCP || b.start < f.From || b.end > f.To {
		return
	}
	off := f.Packet.PayloadOffset()
	if off < 0 {
		return
	}
	off += int(b.start - f.From)
	to := b.to
	if b.stripped {
		to = b.ddp
	}
	for i := b.from; i < to; i++ {
		n := &s.pdus.Nodes[i]
		if n.Size > 0 {
			n.Pos += off
		}
		if n.Part == b.wire {
			n.Part = 0
		}
	}
}

// join appends the nodes of another tree.
func (t *Tree) join(o *Tree) {
	shift := len(t.text)
	t.text = append(t.text, o.text...)
	for _, n := range o.Nodes {
		for _, p := range [...]*span{&n.show, &n.value, &n.line} {
			p.from, p.to = p.from+shift, p.to+shift
		}
		t.Nodes = append(t.Nodes, n)
	}
}

// Close ends the output, and returns the first error that writing it had.
func (s *Sink) Close() error {
	if !s.begun {
		s.begin() // an output without frames is one nevertheless
	}
	s.form.End(&s.out)
	return s.out.Flush()
}

func appendUint(b []byte, v uint64) []byte { return strconv.AppendUint(b, v, 10) }

// Output collects what is written and hands it on in large parts.
type Output struct {
	w    io.Writer
	b    []byte
	err  error
	live bool
}

// flushAt is the size in octets from which a part is handed on.
const flushAt = 256 << 10

func (o *Output) done() {
	if o.live || len(o.b) >= flushAt {
		_ = o.Flush() // kept for the end
	}
}

// Flush hands on what was collected, and returns the first error there was.
func (o *Output) Flush() error {
	if o.err == nil && len(o.b) > 0 {
		_, o.err = o.w.Write(o.b)
	}
	o.b = o.b[:0]
	return o.err
}

func (o *Output) str(s string) { o.b = append(o.b, s...) }

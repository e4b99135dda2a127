package model

import (
	"bytes"
	"math"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// Frame is a startup frame, or the session control that takes its place.
type Frame struct {
	PDUNumber, FrameNumber uint64
	begins                 uint64 // the frame with its first octet
	Span
	*wire
	// Asked is the frame that this one answers, if it was seen.
	Asked *Frame
	next  *Frame // the one that its direction sent after it
	// bounds are the places behind the header at which TCP segments begin in it; nil: there are
	// none.
	bounds *[]int
	Behind int32 // octets in its last TCP segment
	took   int32 // see Took
	// Function of a session control.
	Function sctpddp.Function
	gates    catalogue.Gate // of its direction when it came
	Dir      trace.Dir
	Kind     trace.Kind
	Partial  bool
	flags    frameFlags
}

// frameFlags are what else is known of a startup frame.
type frameFlags uint8

const (
	sharesWire frameFlags = 1 << iota // its wire is that of another connection
	fromLower                         // its sender has the lower address: the sides may swap their roles behind a reject
)

// wire is what a startup frame says. Thousands of connections begin with the same one, and
// share it. It is never written to.
type wire struct {
	mpa.Startup
	Raw []byte
	// EnhancedWord is the establishment word, if it has one.
	EnhancedWord mpa.Enhanced
	HasWord      bool
}

// wires are the latest ones of a capture.
type wires struct {
	latest [8]*wire
	next   uint8
}

// frameOfPDU returns a startup frame, except for what it says.
func frameOfPDU(p *trace.PDU) *Frame {
	f := &Frame{PDUNumber: p.Number, FrameNumber: p.Frame, Dir: p.Dir, Span: SpanOf(p), Kind: p.Kind, Partial: p.Partial, Behind: int32(p.Behind), took: millis(p)} //nolint:gosec // octets of a packet
	if p.Conn.Side[p.Dir].Addr.Compare(p.Conn.Side[1-p.Dir].Addr) < 0 {
		f.flags |= fromLower
	}
	if f.begins = f.FrameNumber; len(p.Frames) > 0 {
		f.begins = p.Frames[0]
	}
	for _, at := range p.Bounds[:min(len(p.Bounds), maxBounds)] {
		if at >= mpa.StartupLen {
			if f.bounds == nil {
				f.bounds = new([]int)
			}
			*f.bounds = append(*f.bounds, at)
		}
	}
	return f
}

// of returns what a startup frame says, and whether another one has said it.
func (k *wires) of(p *trace.PDU) (w *wire, shared bool) {
	for _, w := range k.latest {
		if w != nil && bytes.Equal(w.Raw, p.StartupRaw) && sameStartup(&w.Startup, p.Startup) {
			return w, true
		}
	}
	w = &wire{Startup: *p.Startup, Raw: bytes.Clone(p.StartupRaw)}
	if n := len(w.PrivateData); n > 0 && len(w.Raw) >= mpa.StartupLen+n && bytes.Equal(w.Raw[mpa.StartupLen:][:n], w.PrivateData) {
		w.PrivateData = w.Raw[mpa.StartupLen:][:n] // nearly always: one copy is enough
	} else {
		w.PrivateData = bytes.Clone(w.PrivateData)
	}
	if e, _, ok := w.Word(); ok && w.Rev >= 2 {
		w.EnhancedWord, w.HasWord = e, true
	}
	k.latest[k.next] = w
	k.next = (k.next + 1) % uint8(len(k.latest))
	return w, false
}

func sameStartup(a, b *mpa.Startup) bool {
	return a.Kind == b.Kind && a.RtRSpelling == b.RtRSpelling && a.Key == b.Key && a.M == b.M && a.C == b.C && a.R == b.R && a.S == b.S &&
		a.Res == b.Res && a.Rev == b.Rev && a.PDLength == b.PDLength && bytes.Equal(a.PrivateData, b.PrivateData)
}

// millis is how many milliseconds passed between the first and the last octet of a startup frame; 0 if that is not known.
func millis(p *trace.PDU) int32 {
	if p.Since == 0 {
		return 0
	}
	return int32(min(max(p.Time-p.Since, 0)/1e6, math.MaxInt32))
}

// Took is how much time passed between the first and the last octet, in nanoseconds; 0 if that is not known.
func (f *Frame) Took() int64 { return int64(f.took) * 1e6 }

// SameSender reports whether one side sent two startup frames, whatever its role was. Over SCTP roles stay.
func (f *Frame) SameSender(g *Frame) bool { return (f.flags^g.flags)&fromLower == 0 }

// Where is the place of a startup frame.
func (f *Frame) Where() Place {
	x := Place{Dir: f.Dir, HasDir: true, Frame: f.FrameNumber, PDU: f.PDUNumber, HasPDU: true}
	if f.Asked != nil {
		x.Related = []uint64{f.Asked.PDUNumber}
	}
	return x
}

// Header is the place of its first octets, where more than one packet carries it.
func (f *Frame) Header() Place {
	x := f.Where()
	x.Frame = f.begins
	return x
}

// maxFrames is how many startup frames of a direction are kept. There is one, unless
// the other side rejected it.
const maxFrames = 8

// keepFrame keeps a startup frame of a direction, if there are not too many.
func (h *Direction) keepFrame(f *Frame) {
	n, end := 0, &h.frames
	for ; *end != nil; n++ {
		end = &(*end).next
	}
	if n < maxFrames {
		*end = f
	}
}

// Frames iterates over the startup frames of the direction, the first few of them.
func (h *Direction) Frames(yield func(*Frame) bool) {
	for f := h.frames; f != nil; f = f.next {
		if !yield(f) {
			return
		}
	}
}

// HasFrames reports whether the direction sent a startup frame.
func (h *Direction) HasFrames() bool { return h.frames != nil }

// lastFrame is the last of them, nil if there is none.
func (h *Direction) lastFrame() (last *Frame) {
	for f := range h.Frames {
		last = f
	}
	return last
}

package annotate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Options say what is written.
type Options struct {
	Words Words
	// Known is what a first reading found; nil: the capture is read once.
	Known *Notes
	// Frames is how many frames the first reading found.
	Frames uint64
	// Window is how many frames are held back if the capture is read once.
	Window int
	// Over, if not nil, is called when all frames of a capture that is read once have passed, and
	// the last ones are still held back.
	Over func()
	// Diagnoses, if not nil, hands over what was diagnosed of a frame, when that is written:
	// until then more may become known of it. It is asked for the frames of [Copier.Shows].
	Diagnoses func(frame uint64, add func(text func([]byte) []byte))
	// Comment is that of the first section, "" for none.
	Comment string
	// Application names what made the file, where it has a new section header.
	Application string
	// Live hands on what was written before more is waited for.
	Live bool
	// Hold, if not 0, is how long a frame is held back at most where Live is set and the capture is read once.
	Hold time.Duration
	// Beside has it write in a goroutine of its own.
	Beside bool
	// Tell is called with damage of the capture that was skipped.
	Tell func(error)
}

// Report says what was written.
type Report struct {
	// Frames were copied, of which Commented have comments of ours.
	Frames, Commented uint64
	// Late is how many comments became known after their frame was written, FirstLate the
	// first such frame: they stand at a later one. Missing is how many of them do not, as no frame came any more.
	Late, FirstLate, Missing uint64
	// Simple, Damaged and Long count frames that should have comments but cannot: their block
	// has no options, its options are damaged, or it would be too long.
	Simple, Damaged, Long uint64
	// Patched says that words were lost which a patched libpcap writes with each packet of a
	// pcap file.
	Patched bool
}

// ErrChanged is returned when the capture has another number of frames than the first time.
var ErrChanged = errors.New("the capture changed while it was read")

// Copier is the sink of the reading that writes.
type Copier struct {
	opt    Options
	out    *writer
	report Report
	window window
	frame  uint64 // at hand
	told   uint64 // how many PDUs there were

	enc  *pcapng.Writer // makes blocks of the records of a pcap file
	list [][]byte       // of the comments of a block
	now  int64          // when the frame at hand came, in nanoseconds, if frames are held back for a time
	// next are comments for the frame that comes next, waiting is how many became known after their frame was written.
	next    held
	waiting uint64
}

// NewCopier writes to w.
func NewCopier(w io.Writer, opt Options) *Copier {
	c := &Copier{opt: opt, out: newWriter(w, opt.Beside)}
	if opt.Known != nil {
		opt.Known.sort()
	} else {
		c.window.most = opt.Window
	}
	return c
}

// Copy reads a capture, hands each frame to a run whose sink the copier is, and writes the
// capture with the comments. Without a run the first reading has kept all. The error is that of
// reading or of writing.
func (c *Copier) Copy(f *capture.File, run *pipeline.Run) (*Report, error) {
	err := c.begin(f)
	if err == nil {
		err = c.frames(f, run)
	}
	if err := c.out.end(); err != nil {
		return &c.report, &WriteError{err}
	}
	return &c.report, err
}

// WriteError is an error of writing.
type WriteError struct{ Err error }

// Error implements error.
func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// frames handles all frames.
func (c *Copier) frames(f *capture.File, run *pipeline.Run) (err error) {
	r := f.Reader()
	f.Recount() // comments name the frames of what is written
	if c.opt.Live {
		defer c.live(f)()
	}
	var rec pcapng.Record
	for !c.out.broken() {
		if err = f.Next(&rec); err != nil {
			var damage *capture.Error
			if errors.As(err, &damage) && damage.Resume {
				c.opt.tell(err)
				continue
			}
			break
		}
		c.frame = rec.Number
		if run == nil {
			if err := c.known(r, &rec); err != nil {
				return err
			}
			continue
		}
		block, err := c.raw(r, &rec)
		if err != nil {
			return err
		}
		c.hold(&held{frame: rec.Number, packet: true, block: block, big: r.BigEndian(), came: c.now})
		run.Frame(&rec)
		c.drain(false)
	}
	if c.opt.Known == nil { // else nothing can follow that is not known
		run.Finish()
		if c.opt.Over != nil {
			c.opt.Over()
		}
	}
	c.drain(true)
	c.report.Missing = c.waiting
	switch {
	case c.opt.Known != nil && !c.out.broken() && c.report.Frames != c.opt.Frames:
		return fmt.Errorf("%w: it had %d frames, and now %d", ErrChanged, c.opt.Frames, c.report.Frames)
	case c.opt.Known != nil, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil // what is wrong with the capture was told by the first reading
	}
	return err
}

func (o *Options) tell(err error) {
	if o.Tell != nil {
		o.Tell(err)
	}
}

// begin writes the first section header.
func (c *Copier) begin(f *capture.File) error {
	r := f.Reader()
	var comments [][]byte
	if c.opt.Comment != "" {
		comments = append(comments, []byte(c.opt.Comment))
	}
	if r.Format() == pcapng.PCAP {
		return c.beginPCAP(r, comments)
	}
	r.Block = func(b []byte) {
		c.window.push(held{frame: c.frame, block: b, big: r.BigEndian()})
		if c.window.most == 0 {
			c.drain(true) // the block is borrowed
		}
	}
	_ = c.wrote(c.write(r.Header(), r.BigEndian(), comments)) // it is there already
	return nil
}

// beginPCAP writes a section header and an interface for a pcap file. The comments stand where
// they would if the section had been there before.
func (c *Copier) beginPCAP(r *pcapng.Reader, comments [][]byte) (err error) {
	h := binary.LittleEndian.Uint32(r.Header())
	c.report.Patched = h == patched || h == bits.ReverseBytes32(patched)
	var header bytes.Buffer
	if c.enc, err = pcapng.NewWriter(&header, pcapng.WriterOptions{
		Format: pcapng.PCAPNG, BigEndian: r.BigEndian(), Application: c.opt.Application,
	}); err != nil {
		return err
	}
	if err = c.enc.Flush(); err != nil {
		return err
	}
	_ = c.wrote(c.write(header.Bytes(), r.BigEndian(), comments)) // it is there already
	header.Reset()
	i := r.Interfaces()[0]
	if _, err = c.enc.AddInterface(pcapng.Interface{Link: i.Link, SnapLen: i.SnapLen, Micro: i.Micro, FCS: i.FCS}); err != nil {
		return err
	}
	if err = c.enc.Flush(); err == nil {
		c.out.add(header.Bytes())
	}
	return err
}

// patched is the magic number of the files of some patched libpcaps.
const patched = 0xa1b2cd34

// raw is the block of a record.
func (c *Copier) raw(r *pcapng.Reader, rec *pcapng.Record) ([]byte, error) {
	if c.enc == nil {
		return r.Raw(rec), nil
	}
	b, err := c.enc.Block(rec)
	if err != nil {
		return nil, fmt.Errorf("frame %d: %w", rec.Number, err)
	}
	return b, nil
}

// known writes a packet of whose comments the first reading has kept all.
func (c *Copier) known(r *pcapng.Reader, rec *pcapng.Record) error {
	c.list = c.list[:0]
	room, more := maxText, 0
	c.opt.Known.take(rec.Number, func(_ place, text []byte) {
		if room -= len(text); room < 0 {
			room += len(text)
			more++
			return
		}
		c.list = append(c.list, text)
	})
	c.list = lacking(c.list, more)
	c.report.Frames++
	var err error
	if c.enc == nil {
		err = c.write(r.Raw(rec), r.BigEndian(), c.list)
	} else {
		err = c.out.addPacket(c.enc, rec, c.list)
	}
	return c.wrote(err)
}

// drain writes what does not have to be held back any more, or all.
func (c *Copier) drain(all bool) {
	for c.window.full() || all && len(c.window.held) > 0 {
		c.oldest()
	}
}

// oldest writes the oldest block that is held back.
func (c *Copier) oldest() {
	h := c.window.held[0]
	c.list = c.list[:0]
	if h.packet {
		if c.opt.Known != nil {
			c.opt.Known.take(h.frame, func(p place, text []byte) {
				c.window.addTo(h, p, func(b []byte) []byte { return append(b, text...) })
			})
		}
		if h.shows {
			c.opt.Diagnoses(h.frame, func(text func([]byte) []byte) { c.window.addTo(h, place{unplaced, ofDiagnosis}, text) })
		}
		c.list = h.texts(c.list)
		c.report.Frames++
	}
	_ = c.wrote(c.write(h.block, h.big, c.list)) // the block is there already
	c.window.pop()
}

// write writes a block with comments, in place of those that it has of us. What is read once may
// have older ones that become known too late, and so keeps them, as does a section that gets none.
func (c *Copier) write(block []byte, big bool, comments [][]byte) error {
	section, older := pcapng.IsSection(block), ""
	if c.opt.Known != nil && !(section && len(comments) == 0) {
		older = Prefix
	}
	if len(comments) == 0 && !section && !pcapng.Commented(block, big, older) {
		c.out.add(block)
		return nil
	}
	return c.out.addCommented(block, big, comments, older)
}

// wrote counts a packet with the comments of list. An error that does not mean that it has no
// place for them is returned.
func (c *Copier) wrote(err error) error {
	switch {
	case err == nil && len(c.list) > 0:
		c.report.Commented++
	case errors.Is(err, pcapng.ErrNoOptions):
		c.report.Simple++
	case errors.Is(err, pcapng.ErrBadOptions):
		c.report.Damaged++
	case errors.Is(err, pcapng.ErrTooLong):
		c.report.Long++
	case err != nil:
		return fmt.Errorf("frame %d: %w", c.frame, err)
	}
	return nil
}

// add adds a comment to a frame.
func (c *Copier) add(frame uint64, p place, text func([]byte) []byte) {
	if k := c.opt.Known; k != nil && (k.From == 0 || frame != c.frame || frame < k.From) {
		return // the first reading has kept it
	}
	if !c.window.add(frame, p, text) {
		c.behind(frame, text)
	}
}

// hold holds a packet back, with the comments that had none to stand at.
func (c *Copier) hold(h *held) {
	c.window.push(*h)
	if len(c.next.comments) == 0 && c.next.more == 0 {
		return
	}
	newest := c.window.held[len(c.window.held)-1]
	for _, text := range c.next.texts(nil) {
		c.window.addTo(newest, place{unplaced, ofDiagnosis}, func(b []byte) []byte { return append(b, text...) })
	}
	c.next.reset(&held{}, true)
	c.waiting = 0
}

// note adds a comment to the newest packet that is held back, or to the one that comes next. It reports whether there is one.
func (c *Copier) note(text func([]byte) []byte) bool {
	p := place{unplaced, ofDiagnosis}
	for _, h := range slices.Backward(c.window.held) {
		if h.packet {
			c.window.addTo(h, p, text)
			return true
		}
	}
	c.next.add(p, text)
	return false
}

// behind notes what became known of a frame that was written.
func (c *Copier) behind(frame uint64, text func([]byte) []byte) {
	said := text(nil)
	if len(said) == 0 {
		return
	}
	if c.report.Late == 0 || frame < c.report.FirstLate {
		c.report.FirstLate = frame
	}
	c.report.Late++
	if !c.note(func(b []byte) []byte {
		b = fmt.Appendf(b, Prefix+"of frame %d: ", frame)
		return append(b, bytes.TrimPrefix(said, []byte(Prefix))...)
	}) {
		c.waiting++
	}
}

// Diagnosis adds what was diagnosed to the frame that shows it, or to a later one if that was written already.
func (c *Copier) Diagnosis(frame uint64, text func([]byte) []byte) {
	if !c.window.add(frame, place{unplaced, ofDiagnosis}, text) {
		c.behind(frame, text)
	}
}

// Shows says that a frame shows what was diagnosed. It reports whether the frame is held back: then [Options.Diagnoses] is asked
// for that when it is written.
func (c *Copier) Shows(frame uint64) bool {
	h := c.window.find(frame)
	if h != nil {
		h.shows = true
	}
	return h != nil
}

// PDU implements [trace.Sink].
func (c *Copier) PDU(p *trace.PDU) {
	c.told = p.Number + 1
	c.add(p.Frame, place{p.Number, ofPDU}, func(b []byte) []byte { return c.opt.Words.PDU(b, p) })
}

// Gap implements [trace.Sink].
func (c *Copier) Gap(g *trace.GapEvent) {
	if g.Conn.IsMPA {
		c.add(g.Frame, place{c.told, ofGap}, func(b []byte) []byte { return c.opt.Words.Gap(b, g) })
	}
}

// Finding adds a finding, if the capture is read once.
func (c *Copier) Finding(f *conformance.Finding) {
	if c.opt.Known == nil {
		c.add(f.Frame, placeOf(f), func(b []byte) []byte { return c.opt.Words.Finding(b, f) })
	}
}

// Transaction implements [trace.Sink].
func (c *Copier) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (c *Copier) Frame(*pipeline.Frame) {}

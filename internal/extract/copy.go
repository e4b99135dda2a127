package extract

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// Options say what is copied.
type Options struct {
	// Format of the copy.
	Format pcapng.Format
	// Frames are the numbers of the frames that are copied; they run on over the files, as
	// in [capture.Joined].
	Frames *Set
	// Last is the number behind which nothing is copied, 0 for none.
	Last uint64
	// Application names what made the file, where it has a new section header.
	Application string
}

// Report says what became of a copy.
type Report struct {
	// Frames were copied.
	Frames uint64
	// Lost says in words what the copy does not have of the original, though it is about
	// what was copied.
	Lost []string
}

// ErrChanged is wrapped when the capture has fewer frames than when they were chosen.
var ErrChanged = errors.New("the capture changed while it was read")

// Copy writes the chosen frames of files that are one capture to w. What is wrong with the
// files was reported when the frames were chosen; it is left out here as it was there.
//
// A file of the same format as the copy is copied octet for octet. From pcap to pcapng
// nothing is lost but the three words that some patched libpcaps add to a packet; from pcapng
// to pcap all is lost that a pcap file has no place for, and frames of several link types are
// an error.
func Copy(w io.Writer, files []string, opt Options) (*Report, error) {
	c := &copier{opt: opt, out: bufio.NewWriterSize(w, 256<<10)}
	if err := c.prepare(files); err != nil {
		return nil, err
	}
	for _, name := range files {
		if err := c.file(name); err != nil {
			return nil, err
		}
		if c.done() {
			break
		}
	}
	if want := opt.Frames.Len(); c.report.Frames != want {
		return nil, fmt.Errorf("%w: it has %d of the %d frames that were chosen", ErrChanged, c.report.Frames, want)
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	c.report.Lost = c.lost.words()
	return &c.report, nil
}

// copier copies.
type copier struct {
	opt    Options
	out    *bufio.Writer
	report Report
	lost   lost
	base   uint64 // frames in the files before
	seen   uint64 // the number of the last frame

	// raw says that records are copied as they are; header is that of a pcap file, which was
	// written.
	raw, begun bool
	header     []byte
	// enc encodes the records of a file otherwise.
	enc  *pcapng.Writer
	link pcapng.LinkType
	err  error
}

// Where the fields of the file header of pcap are, in octets.
const (
	pcapHeaderLen = 24
	pcapSnapLen   = 16
	pcapLink      = 20
)

// prepare looks at the headers of the files: pcap files are joined as they are if they are of
// one kind.
func (c *copier) prepare(files []string) error {
	if c.opt.Format == pcapng.PCAPNG {
		return nil
	}
	c.raw = true
	for _, name := range files {
		f, err := capture.Open(name, nil)
		if err != nil {
			continue // it was reported, and none of its frames can be chosen
		}
		h := bytes.Clone(f.Reader().Header())
		same := f.Reader().Format() == pcapng.PCAP && c.alike(h)
		if err := f.Close(); err != nil {
			return err
		}
		if !same {
			c.raw = false
			return nil
		}
	}
	return nil
}

// alike reports whether the file header of pcap is like that of the files before, and keeps
// the larger snap length.
func (c *copier) alike(h []byte) bool {
	if c.header == nil {
		c.header = h
		return true
	}
	if !bytes.Equal(h[:8], c.header[:8]) || !bytes.Equal(h[pcapLink:], c.header[pcapLink:]) {
		return false
	}
	little := binary.LittleEndian
	magic := little.Uint32(h)
	more := little.Uint32(h[pcapSnapLen:]) > little.Uint32(c.header[pcapSnapLen:])
	if magic>>24 != 0xa1 { // the other byte order
		more = bits.ReverseBytes32(little.Uint32(h[pcapSnapLen:])) > bits.ReverseBytes32(little.Uint32(c.header[pcapSnapLen:]))
	}
	if more {
		copy(c.header[pcapSnapLen:], h[pcapSnapLen:pcapSnapLen+4])
	}
	return true
}

// done reports whether nothing of what follows is copied.
func (c *copier) done() bool { return c.opt.Last != 0 && c.seen >= c.opt.Last }

// file copies from a file.
func (c *copier) file(name string) error {
	f, err := capture.Open(name, nil)
	if err != nil {
		return nil //nolint:nilerr // it was reported when the frames were chosen
	}
	defer f.Close() //nolint:errcheck // only read from
	r := f.Reader()
	if err := c.begin(f); err != nil {
		return err
	}
	var rec pcapng.Record
	for !c.done() {
		err := r.Next(&rec)
		var damage *pcapng.Error
		switch {
		case err == nil:
		case errors.As(err, &damage) && damage.Resume:
			continue
		default: // the end, or damage that was reported
			c.base += r.Count()
			return c.close()
		}
		c.seen = c.base + rec.Number
		if c.opt.Frames.Has(c.seen) {
			c.frame(r, &rec)
		}
		if c.err != nil {
			return c.err
		}
	}
	return c.close()
}

// begin starts with a file.
func (c *copier) begin(f *capture.File) error {
	r := f.Reader()
	h := r.Header()
	switch {
	case c.opt.Format == pcapng.PCAPNG && r.Format() == pcapng.PCAPNG:
		c.raw = true
		r.Block = c.block
		c.block(h)
		return c.err
	case c.opt.Format == pcapng.PCAPNG:
		c.raw = false
		return c.section(r)
	case c.raw:
		if !c.begun {
			c.begun = true
			c.write(c.header)
		}
		return c.err
	}
	if r.Format() == pcapng.PCAPNG {
		r.KeepComments, r.Block = true, c.lost.block
	}
	return nil
}

// section begins a section for the frames of a pcap file.
func (c *copier) section(r *pcapng.Reader) (err error) {
	i := r.Interfaces()[0]
	if c.enc, err = pcapng.NewWriter(c.out, pcapng.WriterOptions{
		Format: pcapng.PCAPNG, BigEndian: r.BigEndian(), Application: c.opt.Application,
	}); err != nil {
		return err
	}
	_, err = c.enc.AddInterface(pcapng.Interface{Link: i.Link, SnapLen: i.SnapLen})
	c.lost.patched = c.lost.patched || modified(r.Header())
	return err
}

// modified reports whether a file header is that of a patched libpcap.
func modified(header []byte) bool {
	m := binary.LittleEndian.Uint32(header)
	return m == 0xa1b2cd34 || m == bits.ReverseBytes32(0xa1b2cd34)
}

// frame copies a frame.
func (c *copier) frame(r *pcapng.Reader, rec *pcapng.Record) {
	c.report.Frames++
	if c.raw {
		c.write(r.Raw(rec))
		return
	}
	if c.opt.Format == pcapng.PCAP {
		if c.err = c.pcap(r, rec); c.err != nil {
			return
		}
		c.lost.record(rec)
		rec.Interface = 0
	}
	if err := c.enc.WritePacket(rec); err != nil {
		c.err = fmt.Errorf("frame %d: %w", c.seen, err)
	}
}

// pcap makes the header of a pcap file for the first frame, and checks that all have its
// link type.
func (c *copier) pcap(r *pcapng.Reader, rec *pcapng.Record) (err error) {
	switch {
	case c.enc == nil:
		c.lost.patched = r.Format() == pcapng.PCAP && modified(r.Header())
		c.link = rec.Link
		c.enc, err = pcapng.NewWriter(c.out, pcapng.WriterOptions{Link: rec.Link, Nano: true})
	case rec.Link != c.link:
		err = fmt.Errorf("frame %d has the link type %v, and those before it %v: a pcap file has one; name the file .pcapng", c.seen, rec.Link, c.link)
	}
	return err
}

// block copies a block of pcapng that holds no packet.
func (c *copier) block(b []byte) {
	if c.done() {
		return
	}
	switch kind(b) {
	case kindSection:
		// Its length is no longer that of the section: all ones say "not given".
		h := bytes.Clone(b)
		for i := sectionLength; i < sectionLength+8; i++ {
			h[i] = 0xff
		}
		b = h
	case kindCustomKeep:
		c.lost.uncopied++
		return
	}
	c.write(b)
}

// write writes octets as they are.
func (c *copier) write(b []byte) {
	if c.err == nil {
		_, c.err = c.out.Write(b)
	}
}

// close ends a file.
func (c *copier) close() error {
	if c.err == nil && c.enc != nil {
		c.err = c.enc.Flush()
		if c.opt.Format == pcapng.PCAPNG {
			c.enc = nil
		}
	}
	return c.err
}

// end writes what is left. A copy without frames is a capture too.
func (c *copier) end() (err error) {
	if c.opt.Format == pcapng.PCAP && !c.raw && c.enc == nil || c.opt.Format == pcapng.PCAP && c.raw && !c.begun {
		var w *pcapng.Writer
		if w, err = pcapng.NewWriter(c.out, pcapng.WriterOptions{Link: pcapng.Ethernet, Nano: true}); err != nil {
			return err
		}
		if err = w.Flush(); err != nil {
			return err
		}
	}
	return c.out.Flush()
}

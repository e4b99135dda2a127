package payload

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/trace"
)

// Manifest is the name of the file that lists the others.
const Manifest = "manifest.ndjson"

const (
	// mostHandles is how many files are open at once at most, besides the manifest.
	mostHandles = 64
	// mostHoles bounds the holes that are listed of a file.
	mostHoles = 1000
	// bufferSize is what is collected of a file before it is written, in octets.
	bufferSize = 16 << 10
)

// ErrNotEmpty is returned for a folder that has files.
var ErrNotEmpty = errors.New("the folder is not empty")

// Hole is a part of a file that was not captured: the file has zeros there.
type Hole struct{ Offset, Length int64 }

// Writer writes the files of one capture. It is a sink of PDUs.
type Writer struct {
	dir      *outfile.Folder
	manifest *outfile.Growing
	messages dialogue.Messages
	handles  []*content // with an open file, the one used last at the end
	spare    []*bufio.Writer
	line     []byte
	err      error
	failed   func()

	// Files and Octets are what was written, Incomplete how many of the files do not hold a
	// whole message.
	Files, Octets, Incomplete uint64
}

// content is the file of a message.
type content struct {
	name  string
	f     *outfile.Part
	w     *bufio.Writer // nil while the file is closed
	sum   hash.Hash
	at    int64 // octets so far
	holes []Hole
	// further counts holes that are not listed, missing the octets in all holes.
	further, missing int64
}

// New prepares to write into a folder, which is made if it is not there. One that has files
// is refused, unless fill says that more may be added. failed is called when an error of
// writing makes it pointless to go on.
func New(folder string, fill bool, failed func()) (*Writer, error) {
	dir, err := outfile.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, failed: failed}
	if err := w.begin(fill); err != nil {
		_ = dir.Close() // the first error is the one to report
		return nil, err
	}
	w.messages.Broken = w.end
	return w, nil
}

func (w *Writer) begin(fill bool) error {
	if !fill {
		empty, err := w.dir.Empty()
		switch {
		case err != nil:
			return err
		case !empty:
			return ErrNotEmpty
		}
	}
	var err error
	w.manifest, err = w.dir.Grow(Manifest)
	return err
}

// kind is what a file of an opcode is called.
func kind(op rdmap.Opcode) string {
	return strings.ReplaceAll(strings.ToLower(op.String()), " ", "-")
}

// PDU takes in a PDU.
func (w *Writer) PDU(p *trace.PDU) {
	if w.err != nil || p.Segment == nil || !p.Control.Opcode.Payload() {
		return
	}
	m := w.messages.Add(p)
	c, _ := m.Data.(*content)
	if c == nil {
		c = &content{
			name: fmt.Sprintf("conn%d-%s-pdu%06d-%s.bin", m.Conn, m.Dir, m.First, kind(m.Op)),
			sum:  sha256.New(),
		}
		m.Data = c
	}
	begin := c.at
	length := dialogue.Pieces(p, func(at int64, b []byte) {
		w.hole(c, begin+at)
		w.write(c, b)
	})
	w.hole(c, begin+length)
	if length == 0 {
		w.write(c, nil) // there is a file nevertheless
	}
	if m.Done {
		w.end(m)
	}
}

// Gap breaks off messages: octets are missing.
func (w *Writer) Gap(g *trace.GapEvent) {
	if w.err == nil {
		w.messages.Gap(g.Conn.Number, g.Dir)
	}
}

var zeros [4096]byte

// hole fills a file up to a place.
func (w *Writer) hole(c *content, to int64) {
	n := to - c.at
	if n <= 0 {
		return
	}
	last := len(c.holes) - 1
	switch {
	case last >= 0 && c.holes[last].Offset+c.holes[last].Length == c.at:
		c.holes[last].Length += n
	case last+1 < mostHoles:
		c.holes = append(c.holes, Hole{c.at, n})
	default:
		c.further++
	}
	c.missing += n
	for n > 0 && w.err == nil {
		b := zeros[:min(n, int64(len(zeros)))]
		w.write(c, b)
		n -= int64(len(b))
	}
}

// write appends octets to a file.
func (w *Writer) write(c *content, b []byte) {
	if w.err != nil {
		return
	}
	if c.w == nil {
		if w.fail(w.open(c)) {
			return
		}
	} else if last := len(w.handles) - 1; w.handles[last] != c {
		for i, h := range w.handles {
			if h == c {
				copy(w.handles[i:], w.handles[i+1:])
				w.handles[last] = c
				break
			}
		}
	}
	_, err := c.w.Write(b)
	w.fail(err)
	_, _ = c.sum.Write(b) // it never fails
	c.at += int64(len(b))
}

// open opens the file, and closes another one if there are too many.
func (w *Writer) open(c *content) (err error) {
	if len(w.handles) >= mostHandles {
		if err := w.shut(w.handles[0]); err != nil {
			return err
		}
	}
	if c.f == nil {
		if c.f, err = w.dir.Create(c.name); err != nil {
			return err
		}
	}
	if n := len(w.spare); n > 0 {
		c.w, w.spare = w.spare[n-1], w.spare[:n-1]
		c.w.Reset(c.f)
	} else {
		c.w = bufio.NewWriterSize(c.f, bufferSize)
	}
	w.handles = append(w.handles, c)
	return nil
}

// shut closes the file; it may be opened again.
func (w *Writer) shut(c *content) error {
	err := cmp.Or(c.w.Flush(), c.f.Pause())
	w.spare = append(w.spare, c.w)
	c.w = nil
	for i, h := range w.handles {
		if h == c {
			w.handles = append(w.handles[:i], w.handles[i+1:]...)
			break
		}
	}
	return err
}

// end ends the file of a message, and lists it.
func (w *Writer) end(m *dialogue.Message) {
	c, _ := m.Data.(*content)
	if c == nil {
		return
	}
	if c.w != nil {
		w.fail(w.shut(c))
	}
	if c.f == nil {
		return
	}
	if w.err != nil {
		_ = c.f.Discard() // the first error is the one to report
		return
	}
	w.line = appendEntry(w.line[:0], m, c)
	if w.fail(c.f.CommitIn(w.manifest, w.line)) {
		return
	}
	w.Files++
	w.Octets += uint64(c.at - c.missing) //nolint:gosec // not negative
	if !complete(m, c) {
		w.Incomplete++
	}
}

// complete reports whether a file holds all of its message.
func complete(m *dialogue.Message, c *content) bool { return m.Whole() && c.missing == 0 }

// fail takes note of an error, after which nothing more is written.
func (w *Writer) fail(err error) bool {
	if err != nil && w.err == nil {
		w.err = err
		if w.failed != nil {
			w.failed()
		}
	}
	return err != nil
}

// Discard gives up a folder in which nothing was written.
func (w *Writer) Discard() error {
	return errors.Join(w.manifest.Discard(), w.dir.Close())
}

// Close ends the files of messages that were not completed, and the manifest.
func (w *Writer) Close() error {
	w.messages.Close()
	w.fail(errors.Join(w.manifest.Close(), w.dir.Close()))
	return w.err
}

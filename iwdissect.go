// Package iwdissect reads captures of iWARP, which is RDMA over TCP or SCTP: it
// finds the connections, decodes their MPA, DDP and RDMAP, pairs requests with
// their answers, and judges all of that by the rules of the RFCs.
//
// [Open] opens a capture file, [Join] several files as one capture, [NewReader]
// any [io.Reader], and [NewSource] whatever gives frames, for example a handle of
// gopacket. Files are pcap or pcapng, plain or compressed with gzip, bzip2, zstd or lz4.
// What is in the capture comes from iterators:
//
//	c, err := iwdissect.Open("trace.pcapng")
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	for pdu, err := range c.PDUs() {
//		if err != nil {
//			return err
//		}
//		if pdu.HasControl {
//			fmt.Println(pdu.Frame, pdu.Control.Opcode)
//		}
//	}
//
// Each range is one pass over the capture, from its first frame. [Capture.Events]
// yields several kinds in one pass. A regular file can be ranged over again;
// what comes from a named pipe, a reader or a source cannot, and the second range
// yields [ErrConsumed].
//
// # What may be kept
//
// PDUs, transactions, gaps and frames are borrowed: they are valid until the next
// step of the loop. Clone methods make copies of PDUs and transactions that may be
// kept. The connection that a PDU belongs to goes on changing while the capture is
// read; Clone of it keeps how it is now. A connection that [Capture.Connections]
// yields is over and may be kept, and so may a finding.
//
// # Errors
//
// Errors of reading are of type [*Error], with the file, the frame and the place in
// the file. An error does not end the loop. If its Resumed is set, the loop goes on
// with what follows the damage; otherwise with what is left to be said of what was
// read before, such as the connections. Leaving the loop ends the pass at once,
// closes the file and leaves no goroutine behind.
//
// # Damaged packets
//
// A TCP or SCTP packet whose checksum is wrong, while others of the same sender are
// right, is left out: its receiver drops it. [trace.Faults] and [trace.SCTPSide]
// count such packets. When all checksums of a sender are wrong, they were left to its
// network card (checksum offload), and nothing is left out.
//
// # Bounds
//
// Memory is bounded, see [Limits], so a capture may have any length. Whatever is
// dropped to stay within the bounds is counted, and [Totals.Warnings] lists it after
// a pass.
//
// The commands of iwdissect are built on the same inner layer as this package, and
// tests compare what both find.
package iwdissect

import (
	"errors"
	"io"
	"os"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/layers"
)

// Capture is a capture to be read. It is for one goroutine.
type Capture struct {
	set   settings
	ready capture.Source // for the next pass; nil: to be opened
	// open opens the capture once more; nil: it can be read only once.
	open   func() (capture.Source, error)
	closed bool
	src    capture.Source // of the pass under way, or of the last one; nil: none
	pass   *pass          // under way; nil: none
	last   Totals
	// verdicts are those of the last pass.
	verdicts conformance.Tally
}

// ErrConsumed is what a second range yields over a capture that comes from a reader
// or a source, which can be read only once. [Capture.Events] yields several kinds of
// things in one pass.
var ErrConsumed = errors.New("iwdissect: this capture cannot be read a second time")

// ErrClosed is what a range yields after [Capture.Close].
var ErrClosed = errors.New("iwdissect: the capture is closed")

// Open opens a capture file and reads its first octets: the error is an [*Error]
// if the file cannot be read, is empty, or is no capture.
func Open(path string, opts ...Option) (*Capture, error) {
	if path == "-" { // not standard input: that is for programs to say
		path = "./-"
	}
	return start(opts, regular(path), func() (capture.Source, error) { return capture.Open(path, nil) })
}

// Join reads several files one after the other as one capture: those of a ring
// buffer, for example. Their order is that of the times of their first frames, whatever
// their names. Frame numbers run on from file to file. Files are opened as
// they are needed; the range yields an error for one that cannot be read, and goes on
// with the next. [Error.Frame] counts in the file that [Error.File] names.
func Join(paths []string, opts ...Option) (*Capture, error) {
	return together(paths, opts, func(names []string) capture.Source { return capture.Join(capture.ByTime(names), nil) })
}

// JoinGiven is [Join] in the order given.
func JoinGiven(paths []string, opts ...Option) (*Capture, error) {
	return together(paths, opts, func(names []string) capture.Source { return capture.Join(names, nil) })
}

// Merge reads several files side by side as one capture, in the order of the times of their
// frames: those of two taps, directions or queues of one point. A packet that another file has
// as well counts once, see [Totals.Duplicates]. Otherwise it is as [Join].
func Merge(paths []string, opts ...Option) (*Capture, error) {
	return together(paths, opts, func(names []string) capture.Source { return capture.Merge(names) })
}

// together makes one capture of several files.
func together(paths []string, opts []Option, open func(names []string) capture.Source) (*Capture, error) {
	if len(paths) == 0 {
		return nil, errors.New("iwdissect: no file to read")
	}
	names, again := make([]string, len(paths)), true
	for i, p := range paths {
		if names[i] = p; p == "-" {
			names[i] = "./-"
		}
		again = again && regular(names[i])
	}
	return start(opts, again, func() (capture.Source, error) { return open(names), nil })
}

// NewReader reads a capture file from r, which may be a pipe or a connection, and
// begins with its first octets; see [Open] for the error. Closing the Capture does
// not close r.
func NewReader(r io.Reader, opts ...Option) (*Capture, error) {
	if r == nil {
		return nil, errors.New("iwdissect: NewReader takes a reader, not nil")
	}
	return start(opts, false, func() (capture.Source, error) { return capture.Open("-", r) })
}

// FrameSource gives frames one after the other, and [io.EOF] behind the last.
// [layers.NewSource] makes one of any gopacket.PacketDataSource. The octets of a
// frame have to stay as they are until the next call. The first error ends the capture,
// as io.EOF does. A frame without a time has none in what a range yields, and latencies
// that depend on it are -1.
type FrameSource interface {
	Next() (layers.Frame, error)
}

// NewSource reads the frames of src. The error is one of the options, or that src is nil.
func NewSource(src FrameSource, opts ...Option) (*Capture, error) {
	if src == nil {
		return nil, errors.New("iwdissect: NewSource takes a source, not nil")
	}
	return start(opts, false, func() (capture.Source, error) { return &source{src: src}, nil })
}

// start makes a capture of what open opens, and opens it the first time.
func start(opts []Option, again bool, open func() (capture.Source, error)) (*Capture, error) {
	c := &Capture{}
	for _, o := range opts {
		if o == nil {
			continue // it changes nothing
		}
		if err := o(&c.set); err != nil {
			return nil, err
		}
	}
	src, err := open()
	if err != nil {
		return nil, errorOf(err)
	}
	if c.ready = src; again {
		c.open = open
	}
	return c, nil
}

// regular reports whether a path names a file that can be read more than once. Of
// one that is not there the error of opening tells.
func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// take returns the source of the next pass.
func (c *Capture) take() (src capture.Source, err error) {
	defer func() { c.src = src }()
	if src := c.ready; src != nil {
		c.ready = nil
		return src, nil
	}
	if c.open == nil {
		if c.closed {
			return nil, ErrClosed
		}
		return nil, ErrConsumed
	}
	if src, err = c.open(); err != nil {
		return nil, errorOf(err)
	}
	return src, nil
}

// failed notes that a pass could not begin: it has counted nothing. A capture that can be read only once keeps the
// counts of that pass.
func (c *Capture) failed(err error) {
	if !errors.Is(err, ErrConsumed) && !errors.Is(err, ErrClosed) {
		c.last, c.verdicts = Totals{Incomplete: true}, conformance.Tally{}
	}
}

// Remarks says in sentences what is odd about the times of the files that [Join] or [Merge] has
// read so far: files that overlap, holes between them, time that goes back.
func (c *Capture) Remarks() []string {
	if all, ok := c.src.(interface{ Remarks() []string }); ok {
		return all.Remarks()
	}
	return nil
}

// Locate returns the file of a frame, by its number, and its number there, of a capture
// that [Join] or [Merge] makes of several files; ok is false if it is not known. Of a frame that was
// not read yet the file is a guess; behind the last frame there is none once all were read.
func (c *Capture) Locate(frame uint64) (path string, own uint64, ok bool) {
	all, ok := c.src.(interface {
		Locate(number uint64) (path string, own uint64, ok bool)
	})
	if !ok {
		return "", 0, false
	}
	return all.Locate(frame)
}

// Close ends a range that is under way, and closes a file that was opened and not
// ranged over. A range closes its file by itself.
func (c *Capture) Close() error {
	c.closed, c.open = true, nil
	if c.pass != nil {
		c.pass.stop()
	}
	src := c.ready
	if c.ready = nil; src == nil {
		return nil
	}
	if err := src.Close(); err != nil {
		return errorOf(err)
	}
	return nil
}

package pcapng

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
)

// Record is one packet of a capture file.
type Record struct {
	// Data are the captured octets, borrowed: valid until the next call, or longer
	// with [Reader.Lend].
	Data []byte
	// Time is in nanoseconds since 1970-01-01 00:00:00 UTC. A time that does
	// not fit is set to the nearest one that does.
	Time int64
	// OrigLen is the length of the packet on the wire in octets; Data is
	// shorter when the capture was cut.
	OrigLen uint32
	// Link is the link type of the interface.
	Link LinkType
	// NoTime tells that the file gives no time for this packet (Simple
	// Packet Block); Time is 0 then.
	NoTime bool
	// Duplicate tells that the same packet came before, from another file of those that are
	// merged. No reader of one file sets it.
	Duplicate bool
	// Section is the 0-based section of the file, Interface the index into
	// [Reader.Interfaces], those of that section; both are 0 in a pcap file.
	Section, Interface int
	// Pos is the octet position of the record header or block in the file
	// (after decompression).
	Pos int64
	// Number counts records from 1. A damaged record that was skipped takes
	// a number too.
	Number uint64
	// Comments are the packet's comments, nil unless [Reader.KeepComments].
	Comments []string
}

// Format is the kind of a capture file.
type Format uint8

// The formats.
const (
	PCAP   Format = iota // classic pcap
	PCAPNG               // pcapng
)

// String gives the usual suffix of such files.
func (f Format) String() string {
	if f == PCAPNG {
		return "pcapng"
	}
	return "pcap"
}

// Epoch stands for the time 0 where 0 stands for none: it is a nanosecond later.
const Epoch = 1

// Moment is the time of a record, 0 if it has none. A capture may count its time from its first
// record.
func (r *Record) Moment() int64 {
	if r.Time == 0 && !r.NoTime {
		return Epoch
	}
	return r.Time
}

// Reader reads a pcap or pcapng file from a stream. It is not safe for use by
// several goroutines.
type Reader struct {
	// KeepComments asks for [Record.Comments]. It is off by default because
	// comments have to be copied.
	KeepComments bool
	// Block, if not nil, is called by Next with each block of a pcapng file that holds no
	// packet, from the second section header on, as it stands in the file. The octets are
	// borrowed until it returns. Damaged blocks that are skipped are left out, but for
	// descriptions of interfaces: they count in the numbers of those.
	Block func(octets []byte)

	in     buffer
	format Format
	count  uint64 // records so far, damaged ones included
	stop   error  // final error or io.EOF
	late   *Error // to be reported by the next call
	told   int    // faults that were reported, each by itself
	rest   *Error // stands for the faults behind those; nil: none

	// pcap, and the byte order of a section of pcapng
	classic
	last     int64 // time of the last record
	haveLast bool
	doubts   int // searches behind odd records that found nothing

	// pcapng
	section int
	scales  []scale
	ifaces  []Interface
	names   int // octets of the names and descriptions that are kept
	losses  []Lost
	lost    Lost // in the sections before
}

// Magic numbers, as read in little-endian order.
const (
	magicMicro    = 0xa1b2c3d4
	magicNano     = 0xa1b23c4d
	magicModified = 0xa1b2cd34
	magicSection  = 0x0a0d0d0a // the same in both byte orders
)

// NewReader looks at the first octets of src to tell the format and byte
// order, and reads the file header or first section header. The error is an
// [*Error].
func NewReader(src io.Reader) (*Reader, error) {
	return newReader(src, readSize)
}

func newReader(src io.Reader, size int) (*Reader, error) {
	r := &Reader{in: newBuffer(src, size)}
	if !r.in.fill(4) {
		return nil, r.sniffShort()
	}
	magic := binary.LittleEndian.Uint32(r.in.buf[r.in.r:])
	var err error
	if magic == magicSection {
		r.format = PCAPNG
		err = r.openNg()
	} else {
		if !isPcapMagic(magic) && !isPcapMagic(bits.ReverseBytes32(magic)) {
			return nil, &Error{Code: CodeFormat, Err: notCapture(r.in.buf[r.in.r : r.in.r+4])}
		}
		err = r.openPcap()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// notCapture says what a file is that is no capture: others have their formats packed.
func notCapture(head []byte) error {
	for _, p := range []struct{ magic, name string }{
		{"\xfd7zX", "xz"},
		{"BZh", "bzip2"},
		{"\x1f\x8b", "gzip"},
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"\x04\x22\x4d\x18", "lz4"},
		{"PK\x03\x04", "zip"},
		{"7z\xbc\xaf", "7z"},
	} {
		if strings.HasPrefix(string(head), p.magic) {
			return fmt.Errorf("%w, but one that is compressed with %s: unpack it first", ErrFormat, p.name)
		}
	}
	return ErrFormat
}

func isPcapMagic(m uint32) bool {
	return m == magicMicro || m == magicNano || m == magicModified
}

// sniffShort tells, with fewer than four octets there, a truncated capture
// from something else.
func (r *Reader) sniffShort() error {
	if !errors.Is(r.in.err, io.EOF) {
		return &Error{Code: CodeRead, Err: r.in.err}
	}
	got := r.in.buf[r.in.r:r.in.w]
	if len(got) == 0 {
		return &Error{Code: CodeEmpty, Err: ErrEmpty}
	}
	for _, m := range []string{
		"\x0a\x0d\x0d", "\xa1\xb2\xc3", "\xd4\xc3\xb2", "\xa1\xb2\x3c", "\x4d\x3c\xb2", "\xa1\xb2\xcd", "\x34\xcd\xb2",
	} {
		if string(got) == m[:len(got)] {
			return &Error{Code: CodeTruncated, Err: fmt.Errorf("file of %d octets: %w", len(got), io.ErrUnexpectedEOF)}
		}
	}
	return &Error{Code: CodeFormat, Err: ErrFormat}
}

// Lend has the reader go on in another buffer where it would overwrite one that holds
// records: lend gets the buffer that the reader is done with and returns the next one, of
// [LentSize] octets; the end of the old one is copied to the front of the new one, which
// may be the same. [Record.Data] stays valid until the caller makes use of its buffer
// again. A record that needs more room is in a larger buffer, made by the reader.
func (r *Reader) Lend(lend func(done []byte) []byte) { r.in.lend = lend }

// Before has a function called before more is read, which may wait: then all that came was
// handed out, but for a record that is not whole. If it returns false, the input ends there.
func (r *Reader) Before(f func() bool) { r.in.before = f }

// After has a function called when more was read, or cannot be, after each call of that of [Reader.Before] that returned true.
func (r *Reader) After(f func()) { r.in.after = f }

// Format tells what kind of file is read.
func (r *Reader) Format() Format { return r.format }

// Interfaces returns the interfaces that the section of the last record has
// described so far. A pcap file has one. The slice is the reader's own: it grows
// as reading goes on, and the next section overwrites it.
func (r *Reader) Interfaces() []Interface { return r.ifaces }

// Count is the number of records so far, including damaged ones that were
// skipped.
func (r *Reader) Count() uint64 { return r.count }

// DataPos is the octet position in the file of the data of the record that was read last.
func (r *Reader) DataPos(rec *Record) int64 {
	switch {
	case r.format == PCAP: // the data end the record
		return r.in.pos() - int64(len(rec.Data))
	case rec.NoTime: // a Simple Packet Block
		return rec.Pos + simpleData
	}
	return rec.Pos + enhancedData
}

// Header returns the file header of a pcap file, or the first section header, as it stands
// in the file. It is borrowed, and only there before the first call of Next.
func (r *Reader) Header() []byte { return r.in.buf[:r.in.r] }

// Raw returns the record that was read last as it stands in the file: record header or block,
// with all options. It is borrowed like [Record.Data].
func (r *Reader) Raw(rec *Record) []byte { return r.in.buf[rec.Pos-r.in.base : r.in.r] }

// BigEndian reports whether the numbers of the file, or of the current section, have their
// most significant octet first.
func (r *Reader) BigEndian() bool { return r.big }

// Next reads the next record. It returns io.EOF at a clean end, else an
// [*Error]; if that has Resume set the following call goes on behind the
// fault, otherwise every further call returns the same error. rec is not
// meaningful after an error.
//
// The first faults are returned one by one. Those behind them are skipped as well,
// and one error at the end stands for all of them.
func (r *Reader) Next(rec *Record) error {
	err := r.next(rec)
	if err == nil {
		return nil
	}
	return r.damaged(rec, err)
}

func (r *Reader) next(rec *Record) error {
	if r.stop != nil {
		return r.stop
	}
	if r.format == PCAP {
		return r.nextPcap(rec)
	}
	return r.nextNg(rec)
}

// damaged decides which error Next returns. It reads on where a fault is not told
// by itself: a file of nothing but faults would cost its reader memory and its
// user the messages that matter.
func (r *Reader) damaged(rec *Record, err error) error {
	for err != nil {
		var e *Error
		switch {
		case !errors.As(err, &e) || !e.Resume: // the end
			if r.rest == nil {
				return err
			}
			e, r.rest = r.rest, nil
			e.Err = fmt.Errorf("here begin more faults: %d, which are not told one by one", e.More+1)
			return e
		case r.told < maxTold:
			r.told++
			return e
		}
		if r.rest == nil {
			r.rest = &Error{Pos: e.Pos, Frame: e.Frame, Code: CodeMore, Resume: true}
		} else {
			r.rest.More++
		}
		r.rest.Skipped += e.Skipped
		err = r.next(rec)
	}
	return nil
}

// tell hands out a block that holds no packet.
func (r *Reader) tell(octets []byte) {
	if r.Block != nil {
		r.Block(octets)
	}
}

// byteOrder is that of a file or section.
type byteOrder struct{ big bool }

func (o byteOrder) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (o byteOrder) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// put16, put32 and put64 append a number. They are no interface, so that they are inlined.
func (o byteOrder) put16(b []byte, v uint16) []byte {
	if o.big {
		v = bits.ReverseBytes16(v)
	}
	return binary.LittleEndian.AppendUint16(b, v)
}

func (o byteOrder) put32(b []byte, v uint32) []byte {
	if o.big {
		v = bits.ReverseBytes32(v)
	}
	return binary.LittleEndian.AppendUint32(b, v)
}

func (o byteOrder) put64(b []byte, v uint64) []byte {
	if o.big {
		v = bits.ReverseBytes64(v)
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// ended is called when the input ended before what was needed: a clean end,
// a truncated input, or a source that failed.
func (r *Reader) ended(what string) error {
	have := r.in.w - r.in.r
	switch {
	case !errors.Is(r.in.err, io.EOF):
		return r.fatal(CodeRead, r.in.err)
	case have == 0:
		r.stop = io.EOF
		return io.EOF
	}
	return r.fatal(CodeTruncated, fmt.Errorf("file ends %d octets into a %s: %w", have, what, io.ErrUnexpectedEOF))
}

// fatal ends the reading with an error at the current position.
func (r *Reader) fatal(code string, cause error) error {
	r.stop = &Error{Pos: r.in.pos(), Frame: r.count + 1, Code: code, Err: cause}
	return r.stop
}

// skip reports an error at the current position and goes on n octets later.
// The record takes a number if it was one.
func (r *Reader) skip(n int, isRecord bool, code string, cause error) *Error {
	e := &Error{Pos: r.in.pos(), Frame: r.count + 1, Code: code, Resume: true, Skipped: int64(n), Err: cause}
	if isRecord {
		r.count++
	}
	r.in.r += n
	return e
}

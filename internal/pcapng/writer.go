package pcapng

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// WriterOptions say what a new file looks like. The zero value is a pcap file
// in little-endian order with microseconds, of link type [Null].
type WriterOptions struct {
	Format Format
	// BigEndian writes every number most significant octet first.
	BigEndian bool
	// Nano gives a pcap file nanosecond time stamps; without it times are cut
	// to microseconds. pcapng files always have nanoseconds.
	Nano bool
	// SnapLen is the longest captured length, in octets, of a pcap file or of
	// the interface that is made up (see Link). 0 means 262144 in a pcap file
	// and no limit in a pcapng file.
	SnapLen uint32
	// Link is the link type of a pcap file. In a pcapng file it is that of
	// the interface which is made up if a packet is written before
	// [Writer.AddInterface] is called.
	Link LinkType
	// Hardware, OS, Application and Comment describe a pcapng file; "" leaves
	// one out. At most 65535 octets each.
	Hardware, OS, Application, Comment string
}

// flushAt is the number of octets collected before they are written.
const flushAt = 64 << 10

// Writer writes a pcap or pcapng file. It is not safe for use by several
// goroutines.
type Writer struct {
	w      io.Writer
	opt    WriterOptions
	order  byteOrder
	buf    []byte
	ifaces []Interface
	// written counts the octets that went to w.
	written uint64
	err     error
}

// NewWriter starts a file. Its header is written with the first packets, or
// by [Writer.Flush].
func NewWriter(w io.Writer, opt WriterOptions) (*Writer, error) {
	wr := &Writer{w: w, opt: opt, order: byteOrder{opt.BigEndian}, buf: make([]byte, 0, flushAt+4096)}
	switch opt.Format {
	case PCAP:
		wr.fileHeader()
		return wr, nil
	case PCAPNG:
		if err := wr.sectionHeader(); err != nil {
			return nil, err
		}
		return wr, nil
	}
	return nil, fmt.Errorf("pcapng: format %d is not known", opt.Format)
}

// WritePacket adds a packet. Data, Time, NoTime, OrigLen (0 stands for the
// length of Data), Interface (the number AddInterface gave) and Comments are
// written; Link must be that of the file or interface. A pcap file has neither
// comments, which are left out, nor packets without time, which get time 0. In
// a pcapng file a packet without time becomes a Simple Packet Block, which
// exists only for interface 0 and without comments; any other gets time 0.
func (w *Writer) WritePacket(rec *Record) error {
	if w.err != nil {
		return w.err
	}
	if len(rec.Data) > MaxCapLen {
		return tooLong(rec)
	}
	var err error
	if w.opt.Format == PCAP {
		err = w.pcapPacket(rec)
	} else {
		err = w.ngPacket(rec)
	}
	if err == nil && len(w.buf) >= flushAt {
		err = w.Flush()
	}
	return err
}

// Block is the block that WritePacket would write of a packet to a pcapng file. It is not
// written, and borrowed until the next call.
func (w *Writer) Block(rec *Record) ([]byte, error) {
	if w.opt.Format == PCAP {
		return nil, errNoBlocks
	}
	if len(rec.Data) > MaxCapLen {
		return nil, tooLong(rec)
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if err := w.ngPacket(rec); err != nil {
		w.buf = w.buf[:0]
		return nil, err
	}
	b := w.buf
	w.buf = w.buf[:0]
	return b, nil
}

// AppendBlock appends the block that WritePacket would write of a packet to a pcapng file, with
// further comments. Its interface has to be there. If it has no place for them, it is appended without, see [AppendCommented];
// any other error appends nothing.
func (w *Writer) AppendBlock(b []byte, rec *Record, comments [][]byte) ([]byte, error) {
	if w.opt.Format == PCAP {
		return b, errNoBlocks
	}
	switch {
	case len(w.ifaces) == 0:
		return b, errNoInterface
	case len(rec.Data) > MaxCapLen:
		return b, tooLong(rec)
	}
	if len(rec.Comments) > 0 || rec.NoTime { // its options have to be found
		block, err := w.Block(rec)
		if err != nil {
			return b, err
		}
		return AppendCommented(b, block, w.opt.BigEndian, comments, "")
	}
	start, collected := len(b), w.buf
	w.buf = b
	err := w.ngPacket(rec)
	b, w.buf = w.buf, collected
	if err != nil {
		return b[:start], err
	}
	return w.order.addComments(b, start, nil, nil, comments)
}

var (
	errNoBlocks    = errors.New("pcapng: a pcap file has no blocks")
	errNoInterface = errors.New("pcapng: no interface was added")
)

func tooLong(rec *Record) error {
	return fmt.Errorf("pcapng: packet of %d octets is longer than %d", len(rec.Data), MaxCapLen)
}

// Flush writes what was collected. An error of the underlying writer is final.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	n, err := w.w.Write(w.buf)
	w.written += uint64(max(n, 0))
	if err == nil && n != len(w.buf) {
		err = io.ErrShortWrite
	}
	w.buf = w.buf[:0]
	w.err = err
	return err
}

// Size returns the octets of the file so far, with those that were collected.
func (w *Writer) Size() uint64 { return w.written + uint64(len(w.buf)) }

func (w *Writer) u16(v uint16) { w.buf = w.order.put16(w.buf, v) }
func (w *Writer) u32(v uint32) { w.buf = w.order.put32(w.buf, v) }

func origLen(rec *Record) uint32 {
	if rec.OrigLen == 0 {
		return uint32(len(rec.Data))
	}
	return rec.OrigLen
}

// fileHeader writes the header of a pcap file; see the layout in pcap.go.
func (w *Writer) fileHeader() {
	magic := uint32(magicMicro)
	if w.opt.Nano {
		magic = magicNano
	}
	if w.opt.SnapLen == 0 {
		w.opt.SnapLen = usualLimit
	}
	w.u32(magic)
	w.u16(pcapMajor)
	w.u16(4)
	w.u32(0)
	w.u32(0)
	w.u32(w.opt.SnapLen)
	w.u32(uint32(w.opt.Link))
}

func (w *Writer) pcapPacket(rec *Record) error {
	if rec.Link != w.opt.Link {
		return fmt.Errorf("pcapng: packet of link type %v in a pcap file of %v", rec.Link, w.opt.Link)
	}
	if rec.Interface != 0 {
		return errors.New("pcapng: a pcap file has one interface only")
	}
	if uint32(len(rec.Data)) > max(w.opt.SnapLen, usualLimit) {
		return fmt.Errorf("pcapng: packet of %d octets is longer than the snap length of %d", len(rec.Data), w.opt.SnapLen)
	}
	t := rec.Time
	if rec.NoTime {
		t = 0
	}
	if t < 0 || t/1e9 > math.MaxUint32 {
		return fmt.Errorf("pcapng: time of %d ns does not fit a pcap file", t)
	}
	sub := uint32(t % 1e9)
	if !w.opt.Nano {
		sub /= 1e3
	}
	w.u32(uint32(t / 1e9))
	w.u32(sub)
	w.u32(uint32(len(rec.Data)))
	w.u32(origLen(rec))
	w.buf = append(w.buf, rec.Data...)
	return nil
}

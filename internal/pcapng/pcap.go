package pcapng

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Layout of the classic format; all fields in the byte order of the magic.
//
//	file header                        record header
//	 0 magic                            0 seconds since 1970
//	 4 version major, minor (16 bits)   4 micro- or nanoseconds
//	 8 two words, unused                8 captured length
//	16 snap length                     12 original length
//	20 link type (low 16 bits),        16 interface, protocol, packet type
//	   length of the FCS                  (8 octets, "modified" files only)
const (
	fileHeaderLen     = 24
	recordLen         = 16
	recordLenModified = 24

	pcapMajor = 2
	// fcsKnown says that the upper four bits of the same word are the length of the FCS.
	fcsKnown = 1 << 26

	// usualLimit is the captured length that is believed whatever the snap
	// length says, because there are writers that exceed their own: the
	// largest that capture tools ask for.
	usualLimit = 256 << 10

	// maxDoubts is how many searches behind odd records may find nothing.
	maxDoubts = 4
)

// classic is what the file header says of the records.
type classic struct {
	byteOrder
	hdr   int    // octets of a record header
	unit  uint32 // sub-seconds in a second
	tick  int64  // nanoseconds in a sub-second
	snap  uint32 // snap length of the file header, 0 if it gives none
	limit uint32 // longest captured length that is believed
	link  LinkType
	fcs   int // octets of frame check sequence, 0 if the file header gives none
	major uint16
	minor uint16
}

// open reads a file header, and reports whether it is one of this format.
func (c *classic) open(b []byte) bool {
	magic := binary.LittleEndian.Uint32(b)
	if !isPcapMagic(magic) {
		magic, c.big = bits.ReverseBytes32(magic), true
	}
	c.hdr, c.unit, c.tick = recordLen, 1e6, 1e3
	switch magic {
	case magicMicro:
	case magicNano:
		c.unit, c.tick = 1e9, 1
	case magicModified:
		c.hdr = recordLenModified
	default:
		return false
	}
	c.major, c.minor = c.u16(b[4:]), c.u16(b[6:])
	c.snap = c.u32(b[16:])
	c.limit = min(max(c.snap, usualLimit), MaxCapLen)
	word := c.u32(b[20:])
	c.link = LinkType(word & 0xffff)
	if word&fcsKnown != 0 {
		c.fcs = 2 * int(word>>28) // it is given in units of 16 bits
	}
	return true
}

func (r *Reader) openPcap() error {
	if !r.in.fill(fileHeaderLen) {
		return r.openEnded("file header")
	}
	r.classic.open(r.in.buf[r.in.r:r.in.w])
	if r.major != pcapMajor {
		return &Error{Code: CodeVersion, Err: fmt.Errorf("pcap version %d.%d is not known", r.major, r.minor)}
	}
	r.ifaces = []Interface{{Link: r.link, SnapLen: r.snap, Micro: r.unit == 1e6, FCS: r.fcs, valid: true}}
	r.in.r += fileHeaderLen
	return nil
}

// openEnded is the error for an input that ends in its first header.
func (r *Reader) openEnded(what string) error {
	if !errors.Is(r.in.err, io.EOF) {
		return &Error{Code: CodeRead, Err: r.in.err}
	}
	return &Error{Code: CodeTruncated, Err: fmt.Errorf("file ends %d octets into the %s: %w", r.in.w-r.in.r, what, io.ErrUnexpectedEOF)}
}

func (r *Reader) nextPcap(rec *Record) error {
	if r.in.w-r.in.r < r.hdr && !r.in.fill(r.hdr) {
		return r.ended("record header")
	}
	b := r.in.buf[r.in.r:r.in.w]
	incl, orig := r.u32(b[8:]), r.u32(b[12:])
	if incl > r.limit || incl > orig {
		if err := r.suspect(incl, orig); err != nil {
			return err
		}
		b = r.in.buf[r.in.r:r.in.w]
	}
	n := r.hdr + int(incl)
	if len(b) < n {
		if !r.in.fill(n) {
			return r.cutRecord(incl)
		}
		b = r.in.buf[r.in.r:r.in.w]
	}
	t := r.time(b)
	r.last, r.haveLast = t, true
	r.count++
	rec.Data = b[r.hdr:n:n]
	rec.Time = t
	rec.OrigLen = orig
	rec.Link = r.link
	rec.NoTime = false
	rec.Section, rec.Interface = 0, 0
	rec.Pos = r.in.base + int64(r.in.r)
	rec.Number = r.count
	if rec.Comments != nil {
		rec.Comments = nil
	}
	r.in.r += n
	return nil
}

// time reads the time of a record header in nanoseconds. It cannot
// overflow: 2^32 seconds and 2^32 microseconds are less than 2^63 ns.
func (c *classic) time(b []byte) int64 {
	return int64(c.u32(b))*1e9 + int64(c.u32(b[4:]))*c.tick
}

// suspect looks closer at a record whose lengths are odd. nil: take it as it
// is.
func (r *Reader) suspect(incl, orig uint32) error {
	if incl > r.limit {
		return r.badRecord(CodeLength, fmt.Errorf("record claims %d octets", incl))
	}
	// More captured than sent: some writers do that. It is damage only if it
	// exceeds the snap length too and what follows is no record, while a
	// record is found elsewhere. A file full of such records is odd rather
	// than damaged, and the search too dear to make for each.
	if r.snap == 0 || incl <= r.snap || r.doubts == maxDoubts {
		return nil
	}
	next := r.hdr + int(incl)
	if r.in.fill(next) && (r.plausibleAt(next) || r.endsAt(next)) {
		return nil
	}
	if skip, ok := r.resyncPcap(); ok {
		return r.skip(skip, true, CodeLength, fmt.Errorf("record claims %d octets of a packet of %d", incl, orig))
	}
	r.doubts++
	return nil
}

// badRecord reports a record that cannot be read. If the next one is found
// reading goes on there.
func (r *Reader) badRecord(code string, cause error) error {
	if skip, ok := r.resyncPcap(); ok {
		return r.skip(skip, true, code, cause)
	}
	if r.in.err != nil && !errors.Is(r.in.err, io.EOF) {
		cause = fmt.Errorf("%w; looking for the next record: %w", cause, r.in.err)
	}
	return r.fatal(code, fmt.Errorf("%w; no record found in the %d octets that follow", cause,
		min(r.in.w-r.in.r-r.hdr, resyncWindow)))
}

// cutRecord is called when the input ends inside a record. Either the input
// was cut, or the length is damaged and other records lie inside it; the
// latter is tried only if the record header is odd in itself, so that a packet
// that carries a capture file is not mistaken for records.
func (r *Reader) cutRecord(incl uint32) error {
	if errors.Is(r.in.err, io.EOF) && !r.plausible(r.in.buf[r.in.r:r.in.w], r.last, r.haveLast) {
		if skip, ok := r.resyncPcap(); ok {
			return r.skip(skip, true, CodeLength, fmt.Errorf("record claims %d octets", incl))
		}
	}
	return r.ended(fmt.Sprintf("record of %d", r.hdr+int(incl)))
}

package pcapng

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Block types.
const (
	blockInterface  = 1
	blockPacket     = 2 // obsolete
	blockSimple     = 3
	blockNames      = 4
	blockStatistics = 5
	blockEnhanced   = 6
	blockJournal    = 9
	blockSecrets    = 10
	blockCustom     = 0x0bad
	blockCustomKeep = 0x40000bad // a custom block that must not be copied
	blockSection    = magicSection
)

// Sizes in octets. Every block is
//
//	type (32 bits), total length (32), body, total length again (32)
//
// with the total length, a multiple of four, counting all of it.
const (
	blockHeadLen = 8
	blockTailLen = 4
	minBlock     = blockHeadLen + blockTailLen
	minSection   = 28
	minInterface = 20
	minSimple    = 16
	minEnhanced  = 32 // the obsolete Packet Block has the same size

	enhancedData = 28 // where the octets of the packet start
	simpleData   = 12

	orderMagic = 0x1a2b3c4d
	ngMajor    = 1

	// maxInterfaces and maxNames bound what a section of nothing but interfaces can
	// cost: their number, and the octets of all their names and descriptions.
	maxInterfaces = 1 << 16
	maxNames      = 1 << 22
)

var (
	errShortBlock = errors.New("block is too short for its type")
	errOptions    = errors.New("option list runs over its end")
)

// openNg reads the first section header.
func (r *Reader) openNg() error {
	r.section = -1
	if !r.in.fill(minSection) {
		return r.openEnded("section header")
	}
	err := r.nextSection()
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		e.Frame = 0
	}
	return err
}

func (r *Reader) nextNg(rec *Record) error {
	if r.late != nil {
		err := r.late
		r.late = nil
		return err
	}
	if r.plainPacket(rec) {
		return nil
	}
	for {
		if r.in.w-r.in.r < minBlock && !r.in.fill(minBlock) {
			return r.ended("block")
		}
		b := r.in.buf[r.in.r:r.in.w]
		kind, total := r.u32(b), r.u32(b[4:])
		if kind == blockSection {
			// Its byte order has to be known before its length.
			if err := r.nextSection(); err != nil {
				return err
			}
			continue
		}
		if total < minBlock || total&3 != 0 || total > maxBlock {
			return r.badLength(kind, total, fmt.Errorf("block claims %d octets", total))
		}
		n := int(total)
		if len(b) < n {
			if !r.in.fill(n) {
				return r.cutBlock(kind, n)
			}
			b = r.in.buf[r.in.r:r.in.w]
		}
		if again := r.u32(b[n-blockTailLen:]); again != total {
			return r.badLength(kind, total, fmt.Errorf("block of %d octets ends with a length of %d", total, again))
		}
		b = b[:n]
		switch kind {
		case blockEnhanced, blockPacket:
			return r.packet(b, kind, rec)
		case blockSimple:
			return r.simple(b, rec)
		case blockInterface:
			r.tell(b)
			if err := r.describe(b); err != nil {
				return err
			}
		default:
			r.tell(b)
			if kind == blockStatistics {
				r.statistics(b)
			}
			r.in.r += n
		}
	}
}

// plainPacket reads the block that nearly all of a file is made of: an Enhanced
// Packet Block that is whole in the buffer, has no options and comes from an
// interface whose time stamps need a factor only. It says false, and has done
// nothing, if there is anything else about the block.
func (r *Reader) plainPacket(rec *Record) bool {
	b := r.in.buf[r.in.r:r.in.w]
	if len(b) < minEnhanced {
		return false
	}
	le := binary.LittleEndian
	kind, total, iface := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
	high, low := le.Uint32(b[12:]), le.Uint32(b[16:])
	incl, orig := le.Uint32(b[20:]), le.Uint32(b[24:])
	if r.big {
		kind, total, iface = bits.ReverseBytes32(kind), bits.ReverseBytes32(total), bits.ReverseBytes32(iface)
		high, low = bits.ReverseBytes32(high), bits.ReverseBytes32(low)
		incl, orig = bits.ReverseBytes32(incl), bits.ReverseBytes32(orig)
	}
	if kind != blockEnhanced || incl > MaxCapLen {
		return false
	}
	end := enhancedData + int(incl)
	n := pad4(end) + blockTailLen
	if uint32(n) != total || n > len(b) || r.u32(b[n-blockTailLen:]) != total || uint64(iface) >= uint64(len(r.scales)) { //nolint:gosec // n is at most a little more than MaxCapLen
		return false
	}
	s := &r.scales[iface]
	over, ns := bits.Mul64(uint64(high)<<32|uint64(low), s.by)
	if !s.plain || over != 0 || ns > math.MaxInt64 {
		return false
	}
	r.count++
	rec.Data = b[enhancedData:end:end]
	rec.Time = int64(ns)
	rec.OrigLen = orig
	rec.Link = s.link
	rec.NoTime = false
	rec.Section, rec.Interface = r.section, int(iface)
	rec.Pos = r.in.base + int64(r.in.r)
	rec.Number = r.count
	if rec.Comments != nil {
		rec.Comments = nil
	}
	r.in.r += n
	return true
}

// packet reads an Enhanced Packet Block or the obsolete Packet Block, all
// fields in the byte order of the section:
//
//	 8 interface (obsolete block: 16 bits, then 16 bits of drop count)
//	12 time stamp, upper 32 bits
//	16 time stamp, lower 32 bits
//	20 captured length
//	24 original length
//	28 octets, padded to 32 bits; options
func (r *Reader) packet(b []byte, kind uint32, rec *Record) error {
	n := len(b)
	if n < minEnhanced {
		return r.skip(n, true, CodeBlock, errShortBlock)
	}
	iface := r.u32(b[8:])
	if kind == blockPacket {
		iface = uint32(r.u16(b[8:]))
	}
	incl := r.u32(b[20:])
	if incl > uint32(n-minEnhanced) { //nolint:gosec // a block has at least that and is bounded
		return r.skip(n, true, CodeBlock, fmt.Errorf("packet claims %d octets in a block of %d", incl, n))
	}
	if uint64(iface) >= uint64(len(r.scales)) || !r.scales[iface].valid {
		return r.skip(n, true, CodeInterface, fmt.Errorf("packet of interface %d, which the section does not describe", iface))
	}
	s := &r.scales[iface]
	r.count++
	end := enhancedData + int(incl)
	rec.Data = b[enhancedData:end:end]
	rec.Time = s.ns(uint64(r.u32(b[12:]))<<32 | uint64(r.u32(b[16:])))
	rec.OrigLen = r.u32(b[24:])
	rec.Link = s.link
	rec.NoTime = false
	rec.Section, rec.Interface = r.section, int(iface)
	rec.Pos = r.in.base + int64(r.in.r)
	rec.Number = r.count
	if rec.Comments != nil {
		rec.Comments = nil
	}
	if opts := b[enhancedData+pad4(int(incl)) : n-blockTailLen]; len(opts) != 0 {
		r.packetOptions(opts, rec)
	}
	r.in.r += n
	return nil
}

// packetOptions checks the options of a packet and collects its comments. The
// packet itself is sound whatever they hold, so damage is reported after it.
func (r *Reader) packetOptions(list []byte, rec *Record) {
	o := options{rest: list, big: r.big}
	for o.next() {
		if r.KeepComments && o.code == optComment {
			rec.Comments = append(rec.Comments, string(o.val))
		}
	}
	if o.bad {
		r.late = &Error{Pos: rec.Pos, Frame: rec.Number, Code: CodeOptions, Resume: true, Err: errOptions}
	}
}

// simple reads a Simple Packet Block: original length at 8, octets from 12 on.
// It has no captured length: the packet was cut at the snap length of the
// section's first interface, which it belongs to.
func (r *Reader) simple(b []byte, rec *Record) error {
	n := len(b)
	if n < minSimple {
		return r.skip(n, true, CodeBlock, errShortBlock)
	}
	if len(r.scales) == 0 || !r.scales[0].valid {
		return r.skip(n, true, CodeInterface, errors.New("packet of interface 0, which the section does not describe"))
	}
	orig := r.u32(b[8:])
	incl := orig
	if snap := r.ifaces[0].SnapLen; snap != 0 {
		incl = min(incl, snap)
	}
	if incl > uint32(n-minSimple) { //nolint:gosec // a block has at least that and is bounded
		return r.skip(n, true, CodeBlock, fmt.Errorf("packet of %d octets in a block of %d", incl, n))
	}
	r.count++
	end := simpleData + int(incl)
	*rec = Record{
		Data:    b[simpleData:end:end],
		OrigLen: orig,
		Link:    r.scales[0].link,
		NoTime:  true,
		Section: r.section,
		Pos:     r.in.pos(),
		Number:  r.count,
	}
	r.in.r += n
	return nil
}

// describe takes up an Interface Description Block. A damaged one takes its
// place in the numbering too, or later packets would be given to the wrong
// interface.
func (r *Reader) describe(b []byte) error {
	if len(r.ifaces) == maxInterfaces {
		return r.skip(len(b), false, CodeInterface, fmt.Errorf("more than %d interfaces in a section", maxInterfaces))
	}
	if len(b) < minInterface {
		r.addInterface(Interface{Section: r.section})
		return r.skip(len(b), false, CodeBlock, errShortBlock)
	}
	i, ok := r.parseInterface(b[blockHeadLen : len(b)-blockTailLen])
	r.addInterface(i)
	if !ok {
		e := r.skip(len(b), false, CodeOptions, errOptions)
		e.Skipped = 0 // what could be read of the block was used
		return e
	}
	r.in.r += len(b)
	return nil
}

func (r *Reader) addInterface(i Interface) {
	r.ifaces = append(r.ifaces, i)
	r.scales = append(r.scales, newScale(&i))
}

// nextSection reads a Section Header Block: byte-order magic at 8, version at
// 12 and 14, section length at 16 (not needed, and so not trusted), options.
// Interfaces and byte order start again; a section that cannot be read is final,
// because what follows could not be understood.
func (r *Reader) nextSection() error {
	if !r.in.fill(minSection) {
		return r.ended("section header")
	}
	b := r.in.buf[r.in.r:r.in.w]
	switch order := binary.LittleEndian.Uint32(b[8:]); order {
	case orderMagic:
		r.big = false
	case bits.ReverseBytes32(orderMagic):
		r.big = true
	default:
		return r.fatal(CodeFormat, fmt.Errorf("%w: section header of unknown byte order", ErrFormat))
	}
	total := r.u32(b[4:])
	if total < minSection || total&3 != 0 || total > maxBlock {
		return r.fatal(CodeLength, fmt.Errorf("section header claims %d octets", total))
	}
	if major := r.u16(b[12:]); major != ngMajor {
		return r.fatal(CodeVersion, fmt.Errorf("pcapng version %d.%d is not known", major, r.u16(b[14:])))
	}
	n := int(total)
	if !r.in.fill(n) {
		return r.ended(fmt.Sprintf("section header of %d", n))
	}
	if again := r.u32(r.in.buf[r.in.r+n-blockTailLen:]); again != total {
		return r.fatal(CodeLength, fmt.Errorf("section header of %d octets ends with a length of %d", total, again))
	}
	if r.section >= 0 { // the first one is the header of the file
		r.tell(r.in.buf[r.in.r : r.in.r+n])
	}
	r.section++
	r.lost, r.losses = r.Lost(), r.losses[:0]
	clear(r.ifaces) // nothing holds on to their names
	r.ifaces, r.scales, r.names = r.ifaces[:0], r.scales[:0], 0
	r.in.r += n
	return nil
}

package pcapng

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

const (
	maxOption = math.MaxUint16
	nanoResol = 9
)

// AddInterface describes a further interface of a pcapng file and returns its
// number, for [Record.Interface]. Section is ignored: the writer makes one.
func (w *Writer) AddInterface(i Interface) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.opt.Format != PCAPNG {
		return 0, errors.New("pcapng: a pcap file has one interface only")
	}
	if len(w.ifaces) == maxInterfaces {
		return 0, fmt.Errorf("pcapng: more than %d interfaces", maxInterfaces)
	}
	if err := checkOptions(i.Name, i.Description); err != nil {
		return 0, err
	}
	start := w.startBlock(blockInterface)
	w.u16(uint16(i.Link))
	w.u16(0)
	w.u32(i.SnapLen)
	w.textOption(ifName, i.Name)
	w.textOption(ifDescription, i.Description)
	w.u16(ifTsResol)
	w.u16(1)
	resol := byte(nanoResol)
	if i.Micro {
		resol = defaultResol
	}
	w.buf = append(w.buf, resol, 0, 0, 0)
	if i.FCS > 0 {
		w.u16(ifFCSLen)
		w.u16(1)
		w.buf = append(w.buf, byte(i.FCS), 0, 0, 0)
	}
	if i.TsOffset != 0 {
		w.u16(ifTsOffset)
		w.u16(8)
		w.buf = w.order.put64(w.buf, uint64(i.TsOffset))
	}
	w.endOptions()
	w.endBlock(start)
	w.ifaces = append(w.ifaces, i)
	return len(w.ifaces) - 1, nil
}

// sectionHeader writes the Section Header Block; its section length says
// "not given", because the end is not known yet.
func (w *Writer) sectionHeader() error {
	o := &w.opt
	if err := checkOptions(o.Comment, o.Hardware, o.OS, o.Application); err != nil {
		return err
	}
	start := w.startBlock(blockSection)
	w.u32(orderMagic)
	w.u16(ngMajor)
	w.u16(0)
	w.u32(math.MaxUint32)
	w.u32(math.MaxUint32)
	before := len(w.buf)
	w.textOption(optComment, o.Comment)
	w.textOption(shbHardware, o.Hardware)
	w.textOption(shbOS, o.OS)
	w.textOption(shbUserAppl, o.Application)
	if len(w.buf) != before {
		w.endOptions()
	}
	w.endBlock(start)
	return nil
}

func (w *Writer) ngPacket(rec *Record) error {
	if len(w.ifaces) == 0 && rec.Interface == 0 {
		if _, err := w.AddInterface(Interface{Link: w.opt.Link, SnapLen: w.opt.SnapLen}); err != nil {
			return err
		}
	}
	if rec.Interface < 0 || rec.Interface >= len(w.ifaces) {
		return fmt.Errorf("pcapng: packet of interface %d, which was not added", rec.Interface)
	}
	i := &w.ifaces[rec.Interface]
	if rec.Link != i.Link {
		return fmt.Errorf("pcapng: packet of link type %v on an interface of %v", rec.Link, i.Link)
	}
	if rec.NoTime && rec.Interface == 0 && len(rec.Comments) == 0 && fitsSimple(rec, i.SnapLen) {
		start := w.startBlock(blockSimple)
		w.u32(origLen(rec))
		w.padded(rec.Data)
		w.endBlock(start)
		return nil
	}
	ticks, err := ticksOf(rec, i)
	if err != nil {
		return err
	}
	size := minEnhanced + pad4(len(rec.Data))
	for _, c := range rec.Comments {
		if err := checkOptions(c); err != nil {
			return err
		}
		size += optHeaderLen + pad4(len(c))
	}
	if size+optHeaderLen > maxBlock {
		return fmt.Errorf("pcapng: packet and comments of %d octets are longer than %d", size, maxBlock)
	}
	start := w.startBlock(blockEnhanced)
	w.u32(uint32(rec.Interface))
	w.u32(uint32(ticks >> 32))
	w.u32(uint32(ticks))
	w.u32(uint32(len(rec.Data)))
	w.u32(origLen(rec))
	w.padded(rec.Data)
	for _, c := range rec.Comments {
		w.commentOption(c)
	}
	if len(rec.Comments) != 0 {
		w.endOptions()
	}
	w.endBlock(start)
	return nil
}

// ticksOf gives the time of a packet since the interface's offset, in its unit.
func ticksOf(rec *Record, i *Interface) (uint64, error) {
	if rec.NoTime {
		return 0, nil
	}
	high, low := secondsToNs(i.TsOffset)
	ticks, borrow := bits.Sub64(uint64(rec.Time), low, 0)
	over, _ := bits.Sub64(uint64(rec.Time>>63), high, borrow)
	switch {
	case over > math.MaxInt64:
		return 0, fmt.Errorf("pcapng: time of %d ns is before the interface's offset of %d s", rec.Time, i.TsOffset)
	case over != 0 && rec.Time == math.MinInt64: // the least there is, or one before it
		ticks = math.MaxUint64
	case over != 0:
		return 0, fmt.Errorf("pcapng: time of %d ns is too far from the interface's offset of %d s", rec.Time, i.TsOffset)
	}
	if i.Micro {
		ticks /= 1e3
	}
	return ticks, nil
}

// fitsSimple tells whether a Simple Packet Block would be read back as the
// same packet: its captured length is implied by the snap length.
func fitsSimple(rec *Record, snap uint32) bool {
	incl := origLen(rec)
	if snap != 0 {
		incl = min(incl, snap)
	}
	return uint32(len(rec.Data)) == incl
}

// startBlock writes the head of a block and returns where it starts.
func (w *Writer) startBlock(kind uint32) int {
	start := len(w.buf)
	w.u32(kind)
	w.u32(0)
	return start
}

// endBlock writes the tail of a block and sets its length in both places.
func (w *Writer) endBlock(start int) {
	total := uint32(len(w.buf) - start + blockTailLen)
	w.u32(total)
	w.order.put32(w.buf[start+4:start+4], total)
}

func (w *Writer) pad(n int) { w.buf = append(w.buf, "\x00\x00\x00"[:pad4(n)-n]...) }

func (w *Writer) padded(b []byte) {
	w.buf = append(w.buf, b...)
	w.pad(len(b))
}

// textOption writes an option unless it is empty.
func (w *Writer) textOption(code uint16, s string) {
	if s == "" {
		return
	}
	w.u16(code)
	w.u16(uint16(len(s)))
	w.buf = append(w.buf, s...)
	w.pad(len(s))
}

// commentOption writes a comment, even an empty one.
func (w *Writer) commentOption(s string) {
	w.u16(optComment)
	w.u16(uint16(len(s)))
	w.buf = append(w.buf, s...)
	w.pad(len(s))
}

func (w *Writer) endOptions() { w.u32(optEnd) }

func checkOptions(texts ...string) error {
	for _, s := range texts {
		if len(s) > maxOption {
			return fmt.Errorf("pcapng: text of %d octets is longer than %d", len(s), maxOption)
		}
	}
	return nil
}

package pcapng

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Interface describes where packets were captured: an Interface Description
// Block, or the file header of a pcap file.
type Interface struct {
	Link LinkType
	// SnapLen is the longest length captured, in octets; 0: no limit.
	SnapLen uint32
	// Name and Description are as given in the file, "" if absent.
	Name, Description string
	// TsOffset is added to every time stamp of the interface, in seconds.
	// [Record.Time] has it included.
	TsOffset int64
	// Section is the 0-based section of the file.
	Section int
	// Micro says that time stamps count microseconds: those of a pcap file that was read, or of
	// an interface that is written, which otherwise count nanoseconds.
	Micro bool
	// FCS is how many octets of frame check sequence packets end with, as the header of a pcap
	// file says; 0: it says nothing.
	FCS int

	resol byte // if_tsresol
	valid bool // false: the block was damaged, packets are refused
}

// defaultResol is microseconds.
const defaultResol = 6

// scale turns the time stamps of one interface into nanoseconds.
type scale struct {
	link  LinkType
	valid bool
	plain bool // valid, and by is all there is
	kind  scaleKind
	shift uint8  // scaleShift: 2^-shift s
	by    uint64 // scaleMul, scaleDiv: the factor
	// What is added, in nanoseconds, see secondsToNs.
	offHigh, offLow uint64
}

type scaleKind uint8

const (
	scaleMul scaleKind = iota
	scaleDiv
	scaleShift
)

// newScale prepares the scale of an interface. resol is if_tsresol: the
// exponent of 10^-n seconds or, with the highest bit set, of 2^-n seconds.
func newScale(i *Interface) scale {
	s := scale{link: i.Link, valid: i.valid}
	s.offHigh, s.offLow = secondsToNs(i.TsOffset)
	n := i.resol & 0x7f
	switch {
	case i.resol&0x80 != 0:
		s.kind, s.shift = scaleShift, n
	case n <= 9:
		s.kind, s.by = scaleMul, pow10(9-n)
	default:
		s.kind, s.by = scaleDiv, pow10(n-9)
	}
	s.plain = s.valid && s.kind == scaleMul && i.TsOffset == 0
	return s
}

// pow10 gives 10^n, or the largest number where that does not fit.
func pow10(n byte) uint64 {
	if n > 19 {
		return math.MaxUint64
	}
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// secondsToNs gives seconds in nanoseconds, in two's complement of 128 bits.
func secondsToNs(s int64) (hi, lo uint64) {
	if hi, lo = bits.Mul64(uint64(s), 1e9); s < 0 { //nolint:gosec // two's complement by design
		hi -= 1e9
	}
	return hi, lo
}

// ns converts a time stamp, saturating.
func (s *scale) ns(ticks uint64) int64 {
	var hi, lo uint64
	switch s.kind {
	case scaleMul:
		hi, lo = bits.Mul64(ticks, s.by)
	case scaleDiv:
		lo = ticks / s.by
	case scaleShift:
		hi, lo = bits.Mul64(ticks, 1e9)
		if s.shift < 64 {
			lo = lo>>s.shift | hi<<(64-s.shift)
			hi >>= s.shift
		} else {
			lo, hi = hi>>(s.shift-64), 0
		}
	}
	lo, carry := bits.Add64(lo, s.offLow, 0)
	hi, _ = bits.Add64(hi, s.offHigh, carry) // of 128 bits: a time stamp has 94 at most, and so has an offset
	switch {
	case hi == 0 && lo <= math.MaxInt64, hi == math.MaxUint64 && lo > math.MaxInt64:
		return int64(lo) //nolint:gosec // two's complement by design
	case hi > math.MaxInt64:
		return math.MinInt64
	}
	return math.MaxInt64
}

// name keeps a name or description, while there is room for those of the section.
func (r *Reader) name(octets []byte) string {
	if r.names += len(octets); r.names > maxNames {
		return ""
	}
	return string(octets)
}

// parseInterface reads the body of an Interface Description Block, all fields
// in the byte order of the section:
//
//	0 link type (16 bits), reserved (16 bits)
//	4 snap length
//	8 options
//
// ok is false if the option list is damaged; what was read before it counts.
func (r *Reader) parseInterface(body []byte) (i Interface, ok bool) {
	i = Interface{
		Link:    LinkType(r.u16(body)),
		SnapLen: r.u32(body[4:]),
		Section: r.section,
		resol:   defaultResol,
		valid:   true,
	}
	o := options{rest: body[8:], big: r.big}
	for o.next() {
		switch o.code {
		case ifName:
			i.Name = r.name(o.val)
		case ifDescription:
			i.Description = r.name(o.val)
		case ifTsResol:
			if len(o.val) != 1 {
				return i, false
			}
			i.resol = o.val[0]
		case ifTsOffset:
			if len(o.val) != 8 {
				return i, false
			}
			off := binary.LittleEndian.Uint64(o.val)
			if r.big {
				off = bits.ReverseBytes64(off)
			}
			i.TsOffset = int64(off) //nolint:gosec // a signed number in the file
		}
	}
	return i, !o.bad
}

package analysis

import "encoding/binary"

// A record of sent segments is an octet, and what follows it:
//
//   - below recordDiffers: so many segments and one more were as foreseen;
//   - else a segment: the bits say what is not as foreseen, that follows in the order of the
//     bits, numbers as varints of the distance from what was foreseen.
const (
	differsPDU = 1 << iota
	differsFrame
	differsOffset
	differsKey
	differsName
	differsLength
	differsControl
	recordDiffers
)

const (
	maxAgain = recordDiffers
	// maxSentRecord is how many octets a record takes at most.
	maxSentRecord = 1 + 4*binary.MaxVarintLen64 + 2*binary.MaxVarintLen32 + len(sentSegment{}.control)
	// unit is what the ends of FPDUs are multiples of.
	unit = 4
)

// goOn makes a segment the one that is foreseen behind it: in the next FPDU and frame, where
// the message or the buffer goes on, or with the next message.
func (x *sentSegment) goOn(placed bool) {
	n := uint64(x.octets()) //nolint:gosec // not negative
	if x.tagged() || !x.last() {
		x.key += n
	} else {
		x.key = x.key>>32<<32 + 1<<32
	}
	x.pdu++
	x.frame++
	if placed {
		const around = 6 // its length and its CRC
		x.offset += int64(x.length+around+unit-1) / unit * unit
	}
}

// sentRecord writes the record of a segment for which another one was foreseen, and returns
// how long it is.
func sentRecord(b *[maxSentRecord]byte, x, foreseen *sentSegment) int {
	differs, n := byte(recordDiffers), 1
	if d := int64(x.pdu - foreseen.pdu); d != 0 { //nolint:gosec // modulo 2^64, as in readSent
		differs |= differsPDU
		n += binary.PutVarint(b[n:], d)
	}
	if d := int64(x.frame - foreseen.frame); d != 0 { //nolint:gosec // as above
		differs |= differsFrame
		n += binary.PutVarint(b[n:], d)
	}
	if d := x.offset - foreseen.offset; d != 0 {
		differs |= differsOffset
		n += binary.PutVarint(b[n:], d)
	}
	if d := int64(x.key - foreseen.key); d != 0 { //nolint:gosec // as above
		differs |= differsKey
		n += binary.PutVarint(b[n:], d)
	}
	if d := int64(x.name) - int64(foreseen.name); d != 0 {
		differs |= differsName
		n += binary.PutVarint(b[n:], d)
	}
	if d := int64(x.length) - int64(foreseen.length); d != 0 {
		differs |= differsLength
		n += binary.PutVarint(b[n:], d)
	}
	if x.control != foreseen.control {
		differs |= differsControl
		n += copy(b[n:], x.control[:])
	}
	b[0] = differs
	return n
}

// readSent appends the segments of records, the first of which says everything.
func readSent(all []sentSegment, b []byte, placed bool) []sentSegment {
	var x sentSegment
	for len(b) > 0 {
		differs := b[0]
		if b = b[1:]; differs < recordDiffers {
			all = repeatSent(all, int(differs)+1, placed)
			x = all[len(all)-1]
			x.goOn(placed)
			continue
		}
		number := func(bit byte) int64 {
			if differs&bit == 0 {
				return 0
			}
			d, n := binary.Varint(b)
			b = b[n:]
			return d
		}
		x.pdu += uint64(number(differsPDU))     //nolint:gosec // modulo 2^64
		x.frame += uint64(number(differsFrame)) //nolint:gosec // as above
		x.offset += number(differsOffset)
		x.key += uint64(number(differsKey))       //nolint:gosec // as above
		x.name += uint32(number(differsName))     //nolint:gosec // modulo 2^32
		x.length += uint32(number(differsLength)) //nolint:gosec // as above
		if differs&differsControl != 0 {
			b = b[copy(x.control[:], b):]
		}
		all = append(all, x)
		x.goOn(placed)
	}
	return all
}

// repeatSent appends n segments behind the last one, each as foreseen.
func repeatSent(all []sentSegment, n int, placed bool) []sentSegment {
	for range n {
		x := all[len(all)-1]
		x.goOn(placed)
		all = append(all, x)
	}
	return all
}

package rnic

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Sizes in an FPDU, in octets (RFC 5044 section 4.1).
const (
	lengthSize = 2
	crcSize    = 4
)

// deframer takes the FPDUs out of a stream that is whole and in order. Unlike
// [mpa.Decoder], which reads captures, it never looks for its place again and
// judges an FPDU as soon as it is there: an end that is out of step closes.
type deframer struct {
	markers, crc bool
	offset       int64  // of the next FPDU, from the start of full operation
	in           []byte // borrowed
	buf          []byte // the FPDU that has begun
	used         bool   // buf was handed out
	bare         []byte // an ULPDU without its markers
}

// framed is an FPDU. The ULPDU is valid until the next call of next.
type framed struct {
	ulpdu           []byte
	badCRC, badMark bool
}

// begun reports whether a part of an FPDU has come, or of what is none.
func (d *deframer) begun() bool { return len(d.buf) > 0 && !d.used }

// next returns the next FPDU, if it is whole.
func (d *deframer) next() (f framed, ok bool) {
	lead := 0
	if d.markers && d.offset%mpa.MarkerInterval == 0 {
		lead = mpa.MarkerSize
	}
	w, n, ok := d.whole(lead)
	if !ok {
		return f, false
	}
	at := len(w) - crcSize
	f.badCRC = d.crc && mpa.CRC32c(w[:at]) != binary.BigEndian.Uint32(w[at:])
	if d.markers {
		f.ulpdu, f.badMark = d.strip(w, lead, n)
	} else {
		f.ulpdu = w[lengthSize : lengthSize+n]
	}
	d.offset += int64(len(w))
	return f, true
}

// whole returns the octets of the next FPDU, of the input itself if they are all
// there, and its ULPDU_Length.
func (d *deframer) whole(lead int) (w []byte, n int, ok bool) {
	if d.used {
		d.buf, d.used = d.buf[:0], false
	}
	head := lead + lengthSize
	if len(d.buf) == 0 && len(d.in) >= head {
		n = int(binary.BigEndian.Uint16(d.in[lead:]))
		if size := d.size(n); size <= len(d.in) {
			w, d.in = d.in[:size], d.in[size:]
			return w, n, true
		}
	}
	if !d.take(head) {
		return nil, 0, false
	}
	n = int(binary.BigEndian.Uint16(d.buf[lead:]))
	if !d.take(d.size(n)) {
		return nil, 0, false
	}
	d.used = true
	return d.buf, n, true
}

// take fills the buffer up to n octets, and reports whether there were enough.
func (d *deframer) take(n int) bool {
	if more := min(n-len(d.buf), len(d.in)); more > 0 {
		d.buf, d.in = append(d.buf, d.in[:more]...), d.in[more:]
	}
	return len(d.buf) >= n
}

// size is that of the next FPDU with an ULPDU of n octets. A marker that would
// stand behind the CRC belongs to the one after it (RFC 5044 section 4.3).
func (d *deframer) size(n int) int {
	body := lengthSize + n + mpa.PadLen(n) + crcSize
	if first := d.toMarker(); d.markers && first < body {
		body += mpa.MarkerSize * (1 + (body-first-1)/(mpa.MarkerInterval-mpa.MarkerSize))
	}
	return body
}

// toMarker is how far the next marker is from the start of the next FPDU.
func (d *deframer) toMarker() int {
	return int(-d.offset & (mpa.MarkerInterval - 1))
}

// strip returns the ULPDU without markers, and whether one of them points to
// the wrong place. Their other field is ignored (RFC 5044 section 4.2).
func (d *deframer) strip(w []byte, lead, n int) (ulpdu []byte, bad bool) {
	d.bare = d.bare[:0]
	from := lead + lengthSize
	for at := d.toMarker(); at+mpa.MarkerSize <= len(w)-crcSize; at += mpa.MarkerInterval {
		m, _ := mpa.DecodeMarker(w[at:])
		bad = bad || int(m.Pointer) != max(at-lead, 0)
		if at >= from {
			d.bare = append(d.bare, w[from:at]...)
			from = at + mpa.MarkerSize
		}
	}
	d.bare = append(d.bare, w[from:len(w)-crcSize]...)
	return d.bare[:n], bad
}

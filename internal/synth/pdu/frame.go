package pdu

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// maxULPDU is how many octets an ULPDU has at most: its length has 16 bits.
const maxULPDU = 1<<16 - 1

// frame frames an ULPDU with faults. It takes what the encoder makes of it and
// edits that, so that there is one definition of an FPDU. clean is the ULPDU
// before its faults.
func (f *Framer) frame(clean, ulpdu []byte, edits []Fault) []byte {
	start := f.enc.Offset
	if len(ulpdu) > maxULPDU {
		for i := range edits {
			edits[i].Fate.Did(tooLong)
		}
		ulpdu = ulpdu[:maxULPDU]
	}
	stale := f.enc
	staleWire, _ := stale.Append(nil, clean[:min(len(clean), maxULPDU)]) // it is not too long
	b, _ := f.enc.Append(nil, ulpdu)
	w := wire{b: b, markers: f.enc.Markers, start: start, ulpdu: len(ulpdu)}
	w.split()
	for i := range edits {
		edits[i].Fate.marked(len(w.at), f.enc.CRC)
		w.edit(&edits[i])
	}
	out := w.body
	mode, noCRC := CRC{}, false
	for i := range edits {
		if edits[i].CRC.Mode != CRCRight {
			mode = edits[i].CRC
		}
		noCRC = noCRC || edits[i].NoCRC
	}
	crc := w.crc(mode, f.enc.CRC, staleWire[len(staleWire)-4:])
	if !noCRC {
		out = binary.BigEndian.AppendUint32(out, crc)
	}
	// Where no CRCs are used a wrong one is no fault, but a field that ought to be zero is.
	if noCRC || crc != w.crc(CRC{}, f.enc.CRC, nil) && (f.enc.CRC || mode.Mode == CRCValue) {
		for i := range edits {
			edits[i].Fate.Did("crc")
		}
	}
	f.enc.Offset = start + int64(len(out))
	return out
}

// wire is an FPDU whose parts are known.
type wire struct {
	b       []byte
	body    []byte // all but the CRC field
	markers bool
	start   int64
	ulpdu   int
	at      []int // places of the markers in body
	lead    int
	pad     int
}

// split finds the parts.
func (w *wire) split() {
	w.body = w.b[: len(w.b)-4 : len(w.b)-4]
	if w.markers {
		first := int((mpa.MarkerInterval - w.start%mpa.MarkerInterval) % mpa.MarkerInterval)
		for at := first; at < len(w.body); at += mpa.MarkerInterval {
			w.at = append(w.at, at)
		}
		if first == 0 {
			w.lead = mpa.MarkerSize
		}
	}
	w.pad = mpa.PadLen(w.ulpdu)
}

// edit applies the faults around the ULPDU.
func (w *wire) edit(x *Fault) {
	for _, v := range x.Set {
		if v.Name == fieldLength && len(w.body) >= w.lead+2 {
			put(mpa.FPDUHeader.Field(fieldLength), w.body[w.lead:], v, x.Fate)
		}
	}
	if x.Pad != nil {
		was := w.body
		w.repad(x.Pad)
		x.Fate.changed("pad", !bytes.Equal(was, w.body))
	}
	// From the last one on, so that places before stay right.
	for i := len(w.at) - 1; i >= 0; i-- {
		for j, m := range x.Markers {
			if m.Number == 0 || m.Number == i+1 {
				was := bytes.Clone(w.body)
				w.marker(i, m)
				x.Fate.changed(markerKey(j), !bytes.Equal(was, w.body))
			}
		}
	}
}

// repad replaces the pad. A marker may stand behind it, and between its octets
// none does: markers stand on multiples of four.
func (w *wire) repad(pad []byte) {
	end := len(w.body)
	if n := len(w.at); n > 0 && w.at[n-1] == end-mpa.MarkerSize && w.pad+w.lead < end && w.at[n-1] > 0 {
		end -= mpa.MarkerSize
	}
	tail := append([]byte(nil), w.body[end:]...)
	body := append([]byte(nil), w.body[:end-w.pad]...)
	body = append(body, pad...)
	if len(tail) > 0 {
		w.at[len(w.at)-1] = len(body)
	}
	w.body, w.pad = append(body, tail...), len(pad)
}

// marker applies the fault of one marker.
func (w *wire) marker(i int, m Marker) {
	at := w.at[i]
	if at < 0 || at+mpa.MarkerSize > len(w.body) {
		return
	}
	if m.SetReserved {
		binary.BigEndian.PutUint16(w.body[at:], m.Reserved)
	}
	if m.SetPointer {
		binary.BigEndian.PutUint16(w.body[at+2:], m.Pointer)
	}
	if !m.Drop && m.Shift == 0 {
		return
	}
	mark := [mpa.MarkerSize]byte(w.body[at:])
	body := append(append([]byte(nil), w.body[:at]...), w.body[at+mpa.MarkerSize:]...)
	if m.Drop {
		w.body, w.at[i] = body, -1
		return
	}
	to := min(max(at+m.Shift, 0), len(body))
	w.body = append(append(append([]byte(nil), body[:to]...), mark[:]...), body[to:]...)
	w.at[i] = to
}

// crc is what stands in the CRC field, in wire order.
func (w *wire) crc(c CRC, on bool, stale []byte) uint32 {
	right := uint32(0)
	if on {
		right = mpa.CRC32c(w.body)
	}
	switch c.Mode {
	case CRCBad:
		return right ^ 0x01000000
	case CRCZero:
		return 0
	case CRCReversed:
		return bits.ReverseBytes32(right)
	case CRCNoMarkers:
		return mpa.CRC32c(w.without())
	case CRCNoLead:
		return mpa.CRC32c(w.body[min(w.lead, len(w.body)):])
	case CRCStale:
		return binary.BigEndian.Uint32(stale)
	case CRCValue:
		return c.Value
	case CRCRight:
	}
	return right
}

// without is the body without its markers.
func (w *wire) without() []byte {
	out := append([]byte(nil), w.body...)
	for i := len(w.at) - 1; i >= 0; i-- {
		if at := w.at[i]; at >= 0 && at+mpa.MarkerSize <= len(out) {
			out = append(out[:at], out[at+mpa.MarkerSize:]...)
		}
	}
	return out
}

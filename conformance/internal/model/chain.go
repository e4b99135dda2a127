package model

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// LengthSize is the size of ULPDU_Length in octets.
const LengthSize = 2

// chain is what is known of the lengths that lead from one FPDU of a direction to the
// next.
type chain struct {
	*suspected // nil: no FPDU had a wrong CRC, made no sense, or held others
}

// suspected are FPDUs of a direction whose length may be wrong; what is not said otherwise is of the last one
// with a wrong CRC.
type suspected struct {
	// on: none came after it.
	on bool
	At site
	// begun is the frame in which it begins.
	begun uint64
	End   int64
	// sum is the CRC32c of the FPDU up to its CRC field, field that field, pad the length
	// of its pad in octets.
	sum   uint32
	field [CrcSize]byte
	Pad   int
	// noise is the last FPDU that made no sense, where CRCs are off.
	noise uint64
	// outer is an FPDU whose end was never sent, and in which others were found.
	outer Place
	covered
}

// Suspect reports whether the last FPDU had a wrong CRC, so that its length may be wrong.
func (k *chain) Suspect() bool { return k.suspected != nil && k.on }

// Begin is the place of the suspected FPDU of a direction, in the frame in which its length left.
func (k *suspected) Begin(d trace.Dir) Place {
	at := k.At.In(d)
	at.Frame = k.begun
	return at
}

// Outer is the place of an FPDU whose end was never sent, and in which others with right CRCs were found; nil if there is none.
func (k *chain) Outer() *Place {
	if k.suspected == nil || !k.outer.HasPDU {
		return nil
	}
	return &k.outer
}

// found records an FPDU that was found in the one before it: by its CRC, or as one of several, where it may be in the payload of that.
func (k *chain) found(e *FPDU) {
	if e.FPDU.Sync != mpa.ByCRC && (e.FPDU.Sync != mpa.ByChain || e.BeginsSegment()) || e.CRC.Unsent == 0 || e.CRC.BehindGap || e.PDU.From >= e.Latest.End || k.Outer() != nil {
		return
	}
	k.suspects().outer = e.LastFPDU()
}

// FramedToEnd reports whether a direction has ended where its last FPDU does.
func (c *Conn) FramedToEnd(h *Direction) bool {
	return (c.Trace.Ending == trace.FIN || c.Trace.Ending == trace.RST) && h.Latest.End == c.Trace.Flow[h.Dir].Sent
}

// add records an FPDU after the rules have judged it.
func (k *chain) add(e *FPDU) {
	f := e.FPDU
	if f.CRCStatus != mpa.CRCBad {
		if k.suspected != nil {
			k.on = false
		}
		return
	}
	k.suspects().on = true
	k.At, k.begun, k.End, k.Pad = e.site(), begunIn(e.PDU), e.PDU.From+e.PDU.Length, f.PadLen
	n := copy(k.field[:], f.Wire[len(f.Wire)-CrcSize:])
	k.sum = crc32.Checksum(f.Wire[:len(f.Wire)-n], Castagnoli)
}

// suspects is what is kept of suspected FPDUs.
func (k *chain) suspects() *suspected {
	if k.suspected == nil {
		k.suspected = &suspected{}
	}
	return k.suspected
}

// doubts records an FPDU that makes no sense.
func (k *chain) doubts(pdu uint64) {
	k.suspects().noise = pdu
}

// Streamed reports whether nothing of a direction is missing or cut off so far.
func (c *Conn) Streamed(h *Direction) bool { return !h.Hole && !c.Trace.Flow[h.Dir].Cut }

// LongerPad returns the length of the pad, in octets, that makes the CRC of the suspected
// FPDU right, if it is longer than it should be; rest are the octets after the FPDU.
func (k *suspected) LongerPad(rest []byte) (pad int, ok bool) {
	rest = append(k.field[:], rest...)
	for more := 1; k.Pad+more <= 3 && more+CrcSize <= len(rest); more++ {
		if crc32.Update(k.sum, Castagnoli, rest[:more]) == binary.LittleEndian.Uint32(rest[more:]) {
			return k.Pad + more, true
		}
	}
	return 0, false
}

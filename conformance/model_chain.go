package conformance

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// lengthSize is the size of ULPDU_Length in octets.
const lengthSize = 2

// chain is what is known of the lengths that lead from one FPDU of a direction to the
// next.
type chain struct {
	// suspect: the last FPDU had a wrong CRC, so that its length may be wrong.
	suspect bool
	*suspected
}

// suspected is the last FPDU of a direction that had a wrong CRC.
type suspected struct {
	at  site
	end int64
	// sum is the CRC32c of the FPDU up to its CRC field, field that field, pad the length
	// of its pad in octets.
	sum   uint32
	field [crcSize]byte
	pad   int
}

// add takes in an FPDU, once the rules were asked about it.
func (k *chain) add(e *fpdu) {
	f := e.f
	if k.suspect = f.CRCStatus == mpa.CRCBad; !k.suspect {
		return
	}
	if k.suspected == nil {
		k.suspected = &suspected{}
	}
	k.at, k.end, k.pad = e.site(), e.p.From+e.p.Length, f.PadLen
	n := copy(k.field[:], f.Wire[len(f.Wire)-crcSize:])
	k.sum = crc32.Checksum(f.Wire[:len(f.Wire)-n], castagnoli)
}

// streamed reports whether nothing of a direction is missing or cut off so far.
func (c *conn) streamed(h *half) bool { return !h.hole && !c.t.Flow[h.dir].Cut }

// longerPad returns the length of the pad, in octets, with which the CRC of the suspected
// FPDU is right, if it is longer than it has to be; rest are the octets behind the FPDU.
func (k *suspected) longerPad(rest []byte) (pad int, ok bool) {
	rest = append(k.field[:], rest...)
	for more := 1; k.pad+more <= 3 && more+crcSize <= len(rest); more++ {
		if crc32.Update(k.sum, castagnoli, rest[:more]) == binary.LittleEndian.Uint32(rest[more:]) {
			return k.pad + more, true
		}
	}
	return 0, false
}

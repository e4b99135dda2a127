package ulp

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// maxBeginning is how many octets of a DDP segment are gathered where they do not lie side
// by side: room for the headers of upper layers, with some dozens of chunks.
const maxBeginning = 1024

// lengthSize is the size of the length in front of an ULPDU, in octets.
const lengthSize = 2

// beginning returns the first octets of a DDP segment, header included, as far as they were
// captured. They are borrowed, and valid until the next call.
func (r *Room) beginning(p *trace.PDU) []byte {
	f := p.FPDU
	switch {
	case f == nil:
		head, _, _ := p.ULPDU()
		return head
	case f.ULPDU != nil:
		return f.ULPDU
	}
	// Octets are missing, or markers stand between them.
	have := f.Wire
	if len(f.Missing) > 0 {
		have = have[:min(f.Missing[0].From, len(have))]
	}
	from, left := lengthSize, min(int(f.ULPDULength), maxBeginning)
	if f.Lead {
		from += mpa.MarkerSize
	}
	b := r.gathered[:0]
	for i := range f.Markers {
		at := int(f.Markers[i].Offset - f.Offset)
		if at < from || left <= 0 || at >= len(have) { // the first may stand before the length
			continue
		}
		n := min(at-from, left)
		b = append(b, have[from:from+n]...)
		from, left = at+mpa.MarkerSize, left-n
	}
	if from < len(have) && left > 0 {
		b = append(b, have[from:from+min(left, len(have)-from)]...)
	}
	r.gathered = b
	if len(b) < len(f.Head) {
		return f.Head
	}
	return b
}

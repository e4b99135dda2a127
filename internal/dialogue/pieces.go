package dialogue

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Pieces calls a function with the octets behind the DDP header of a PDU, as far as they were
// captured, without markers: at is their place behind the header. It returns how many octets
// there were on the wire. The octets are borrowed. The run must be neither brief nor lean.
func Pieces(p *trace.PDU, piece func(at int64, octets []byte)) (length int64) {
	if p.Segment == nil {
		return 0
	}
	head, n, _ := p.ULPDU()
	hl := p.Segment.HeaderLen
	length = max(int64(n-hl), 0)
	give := func(at int, octets []byte) { // at counts in the ULPDU
		if at < hl {
			octets = octets[min(hl-at, len(octets)):]
			at = hl
		}
		octets = octets[:max(min(len(octets), n-at), 0)]
		if len(octets) > 0 {
			piece(int64(at-hl), octets)
		}
	}
	f := p.FPDU
	switch {
	case f == nil:
		give(0, head)
	case f.ULPDU != nil:
		give(0, f.ULPDU)
	default:
		if !unmarked(p, give) {
			give(0, f.Head)
		}
	}
	return length
}

// unmarked goes over the octets of an FPDU of which some are missing. It reports false, and
// has done nothing, if it is not known where the markers are.
func unmarked(p *trace.PDU, give func(at int, octets []byte)) bool {
	f := p.FPDU
	first := len(f.Wire) // where the first marker is
	switch {
	case f.Lead:
		first = 0
	case len(f.Markers) > 0:
		first = int((f.Markers[0].Offset - f.Offset) % mpa.MarkerInterval)
	case p.Conn.Markers[p.Dir] == mpa.Yes || p.Conn.Flow[p.Dir].MarkersSeen == mpa.Yes:
		if !p.HasOffset {
			return false
		}
		first = int((mpa.MarkerInterval - p.Offset%mpa.MarkerInterval) % mpa.MarkerInterval)
	}
	const lengthLen = 2
	at := -lengthLen // of the octet at hand in the ULPDU
	for i := 0; i < len(f.Wire); {
		if i >= first && (i-first)%mpa.MarkerInterval == 0 {
			i += mpa.MarkerSize
			continue
		}
		end := len(f.Wire)
		switch {
		case i < first:
			end = min(end, first)
		case first < len(f.Wire):
			end = min(end, i+mpa.MarkerInterval-(i-first)%mpa.MarkerInterval)
		}
		captured(f, i, end, func(from, to int) {
			if a := at + from - i; a >= 0 {
				give(a, f.Wire[from:to])
			} else if skip := min(-a, to-from); skip < to-from {
				give(a+skip, f.Wire[from+skip:to])
			}
		})
		at += end - i
		i = end
	}
	return true
}

// captured calls a function with the parts of [from, to) of an FPDU that were captured.
func captured(f *mpa.FPDU, from, to int, part func(from, to int)) {
	for _, m := range f.Missing {
		if m.To <= from || m.From >= to {
			continue
		}
		if m.From > from {
			part(from, m.From)
		}
		from = min(m.To, to)
	}
	if from < to {
		part(from, to)
	}
}

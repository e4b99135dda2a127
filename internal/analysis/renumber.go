package analysis

import "github.com/iwdissect/iwdissect/trace"

// Renumber gives the PDUs that the record of a connection names the numbers that number says.
func Renumber(t *trace.Connection, number func(uint64) uint64) {
	for i := range t.Flow {
		f := &t.Flow[i]
		if f.Seldom == nil || f.Seldom.Wrong == nil {
			continue
		}
		k := f.Seldom.Wrong
		for j := range k.BadCRCs {
			k.BadCRCs[j].PDU = number(k.BadCRCs[j].PDU)
		}
		if k.MarkersBad > 0 {
			k.BadMarker.PDU = number(k.BadMarker.PDU)
		}
	}
	for _, x := range t.Terminates {
		if x == nil {
			continue
		}
		x.PDU = number(x.PDU)
		if x.Quote.Match.Found() {
			x.Quote.PDU = number(x.Quote.PDU)
		}
	}
}

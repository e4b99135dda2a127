package render

import (
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// Dumps are how much of a frame is shown below its PDUs.
const (
	dumpNone  = iota
	dumpIP    // from the IP header on
	dumpFrame // all of it
)

// dump writes the octets of a frame of which a PDU was shown.
func (l *Lines) dump(f *pipeline.Frame) {
	if l.opt.Dump == dumpNone || !l.any || l.frame != f.Number {
		return
	}
	b := f.Data
	if at := f.Packet.NetworkOffset; l.opt.Dump == dumpIP && at > 0 && at <= len(b) {
		b = b[at:]
	}
	l.out.b = appendWords(l.out.b, b)
	l.out.done()
}

// appendPrintable appends octets as text, with dots for what is no ASCII, and for what a build
// service would obey.
func appendPrintable(b, octets []byte) []byte {
	from := len(b)
	for _, c := range octets {
		if c < 0x20 || c > 0x7e {
			c = '.'
		}
		b = append(b, c)
	}
	return visible.Defuse(b, from, ".")
}

// appendWords appends octets as tcpdump -X does: in pairs, with their offset before and as
// text behind.
func appendWords(b, octets []byte) []byte {
	const digits = "0123456789abcdef"
	for at := 0; at < len(octets); at += 16 {
		line := octets[at:min(at+16, len(octets))]
		b = append(b, "\t0x"...)
		width := 12
		if at > 0xffff {
			width = 28
		}
		for s := width; s >= 0; s -= 4 {
			b = append(b, digits[at>>uint(s)&15])
		}
		b = append(b, ": "...)
		for i := range 16 {
			if i%2 == 0 {
				b = append(b, ' ')
			}
			if i >= len(line) {
				b = append(b, "  "...)
				continue
			}
			b = append(b, digits[line[i]>>4], digits[line[i]&15])
		}
		b = append(b, "  "...)
		b = append(appendPrintable(b, line), '\n')
	}
	return b
}

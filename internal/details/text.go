package details

import "github.com/iwdissect/iwdissect/internal/visible"

// Text is the form of tshark -O: the tree of each frame as indented lines, of which only the
// layers that Only has are opened; nil opens all.
type Text struct {
	Only map[string]bool
	// Closed leaves out the trees, for octets alone.
	Closed bool
	// Hex adds the octets of the frame.
	Hex bool
}

// Begin implements [Form].
func (*Text) Begin(*Output, string) {}

// End implements [Form].
func (*Text) End(*Output) {}

// Frame implements [Form].
func (x *Text) Frame(o *Output, f *Frame) {
	t := f.Tree
	open := false
	for i := range t.Nodes {
		if x.Closed {
			break
		}
		n := &t.Nodes[i]
		if n.Layer {
			open = x.Only == nil || x.Only[n.Name]
		} else if !open || n.Again {
			continue
		}
		for range n.Depth {
			o.str("    ")
		}
		line := t.Line(n)
		o.b = AppendPlain(o.b, line)
		o.str("\n")
	}
	if !x.Closed {
		o.str("\n")
	}
	if x.Hex {
		o.b = AppendDump(o.b, f.Data)
		o.str("\n")
	}
}

// AppendDump appends octets as tshark -x does: sixteen a line, with their offset before and
// as text behind.
func AppendDump(b, octets []byte) []byte {
	const digits = "0123456789abcdef"
	for at := 0; at < len(octets); at += 16 {
		line := octets[at:min(at+16, len(octets))]
		width := 12
		if at > 0xffff {
			width = 28
		}
		for s := width; s >= 0; s -= 4 {
			b = append(b, digits[at>>uint(s)&15])
		}
		b = append(b, ' ')
		for i := range 16 {
			if i >= len(line) {
				b = append(b, "   "...)
				continue
			}
			b = append(b, ' ', digits[line[i]>>4], digits[line[i]&15])
		}
		b = append(b, "   "...)
		b = visible.Defuse(appendPrintable(b, line), len(b), ".")
		b = append(b, '\n')
	}
	return b
}

func appendPrintable(b, line []byte) []byte {
	for _, c := range line {
		if c < 0x20 || c > 0x7e {
			c = '.'
		}
		b = append(b, c)
	}
	return b
}

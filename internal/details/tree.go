package details

import (
	"encoding/hex"
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// Tree is that of one frame: nodes in the order of a tree, each with its depth. It is used
// again for the next frame.
type Tree struct {
	Nodes []Node
	text  []byte // what nodes show
	part  int    // that nodes are added for
}

// Node is a line of the tree: a layer, a field, or a label that groups fields.
type Node struct {
	// Name is that of filters; empty for a label that has none.
	Name string
	Type fields.Type
	// Layer: it is a protocol. Depth is 0 for these.
	Layer bool
	// Again: it repeats a field under another name, and is hidden in a window.
	Again bool
	Depth int
	// Pos and Size are the octets it was read from: in the frame, or in what was
	// assembled from several.
	Pos, Size int
	// Part says in what Pos counts: 0 in the frame, n in the n-th of [Frame.Parts]; negative if
	// the node was read from no octets.
	Part int

	show, value, line span
	// masked: only bits of these octets are the value, which is num.
	masked bool
	num    uint64
}

// span is a part of the text of a tree.
type span struct{ from, to int }

func (t *Tree) in(s span) []byte { return t.text[s.from:s.to] }

// Show is the value as tshark shows it, Line the line for people.
func (t *Tree) Show(n *Node) []byte { return t.in(n.show) }

// Line is the line of a node, for people.
func (t *Tree) Line(n *Node) []byte { return t.in(n.line) }

// Octets are those of the node, in hexadecimal.
func (t *Tree) Octets(n *Node) []byte { return t.in(n.value) }

func (t *Tree) reset() { t.Nodes, t.text = t.Nodes[:0], t.text[:0] }

// Children is where the nodes below the one at i end.
func (t *Tree) Children(i int) (end int) {
	d := t.Nodes[i].Depth
	for end = i + 1; end < len(t.Nodes) && t.Nodes[end].Depth > d; end++ {
	}
	return end
}

// place is where a value stands in its octets.
type place struct {
	// bit and width are the place of the value; the octets shown with it begin at bit from
	// and are bits long, as far as these make sense.
	bit, width, bits int
	// first is the first bit that is drawn, if it is not negative.
	first int
}

// container is the range of bits that is drawn for a value of some bits.
func (p place) container() (from, to int) {
	if p.first >= 0 {
		return p.first, p.first + p.bits
	}
	w := max(p.bits, (p.bit+p.width+7)/8*8-p.bit/8*8)
	end := p.bit + p.width
	if p.bits%8 != 0 { // as the flags of TCP, which are twelve bits
		end = (end + 7) / 8 * 8
		return end - p.bits, end
	}
	from = p.bit / 8 * 8
	if end%8 == 0 && end-w >= 0 && w > 8 {
		from = end - w
	}
	return from, from + w
}

// entry is a node to be added.
type entry struct {
	depth  int
	field  *fields.Field
	value  fields.Value
	octets []byte // of the field
	pos    int    // of the octets
	place  place
	// masked: raw are the bits that were read; whole: the octets are shown whole all the
	// same.
	masked, whole bool
	undrawn       bool // the bits are not drawn
	bare          bool // the line is the label alone
	raw           uint64
	again         bool
	label         string // instead of that of the field
	text          func([]byte, fields.Value) []byte
}

// add adds a field.
func (t *Tree) add(e *entry) {
	n := Node{Name: e.field.Name, Type: e.field.Type, Depth: e.depth, Again: e.again, Pos: e.pos, Size: len(e.octets), Part: t.part, masked: e.masked && !e.whole, num: e.raw}
	from := len(t.text)
	t.text = fields.AppendShow(t.text, e.field, e.value)
	n.show = span{from, len(t.text)}
	from = len(t.text)
	t.text = hex.AppendEncode(t.text, e.octets)
	n.value = span{from, len(t.text)}
	from = len(t.text)
	t.text = t.appendLine(t.text, e, n.show)
	n.line = span{from, len(t.text)}
	t.Nodes = append(t.Nodes, n)
}

// label adds a line that groups those below it.
func (t *Tree) label(depth int, name, text string, pos, size int) {
	from := len(t.text)
	t.text = append(t.text, text...)
	t.Nodes = append(t.Nodes, Node{Name: name, Depth: depth, Pos: pos, Size: size, Part: t.part, line: span{from, len(t.text)}})
}

// layer adds a protocol.
func (t *Tree) layer(name, title string, pos, size int) {
	t.label(0, name, title, pos, size)
	t.Nodes[len(t.Nodes)-1].Layer = true
}

// longLabel is the length from which a label explains more than a line needs.
const longLabel = 50

// appendLine writes the line of a field: its bits, its label, its value.
func (t *Tree) appendLine(b []byte, e *entry, show span) []byte {
	if e.masked && !e.undrawn {
		b = appendBits(b, e)
	}
	label := e.label
	if label == "" {
		label = e.field.Label
		if len(label) > longLabel { // what it explains stands in the list of fields
			label, _, _ = strings.Cut(label, ":")
		}
	}
	b = append(b, label...)
	if e.field.Type == fields.None || e.bare {
		return b
	}
	b = append(b, ": "...)
	switch {
	case e.text != nil:
		return e.text(b, e.value)
	case e.field.Names != nil:
		b = append(append(b, e.field.Names(e.value.Num)...), " ("...)
		return append(append(b, t.text[show.from:show.to]...), ')')
	}
	switch e.field.Type {
	case fields.Bool:
		return append(b, [2][2]string{{"False", "True"}, {"Not set", "Set"}}[toInt(e.masked)][e.value.Num&1]...)
	case fields.Duration:
		return append(append(b, t.text[show.from:show.to]...), " seconds"...)
	case fields.Octets:
		return appendSome(b, e.value.Bytes)
	default:
		return append(b, t.text[show.from:show.to]...)
	}
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// someOctets is how many octets a line shows at most.
const someOctets = 36

func appendSome(b, octets []byte) []byte {
	if len(octets) <= someOctets {
		return hex.AppendEncode(b, octets)
	}
	return append(hex.AppendEncode(b, octets[:someOctets]), "…"...)
}

// appendBits draws the bits of a value among those of its octets: .1.. .... = .
func appendBits(b []byte, e *entry) []byte {
	from, to := e.place.container()
	if to-from > 64 {
		return b
	}
	for i := from; i < to; i++ {
		if i > from && (to-i)%4 == 0 {
			b = append(b, ' ')
		}
		if i < e.place.bit || i >= e.place.bit+e.place.width {
			b = append(b, '.')
			continue
		}
		b = append(b, '0'+byte(e.raw>>uint(e.place.bit+e.place.width-1-i)&1))
	}
	return append(b, " = "...)
}

package details

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// PDML is the form of tshark -T pdml: XML with an element for each layer and each field.
// Creator names the program.
type PDML struct {
	Creator string
	Pick    *Pick
	begun   bool
	open    []*Node // the elements around the node at hand, outermost first
}

const xmlHead = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"

// Begin implements [Form].
func (p *PDML) Begin(o *Output, capture string) {
	if p.begun {
		return
	}
	p.begun = true
	o.str(xmlHead)
	o.str("<pdml version=\"0\"")
	attr(o, "creator", p.Creator)
	attr(o, "capture_file", capture)
	o.str(">\n")
}

// End implements [Form].
func (*PDML) End(o *Output) { o.str("</pdml>\n") }

// Frame implements [Form].
func (p *PDML) Frame(o *Output, f *Frame) {
	o.str("<packet>\n")
	general(o, f)
	t := f.Tree
	whole := -1 // the depth of the node of which all is shown
	for i := 0; i < len(t.Nodes); i++ {
		n := &t.Nodes[i]
		if n.Depth <= whole {
			whole = -1
		}
		p.shut(o, n.Depth)
		indent(o, n.Depth)
		element(o, t, n)
		switch end := t.Children(i); {
		case end > i+1:
			o.str(">\n")
			p.open = append(p.open, n)
			if whole >= 0 {
				continue
			}
			below, shown := p.Pick.of(n.Name)
			if !shown {
				left(o, n)
				i = end - 1
			} else if below == nil {
				whole = n.Depth
			}
		case n.Layer:
			o.str("></proto>\n")
		default:
			o.str("/>\n")
		}
	}
	p.shut(o, 0)
	o.str("</packet>\n\n")
}

// left writes what stands for all below a node.
func left(o *Output, n *Node) {
	indent(o, n.Depth+1)
	o.str(`<field name="` + filtered + `"`)
	attr(o, "value", nameOf(n))
	o.str(" />\n")
}

// shut ends the elements that are open at a depth and below. A node may be more than one
// deeper than the one it stands in, where the field between is cut off.
func (p *PDML) shut(o *Output, depth int) {
	for len(p.open) > 0 {
		n := p.open[len(p.open)-1]
		if n.Depth < depth {
			return
		}
		p.open = p.open[:len(p.open)-1]
		indent(o, n.Depth)
		if n.Layer {
			o.str("</proto>\n")
		} else {
			o.str("</field>\n")
		}
	}
}

func indent(o *Output, depth int) {
	for range depth + 1 {
		o.str("  ")
	}
}

// element writes the start of the element of a node, up to its end.
func element(o *Output, t *Tree, n *Node) {
	switch {
	case n.Layer:
		o.str("<proto")
	default:
		o.str("<field")
	}
	attr(o, "name", n.Name)
	line := string(t.Line(n))
	if n.Name == "" {
		attr(o, "show", line)
	} else {
		attr(o, "showname", line)
	}
	if n.Again {
		attr(o, "hide", "yes")
	}
	attr(o, "size", strconv.Itoa(n.Size))
	attr(o, "pos", strconv.Itoa(n.Pos))
	if n.Layer {
		return
	}
	if n.Name != "" {
		attr(o, "show", string(t.Show(n)))
	}
	switch octets := string(t.Octets(n)); {
	case n.masked:
		attr(o, "value", upperHex(n.num))
		attr(o, "unmaskedvalue", octets)
	case octets != "":
		attr(o, "value", octets)
	case n.Name != "" && n.Type == fields.None:
		attr(o, "value", "")
	}
}

// general writes what the capture says of the frame, in the layer that comes first.
func general(o *Output, f *Frame) {
	size := int(f.OrigLen)
	o.str("  <proto name=\"geninfo\" pos=\"0\" showname=\"General information\"")
	attr(o, "size", strconv.Itoa(size))
	o.str(">\n")
	said := [...]struct{ name, showname, show, value string }{
		{"num", "Number", strconv.FormatUint(f.Number, 10), strconv.FormatUint(f.Number, 16)},
		{"len", "Frame Length", strconv.Itoa(size), strconv.FormatInt(int64(size), 16)},
		{"caplen", "Captured Length", strconv.Itoa(len(f.Data)), strconv.FormatInt(int64(len(f.Data)), 16)},
		{"timestamp", "Captured Time", shown(fields.Time, f.Time), shown(fields.Duration, f.Time)},
	}
	n := len(said)
	if f.NoTime {
		n-- // it is the last
	}
	for _, g := range said[:n] {
		o.str("    <field")
		attr(o, "name", g.name)
		o.str(" pos=\"0\"")
		attr(o, "show", g.show)
		attr(o, "showname", g.showname)
		attr(o, "value", g.value)
		attr(o, "size", strconv.Itoa(size))
		o.str("/>\n")
	}
	o.str("  </proto>\n")
}

func shown(t fields.Type, ns int64) string {
	return string(fields.AppendShow(nil, &fields.Field{Type: t}, fields.Value{Num: uint64(ns)})) //nolint:gosec // the bits of a signed number
}

func upperHex(v uint64) string {
	const digits = "0123456789ABCDEF"
	var b [16]byte
	i := len(b)
	for {
		i--
		b[i] = digits[v&15]
		if v >>= 4; v == 0 {
			return string(b[i:])
		}
	}
}

func attr(o *Output, name, v string) {
	o.str(" ")
	o.str(name)
	o.str("=\"")
	o.b = AppendXML(o.b, v)
	o.str("\"")
}

// AppendXML appends text for an element or an attribute of XML 1.0. What XML cannot hold,
// control characters and octets that are not UTF-8, becomes the replacement character.
func AppendXML(b []byte, s string) []byte {
	from := len(b)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '"':
			b = append(b, "&quot;"...)
		case r == '\'':
			b = append(b, "&#x27;"...)
		case r == '\t' || r == '\n' || r == '\r':
			b = append(b, "&#x"...)
			b = append(strconv.AppendInt(b, int64(r), 16), ';')
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff:
			b = append(b, "\ufffd"...)
		case r >= utf8.RuneSelf && visible.Hidden(r):
			b = fmt.Appendf(b, "&#x%x;", r)
		default:
			b = utf8.AppendRune(b, r)
		}
		i += n
	}
	return visible.Defuse(b, from, "&#x5b;")
}

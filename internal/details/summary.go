package details

import (
	"strconv"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// PSML is the form of tshark -T psml: the packet list as XML.
type PSML struct {
	Creator string
	begun   bool
}

// Begin implements [Form].
func (p *PSML) Begin(o *Output, _ string) {
	if p.begun {
		return
	}
	p.begun = true
	o.str(xmlHead)
	o.str("<psml version=\"0\"")
	attr(o, "creator", p.Creator)
	o.str(">\n<structure>\n")
	for _, s := range fields.ColumnTitles {
		o.str("<section>")
		o.str(s)
		o.str("</section>\n")
	}
	o.str("</structure>\n\n")
}

// Frame implements [Form].
func (*PSML) Frame(o *Output, f *Frame) {
	o.str("<packet>\n")
	for _, s := range f.Line() {
		o.str("<section>")
		o.b = AppendXML(o.b, string(s))
		o.str("</section>\n")
	}
	o.str("</packet>\n\n")
}

// End implements [Form].
func (*PSML) End(o *Output) { o.str("</psml>\n") }

// Tabs is the form of tshark -T tabs: the packet list with tabs between columns.
type Tabs struct{}

// Begin implements [Form].
func (*Tabs) Begin(*Output, string) {}

// End implements [Form].
func (*Tabs) End(*Output) {}

// Frame implements [Form].
func (*Tabs) Frame(o *Output, f *Frame) {
	for i, s := range f.Line() {
		if i > 0 {
			o.str("\t")
			if i == 3 {
				o.str("→\t")
			}
		}
		o.b = AppendPlain(o.b, s)
	}
	o.str("\n")
}

// AppendPlain appends text for a line: control characters and octets that are not UTF-8 are
// escaped as in C.
func AppendPlain(b, s []byte) []byte {
	from := len(b)
	q := strconv.AppendQuote(nil, string(s))
	q = q[1 : len(q)-1]
	for i := 0; i < len(q); i++ {
		if q[i] == '\\' && i+1 < len(q) && q[i+1] == '"' {
			continue
		}
		b = append(b, q[i])
	}
	return visible.Defuse(b, from, `\x5b`)
}

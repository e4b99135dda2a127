package display

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// An expr is a node of the tree: an operand, which has values, or a test, which is true or not.
type expr interface {
	at() span
	// print writes it as it would be typed.
	print(b *strings.Builder)
}

// The operands.
type (
	fieldExpr struct {
		span
		field *fields.Field
	}
	// literal is a value as typed; its type comes from what it stands beside.
	literal struct {
		span
		kind tokenKind
		text string
	}
	sliceExpr struct {
		span
		x      expr
		ranges []octets
		deep   int
	}
	call struct {
		span
		name string
		args []expr
	}
	negation struct {
		span
		x expr
	}
	arithmetic struct {
		span
		op   string
		x, y expr
		deep int
	}
)

// The tests.
type (
	// logic is or, xor or and.
	logic struct {
		span
		op   string
		args []expr
	}
	not struct {
		span
		x expr
	}
	// relation is a chain of comparisons: a < b < c is a < b and b < c.
	relation struct {
		span
		quantifier string
		terms      []expr
		ops        []string
	}
	membership struct {
		span
		quantifier string
		not        bool
		x          expr
		set        []interval
	}
	// presence is an operand that stands where a test is.
	presence struct {
		span
		x expr
	}
)

// interval is a member of a set: a value, or all from low to high.
type interval struct{ low, high expr }

func (s span) at() span { return s }

func isTest(x expr) bool {
	switch x.(type) {
	case *logic, *not, *relation, *membership, *presence:
		return true
	}
	return false
}

func (x *fieldExpr) print(b *strings.Builder) { b.WriteString(x.field.Name) }

func (x *literal) print(b *strings.Builder) {
	switch x.kind {
	case tokenString:
		printQuoted(b, x.text, '"')
	case tokenChar:
		printQuoted(b, x.text, '\'')
	default:
		b.WriteString(x.text)
	}
}

func printQuoted(b *strings.Builder, s string, quote byte) {
	b.WriteByte(quote)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case s[0] == quote || s[0] == '\\':
			b.WriteByte('\\')
			b.WriteByte(s[0])
		case r == utf8.RuneError || quote == '\'' && n > 1 || !strconv.IsPrint(r):
			n = 1
			b.WriteString(`\x`)
			b.WriteByte("0123456789abcdef"[s[0]>>4])
			b.WriteByte("0123456789abcdef"[s[0]&15])
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	b.WriteByte(quote)
}

func (x *sliceExpr) print(b *strings.Builder) {
	printOperand(b, x.x)
	b.WriteByte('[')
	for i, r := range x.ranges {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(r.String())
	}
	b.WriteByte(']')
}

func (x *call) print(b *strings.Builder) {
	b.WriteString(x.name)
	b.WriteByte('(')
	for i, a := range x.args {
		if i > 0 {
			b.WriteString(", ")
		}
		a.print(b)
	}
	b.WriteByte(')')
}

func (x *negation) print(b *strings.Builder) {
	b.WriteByte('-')
	printOperand(b, x.x)
}

func (x *arithmetic) print(b *strings.Builder) {
	printOperand(b, x.x)
	b.WriteString(" " + x.op + " ")
	printOperand(b, x.y)
}

// printOperand puts a calculation within another one in braces.
func printOperand(b *strings.Builder, x expr) {
	switch x.(type) {
	case *arithmetic, *negation:
		b.WriteByte('{')
		x.print(b)
		b.WriteByte('}')
	default:
		x.print(b)
	}
}

func (x *logic) print(b *strings.Builder) {
	for i, a := range x.args {
		if i > 0 {
			b.WriteString(" " + x.op + " ")
		}
		if _, ok := a.(*logic); ok {
			b.WriteByte('(')
			a.print(b)
			b.WriteByte(')')
			continue
		}
		a.print(b)
	}
}

func (x *not) print(b *strings.Builder) {
	b.WriteString("not ")
	if _, ok := x.x.(*logic); ok {
		b.WriteByte('(')
		x.x.print(b)
		b.WriteByte(')')
		return
	}
	x.x.print(b)
}

func printQuantifier(b *strings.Builder, q string) {
	if q != "" {
		b.WriteString(q + " ")
	}
}

func (x *relation) print(b *strings.Builder) {
	printQuantifier(b, x.quantifier)
	for i, t := range x.terms {
		if i > 0 {
			b.WriteString(" " + x.ops[i-1] + " ")
		}
		t.print(b)
	}
}

func (x *membership) print(b *strings.Builder) {
	printQuantifier(b, x.quantifier)
	x.x.print(b)
	if x.not {
		b.WriteString(" not")
	}
	b.WriteString(" in {")
	for i, m := range x.set {
		if i > 0 {
			b.WriteString(", ")
		}
		m.low.print(b)
		if m.high != nil {
			b.WriteString(" .. ")
			m.high.print(b)
		}
	}
	b.WriteByte('}')
}

func (x *presence) print(b *strings.Builder) { x.x.print(b) }

// octets is one range of a slice. Offsets may count from the end. A length of 0 stands
// for all up to the end; last is an end that is included, if hasLast.
type octets struct {
	offset, length, last int
	hasLast              bool
}

func (o octets) String() string {
	switch {
	case o.hasLast:
		return strconv.Itoa(o.offset) + "-" + strconv.Itoa(o.last)
	case o.length == 0:
		return strconv.Itoa(o.offset) + ":"
	case o.length == 1:
		return strconv.Itoa(o.offset)
	}
	return strconv.Itoa(o.offset) + ":" + strconv.Itoa(o.length)
}

// cut is the part of b in the range; false if the range is not all within b.
func (o octets) cut(b []byte) ([]byte, bool) {
	from := o.offset
	if from < 0 {
		from += len(b)
	}
	to := from + o.length
	switch {
	case o.hasLast:
		if to = o.last; to < 0 {
			to += len(b)
		}
		to++
	case o.length == 0:
		to = len(b)
	}
	if from < 0 || from >= to || to > len(b) {
		return nil, false
	}
	return b[from:to], true
}

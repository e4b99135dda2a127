package display

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// Filter is a compiled filter. It has room for what it calculates, so that matching
// does not allocate: it is for one goroutine at a time.
type Filter struct {
	tree   expr
	fields []*fields.Field
	match  test
	text   string
	given  *uint64 // see Split
}

// test tells if a row is as a part of the filter wants it.
type test func(*fields.Row) bool

// Compile makes a filter from its text. Find gives the field with a name, or nil; names
// are all of them, for the one that was meant. A filter with nothing in it matches
// everything. The error is an *Error.
func Compile(text string, find func(name string) *fields.Field, names func() []string) (*Filter, error) {
	tree, err := parse(text, find, names)
	if err != nil {
		return nil, err
	}
	f := &Filter{tree: tree, text: text, match: func(*fields.Row) bool { return true }}
	if tree == nil {
		return f, nil
	}
	c := newCompiler(text, names)
	if f.match, err = c.test(tree); err != nil {
		return nil, err
	}
	f.fields = c.fields
	return f, nil
}

// Fields are those that the filter reads. The values of each stand in a row in the slot
// of its place here.
func (f *Filter) Fields() []*fields.Field { return f.fields }

// Match tells if a row is as the filter wants it.
func (f *Filter) Match(row *fields.Row) bool { return f.match(row) }

// String is the filter in one spelling: what it compiles to is the same filter.
func (f *Filter) String() string {
	if f.tree == nil {
		return ""
	}
	var b strings.Builder
	f.tree.print(&b)
	return b.String()
}

// compiler makes closures of a tree.
type compiler struct {
	text   string
	names  func() []string
	fields []*fields.Field
	slots  map[*fields.Field]int
}

func newCompiler(text string, names func() []string) *compiler {
	return &compiler{text: text, names: names, slots: map[*fields.Field]int{}}
}

func (c *compiler) errorAt(s span, format string, args ...any) *Error {
	return errorAt(c.text, s, format, args...)
}

// slot is where the values of a field stand.
func (c *compiler) slot(f *fields.Field) int {
	s, ok := c.slots[f]
	if !ok {
		s = len(c.fields)
		c.slots[f] = s
		c.fields = append(c.fields, f)
	}
	return s
}

func (c *compiler) test(x expr) (test, *Error) {
	switch x := x.(type) {
	case *logic:
		return c.logic(x)
	case *not:
		t, err := c.test(x.x)
		if err != nil {
			return nil, err
		}
		return func(row *fields.Row) bool { return !t(row) }, nil
	case *relation:
		return c.relation(x)
	case *membership:
		return c.membership(x)
	case *presence:
		return c.presence(x)
	case *given:
		return func(*fields.Row) bool { return *x.bits&x.mask != 0 }, nil
	}
	return nil, c.errorAt(x.at(), "this is no condition")
}

func (c *compiler) logic(x *logic) (test, *Error) {
	tests := make([]test, 0, len(x.args))
	for _, a := range x.args {
		t, err := c.test(a)
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	switch {
	case x.op == "and" && len(tests) == 2:
		a, b := tests[0], tests[1]
		return func(row *fields.Row) bool { return a(row) && b(row) }, nil
	case x.op == "and":
		return func(row *fields.Row) bool {
			for _, t := range tests {
				if !t(row) {
					return false
				}
			}
			return true
		}, nil
	case x.op == "or":
		return func(row *fields.Row) bool {
			for _, t := range tests {
				if t(row) {
					return true
				}
			}
			return false
		}, nil
	}
	return func(row *fields.Row) bool {
		odd := false
		for _, t := range tests {
			odd = odd != t(row)
		}
		return odd
	}, nil
}

// presence is true of a field that is there, of a slice that has octets, and of a
// calculation that is not zero.
func (c *compiler) presence(x *presence) (test, *Error) {
	o, err := c.operand(x.x, nil)
	if err != nil {
		return nil, err
	}
	if o.slot >= 0 {
		return func(row *fields.Row) bool { return len(row.Values(o.slot)) > 0 }, nil
	}
	_, slice := x.x.(*sliceExpr)
	return func(row *fields.Row) bool {
		for _, v := range o.values(row) {
			switch {
			case slice && len(v.Bytes) > 0, !o.kind.inOctets() && v.Num != 0:
				return true
			case !slice && o.kind.inOctets():
				for _, b := range v.Bytes {
					if b != 0 {
						return true
					}
				}
			}
		}
		return false
	}, nil
}

// operand compiles what has values. Like is what a literal in it stands beside; nil if
// there is nothing.
func (c *compiler) operand(x expr, like *operand) (*operand, *Error) {
	switch x := x.(type) {
	case *fieldExpr:
		return c.field(x), nil
	case *literal:
		if like == nil {
			return nil, c.errorAt(x.span, "nothing here says what %s is; compare a field with it", show(x))
		}
		return c.literal(x, like)
	case *sliceExpr:
		return c.slice(x)
	case *call:
		return c.call(x)
	case *arithmetic:
		return c.arithmetic(x, like)
	case *negation:
		return c.negation(x, like)
	}
	return nil, c.errorAt(x.at(), "this is a condition; a value is needed here")
}

// field compiles a field. Of a layer, the values are its own octets; only contains and
// matches look at what it carries as well.
func (c *compiler) field(x *fieldExpr) *operand {
	slot := c.slot(x.field)
	all := func(row *fields.Row) []fields.Value { return row.Values(slot) }
	o := &operand{expr: x, kind: kindOf(x.field.Type), slot: slot, field: x.field, values: all, carried: all}
	if x.field.Type != fields.None {
		return o
	}
	var out []fields.Value
	o.values = func(row *fields.Row) []fields.Value {
		out = out[:0]
		for _, v := range row.Values(slot) {
			if v.Num > 0 && v.Num < uint64(len(v.Bytes)) {
				v.Bytes = v.Bytes[:v.Num]
			}
			out = append(out, v)
		}
		return out
	}
	return o
}

// untyped tells if an expression has nothing but literals in it.
func untyped(x expr) bool {
	switch x := x.(type) {
	case *literal:
		return true
	case *negation:
		return untyped(x.x)
	case *arithmetic:
		return untyped(x.x) && untyped(x.y)
	}
	return false
}

// pair compiles two operands that stand beside each other: one may be a literal, of the
// type of the other one.
func (c *compiler) pair(x, y expr, like *operand) (a, b *operand, err *Error) {
	if untyped(x) && !untyped(y) {
		b, a, err = c.pair(y, x, like)
		return a, b, err
	}
	if untyped(x) {
		if a, err = c.operand(x, calculated(like)); err == nil {
			b, err = c.operand(y, calculated(like))
		}
		return a, b, err
	}
	if a, err = c.operand(x, like); err == nil {
		b, err = c.operand(y, calculated(a))
	}
	return a, b, err
}

// calculated is what a literal in a calculation is like: as the other side, without the
// limits and names of a field.
func calculated(like *operand) *operand {
	if like == nil || !like.kind.isInteger() {
		return like
	}
	return &operand{kind: kindSum, calculated: true}
}

// slice compiles parts of octets. What is not all there gives nothing.
func (c *compiler) slice(x *sliceExpr) (*operand, *Error) {
	a, err := c.operand(x.x, nil)
	if err != nil {
		return nil, err
	}
	if !a.kind.inOctets() {
		return nil, c.errorAt(x.span, "%s has no octets to take a slice of", a.kind)
	}
	var out []fields.Value
	var room []byte
	get := func(row *fields.Row) []fields.Value {
		out, room = out[:0], room[:0]
		for _, v := range a.values(row) {
			if len(x.ranges) == 1 {
				b, _ := x.ranges[0].cut(v.Bytes)
				out = append(out, fields.Value{Bytes: b})
				continue
			}
			from := len(room)
			for _, r := range x.ranges {
				if b, ok := r.cut(v.Bytes); ok && len(room)+len(b) <= mostOctets {
					room = append(room, b...)
				}
			}
			out = append(out, fields.Value{Bytes: room[from:len(room):len(room)]})
		}
		return out
	}
	return &operand{expr: x, kind: kindOctets, values: get, slot: -1}, nil
}

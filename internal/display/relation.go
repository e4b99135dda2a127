package display

import (
	"bytes"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// mirrored has the comparisons with their sides changed.
var mirrored = map[string]string{"==": "==", "!=": "!=", "===": "===", "!==": "!==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// relation compiles a chain of comparisons.
func (c *compiler) relation(x *relation) (test, *Error) {
	tests := make([]test, 0, len(x.ops))
	for i, op := range x.ops {
		t, err := c.comparison(x, x.terms[i], op, x.terms[i+1])
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	if len(tests) == 1 {
		return tests[0], nil
	}
	return func(row *fields.Row) bool {
		for _, t := range tests {
			if !t(row) {
				return false
			}
		}
		return true
	}, nil
}

// comparison compiles one comparison of two operands.
func (c *compiler) comparison(r *relation, x expr, op string, y expr) (test, *Error) {
	at := x.at().to2(y.at())
	if untyped(x) {
		if l, ok := x.(*literal); ok && (looksLikeName(l) || mirrored[op] == "") {
			return nil, notField(c.text, l, c.names)
		}
		if untyped(y) {
			return nil, c.errorAt(at, "a comparison needs a field or a function on one side")
		}
		if mirrored[op] == "" {
			return nil, c.errorAt(x.at(), "%s needs a field on its left", op)
		}
		x, op, y = y, mirrored[op], x
	}
	a, err := c.operand(x, nil)
	if err != nil {
		return nil, err
	}
	all := r.quantifier == "all" || r.quantifier == "" && (op == "!=" || op == "===")
	if op == "matches" {
		return c.matches(a.within(), y, all)
	}
	b, err := c.operand(y, beside(a, op))
	if err != nil {
		return nil, err
	}
	if op == "contains" {
		return c.contains(at, a.within(), b, all)
	}
	compare := comparison(a.kind, b.kind)
	if compare == nil {
		return nil, c.unlike(at, a, b)
	}
	if b.mask != nil {
		compare = masked(b.mask)
	}
	if a.slot >= 0 && a.kind == kindUint && b.constant && b.kind == kindUint {
		return inRange(a.slot, b.values(nil)[0].Num, op, all), nil
	}
	return compared(a, b, accepts(op), compare, all), nil
}

// beside is what a literal behind an operator is like: behind contains, a part of an
// address is octets.
func beside(a *operand, op string) *operand {
	if op == "contains" && a.kind != kindText {
		return &operand{kind: kindOctets}
	}
	return a
}

// unlike is the error of operands that cannot be compared.
func (c *compiler) unlike(at span, a, b *operand) *Error {
	var names [2]string
	for i, o := range []*operand{a, b} {
		s := o.expr.at()
		names[i] = c.text[s.from:s.to] + " is " + o.kind.String()
	}
	return c.errorAt(at, "%s, but %s", names[0], names[1])
}

// accepts has the results of a comparison that an operator is true of, by 1 + result.
func accepts(op string) [3]bool {
	switch op {
	case "==", "===":
		return [3]bool{1: true}
	case "!=", "!==":
		return [3]bool{0: true, 2: true}
	case "<":
		return [3]bool{0: true}
	case "<=":
		return [3]bool{0: true, 1: true}
	case ">":
		return [3]bool{2: true}
	}
	return [3]bool{1: true, 2: true}
}

// compared is true if any, or all, of the pairs of values are as an operator wants them;
// never of what is not there.
func compared(a, b *operand, want [3]bool, compare func(x, y *fields.Value) int, all bool) test {
	return func(row *fields.Row) bool {
		xs, ys := a.values(row), b.values(row)
		if len(xs) == 0 || len(ys) == 0 {
			return false
		}
		for i := range xs {
			for j := range ys {
				if want[1+compare(&xs[i], &ys[j])] != all {
					return !all
				}
			}
		}
		return all
	}
}

// inRange is a comparison of a field with a number.
func inRange(slot int, n uint64, op string, all bool) test {
	low, high, outside := n, n, false
	switch op {
	case "!=", "!==":
		outside = true
	case "<":
		outside, high = true, ^uint64(0)
	case "<=":
		low = 0
	case ">":
		outside, low = true, 0
	case ">=":
		high = ^uint64(0)
	}
	return func(row *fields.Row) bool {
		vs := row.Values(slot)
		for i := range vs {
			if (vs[i].Num-low <= high-low) != outside != all {
				return !all
			}
		}
		return all && len(vs) > 0
	}
}

// contains is true of values that have the octets of another one in them. Nothing has
// those of an empty string in it.
func (c *compiler) contains(at span, a, b *operand, all bool) (test, *Error) {
	for _, o := range []*operand{a, b} {
		if !o.kind.inOctets() || o.kind == kindIPv4 || o.kind == kindIPv6 {
			s := o.expr.at()
			return nil, c.errorAt(at, "%s is %s; contains is for strings and octets", c.text[s.from:s.to], o.kind)
		}
	}
	found := func(x, y *fields.Value) int {
		if len(y.Bytes) > 0 && bytes.Contains(x.Bytes, y.Bytes) {
			return 0
		}
		return 1
	}
	return compared(a, b, [3]bool{1: true}, found, all), nil
}

// membership compiles a set. A field that is not there is in no set.
func (c *compiler) membership(x *membership) (test, *Error) {
	if untyped(x.x) {
		if l, ok := x.x.(*literal); ok {
			return nil, notField(c.text, l, c.names)
		}
		return nil, c.errorAt(x.x.at(), "in needs a field or a function on its left")
	}
	a, err := c.operand(x.x, nil)
	if err != nil {
		return nil, err
	}
	in := make([]memberTest, 0, len(x.set))
	for _, m := range x.set {
		t, err := c.member(a, m)
		if err != nil {
			return nil, err
		}
		in = append(in, t)
	}
	all := x.quantifier == "all" && !x.not
	return func(row *fields.Row) bool {
		xs := a.values(row)
		if len(xs) == 0 {
			return x.not
		}
		for i := range xs {
			if isMember(in, row, &xs[i]) != all {
				return all == x.not
			}
		}
		return all != x.not
	}, nil
}

func isMember(in []memberTest, row *fields.Row, v *fields.Value) bool {
	for _, t := range in {
		if t(row, v) {
			return true
		}
	}
	return false
}

// memberTest tells if a value is one of those of a member of a set.
type memberTest func(*fields.Row, *fields.Value) bool

func (c *compiler) member(a *operand, m interval) (memberTest, *Error) {
	low, compareLow, err := c.bound(a, m.low)
	if err != nil {
		return nil, err
	}
	if m.high == nil {
		return func(row *fields.Row, v *fields.Value) bool {
			ys := low.values(row)
			for i := range ys {
				if compareLow(v, &ys[i]) == 0 {
					return true
				}
			}
			return false
		}, nil
	}
	high, compareHigh, err := c.bound(a, m.high)
	if err != nil {
		return nil, err
	}
	return func(row *fields.Row, v *fields.Value) bool {
		return any2(low.values(row), v, compareLow, 1) && any2(high.values(row), v, compareHigh, -1)
	}, nil
}

// any2 tells if a value is equal to one of some, or on the side of it.
func any2(ys []fields.Value, v *fields.Value, compare func(x, y *fields.Value) int, side int) bool {
	for i := range ys {
		if c := compare(v, &ys[i]); c == 0 || c == side {
			return true
		}
	}
	return false
}

// bound is a value in a set, and how it is compared.
func (c *compiler) bound(a *operand, x expr) (*operand, func(x, y *fields.Value) int, *Error) {
	b, err := c.operand(x, a)
	if err != nil {
		return nil, nil, err
	}
	compare := comparison(a.kind, b.kind)
	if compare == nil {
		return nil, nil, c.unlike(x.at(), a, b)
	}
	if b.mask != nil {
		compare = masked(b.mask)
	}
	return b, compare, nil
}

package display

import (
	"math"
	"math/bits"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// mostValues bounds what a calculation with fields that come many times gives.
const mostValues = 1 << 16

// A calculator gives the value of an operator; false if there is none, as that of a
// division by zero or of what does not fit.
type calculator func(x, y fields.Value) (fields.Value, bool)

// sums are the operators of numbers.
var sums = map[string]calculator{
	"+": addSums,
	"-": func(x, y fields.Value) (fields.Value, bool) { return addSums(x, negate(y)) },
	"*": func(x, y fields.Value) (fields.Value, bool) {
		high, low := bits.Mul64(x.Num, y.Num)
		return withSign(low, isNegative(x) != isNegative(y)), high == 0
	},
	"/": func(x, y fields.Value) (fields.Value, bool) {
		if y.Num == 0 {
			return fields.Value{}, false
		}
		return withSign(x.Num/y.Num, isNegative(x) != isNegative(y)), true
	},
	"%": func(x, y fields.Value) (fields.Value, bool) {
		if y.Num == 0 {
			return fields.Value{}, false
		}
		return withSign(x.Num%y.Num, isNegative(x)), true
	},
	"&": func(x, y fields.Value) (fields.Value, bool) {
		return fields.Value{Num: twosComplement(x) & twosComplement(y)}, true
	},
}

func withSign(n uint64, negative bool) fields.Value {
	if negative {
		return fields.Value{Num: n, Bytes: minus}
	}
	return fields.Value{Num: n}
}

func negate(v fields.Value) fields.Value { return withSign(v.Num, !isNegative(v)) }

func twosComplement(v fields.Value) uint64 {
	if isNegative(v) {
		return -v.Num
	}
	return v.Num
}

func addSums(x, y fields.Value) (fields.Value, bool) {
	if isNegative(x) == isNegative(y) {
		n, carry := bits.Add64(x.Num, y.Num, 0)
		return withSign(n, isNegative(x)), carry == 0
	}
	if x.Num >= y.Num {
		return withSign(x.Num-y.Num, isNegative(x)), true
	}
	return withSign(y.Num-x.Num, isNegative(y)), true
}

var floats = map[string]func(x, y float64) float64{
	"+": func(x, y float64) float64 { return x + y },
	"-": func(x, y float64) float64 { return x - y },
	"*": func(x, y float64) float64 { return x * y },
	"/": func(x, y float64) float64 { return x / y },
}

var durations = map[string]calculator{
	"+": addDurations,
	"-": func(x, y fields.Value) (fields.Value, bool) {
		return addDurations(x, fields.Value{Num: -y.Num})
	},
}

func addDurations(x, y fields.Value) (fields.Value, bool) {
	n := x.Num + y.Num
	overflow := signed(x.Num) < 0 == (signed(y.Num) < 0) && signed(n) < 0 != (signed(x.Num) < 0)
	return fields.Value{Num: n}, !overflow
}

// calculatorOf gives the operator for operands of a kind; nil if there is none.
func calculatorOf(op string, k kind) calculator {
	switch {
	case k.isInteger():
		return sums[op]
	case k == kindDuration:
		return durations[op]
	case k == kindFloat && floats[op] != nil:
		f := floats[op]
		return func(x, y fields.Value) (fields.Value, bool) {
			v := f(math.Float64frombits(x.Num), math.Float64frombits(y.Num))
			return fields.Value{Num: math.Float64bits(v)}, !math.IsNaN(v)
		}
	}
	return nil
}

// arithmetic compiles a calculation; a literal in it is of the type of the other side,
// or of what the whole is compared with.
func (c *compiler) arithmetic(x *arithmetic, like *operand) (*operand, *Error) {
	a, b, err := c.pair(x.x, x.y, like)
	if err != nil {
		return nil, err
	}
	if x.op == "&" && a.kind.inOctets() && a.kind != kindText {
		return c.maskOctets(x, a, b)
	}
	k := a.kind
	calculate := calculatorOf(x.op, k)
	if calculate == nil {
		return nil, c.errorAt(x.span, "%s has no operator %s", k, x.op)
	}
	if k.isInteger() != b.kind.isInteger() || !k.isInteger() && k != b.kind {
		return nil, c.errorAt(x.span, "%s and %s cannot be calculated with %s", a.kind, b.kind, x.op)
	}
	var out []fields.Value
	integer := k.isInteger()
	get := func(row *fields.Row) []fields.Value {
		out = out[:0]
		ys := b.values(row)
		for _, v := range a.values(row) {
			if integer {
				v = sum(a.kind, &v)
			}
			for _, w := range ys {
				if integer {
					w = sum(b.kind, &w)
				}
				if n, ok := calculate(v, w); ok && len(out) < mostValues {
					out = append(out, n)
				}
			}
		}
		return out
	}
	if integer {
		k = kindSum
	}
	return &operand{expr: x, kind: k, values: get, slot: -1, calculated: true, constant: a.constant && b.constant}, nil
}

// maskOctets compiles octets & octets: as many as the shorter one has.
func (c *compiler) maskOctets(x *arithmetic, a, b *operand) (*operand, *Error) {
	if comparison(a.kind, b.kind) == nil || b.mask != nil {
		return nil, c.errorAt(x.span, "%s and %s cannot be calculated with &", a.kind, b.kind)
	}
	var out []fields.Value
	var room []byte
	get := func(row *fields.Row) []fields.Value {
		out, room = out[:0], room[:0]
		ys := b.values(row)
		for _, v := range a.values(row) {
			for _, w := range ys {
				if len(out) >= mostValues || len(room) >= mostOctets {
					return out
				}
				from := len(room)
				for i := range min(len(v.Bytes), len(w.Bytes)) {
					room = append(room, v.Bytes[i]&w.Bytes[i])
				}
				out = append(out, fields.Value{Bytes: room[from:len(room):len(room)]})
			}
		}
		return out
	}
	return &operand{expr: x, kind: a.kind, values: get, slot: -1, calculated: true}, nil
}

// mostOctets bounds the octets that are put together for one row.
const mostOctets = 1 << 24

// negation compiles a sign. That of a literal belongs to it.
func (c *compiler) negation(x *negation, like *operand) (*operand, *Error) {
	if l, ok := x.x.(*literal); ok && like != nil && l.kind == tokenWord {
		return c.literal(&literal{x.span, l.kind, "-" + l.text}, like)
	}
	a, err := c.operand(x.x, like)
	if err != nil {
		return nil, err
	}
	k := a.kind
	if !k.isInteger() && k != kindDuration && k != kindFloat {
		return nil, c.errorAt(x.span, "%s has no sign", k)
	}
	var out []fields.Value
	get := func(row *fields.Row) []fields.Value {
		out = out[:0]
		for _, v := range a.values(row) {
			switch {
			case a.kind.isInteger():
				v = negate(sum(a.kind, &v))
			case a.kind == kindFloat:
				v.Num = math.Float64bits(-math.Float64frombits(v.Num))
			default:
				v.Num = -v.Num
			}
			out = append(out, v)
		}
		return out
	}
	if k.isInteger() {
		k = kindSum
	}
	return &operand{expr: x, kind: k, values: get, slot: -1, calculated: true, constant: a.constant}, nil
}

package display

import (
	"encoding/hex"
	"math"
	"net/netip"
	"slices"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// functions has how many arguments each function takes at most.
var functions = map[string]int{
	"len": 1, "count": 1, "string": 1, "upper": 1, "lower": 1, "abs": 1, "max": mostArguments, "min": mostArguments,
}

const mostArguments = 1000

// call compiles a function.
func (c *compiler) call(x *call) (*operand, *Error) {
	switch x.name {
	case "len":
		return c.length(x)
	case "count":
		return c.count(x)
	case "string":
		return c.str(x)
	case "upper":
		return c.letters(x, 'a', 'z')
	case "lower":
		return c.letters(x, 'A', 'Z')
	case "abs":
		return c.abs(x)
	case "max":
		return c.most(x, 1)
	case "min":
		return c.most(x, -1)
	}
	return nil, c.errorAt(x.span, "no function is named %s", x.name)
}

func functionNames() []string {
	all := make([]string, 0, len(functions))
	for n := range functions {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// argument is the only one of a function.
func (c *compiler) argument(x *call) (*operand, *Error) {
	if untyped(x.args[0]) {
		return nil, c.errorAt(x.args[0].at(), "%s() takes a field", x.name)
	}
	return c.operand(x.args[0], nil)
}

// wrongArgument is the error of a function that is not for a kind of values.
func (c *compiler) wrongArgument(x *call, a *operand, use string) *Error {
	s := x.args[0].at()
	return c.errorAt(s, "%s is %s; %s() is for %s", c.text[s.from:s.to], a.kind, x.name, use)
}

// mapped is an operand with each value of another one changed.
func mapped(x *call, a *operand, k kind, change func(*fields.Value) fields.Value) *operand {
	var out []fields.Value
	return &operand{expr: x, kind: k, slot: -1, calculated: true, values: func(row *fields.Row) []fields.Value {
		out = out[:0]
		vs := a.values(row)
		for i := range vs {
			out = append(out, change(&vs[i]))
		}
		return out
	}}
}

// length is how many octets a value has.
func (c *compiler) length(x *call) (*operand, *Error) {
	a, err := c.argument(x)
	if err != nil {
		return nil, err
	}
	switch {
	case a.kind.inOctets():
		return mapped(x, a, kindUint, func(v *fields.Value) fields.Value { return fields.Value{Num: uint64(len(v.Bytes))} }), nil
	case a.field != nil && (a.kind == kindUint || a.kind == kindInt):
		octets := uint64(width(a.field)) / 8 //nolint:gosec // 8 to 64
		return mapped(x, a, kindUint, func(*fields.Value) fields.Value { return fields.Value{Num: octets} }), nil
	}
	return nil, c.wrongArgument(x, a, "strings, octets and fields of numbers")
}

// count is how many values a field has; of one that is not there, it has no value.
func (c *compiler) count(x *call) (*operand, *Error) {
	if _, ok := x.args[0].(*fieldExpr); !ok {
		return nil, c.errorAt(x.args[0].at(), "count() takes a field")
	}
	a, err := c.argument(x)
	if err != nil {
		return nil, err
	}
	out := make([]fields.Value, 1)
	return &operand{expr: x, kind: kindUint, slot: -1, calculated: true, values: func(row *fields.Row) []fields.Value {
		n := len(a.values(row))
		if n == 0 {
			return nil
		}
		out[0] = fields.Value{Num: uint64(n)}
		return out
	}}, nil
}

// str is a number or an address in text.
func (c *compiler) str(x *call) (*operand, *Error) {
	a, err := c.argument(x)
	if err != nil {
		return nil, err
	}
	var write func(to []byte, v *fields.Value) []byte
	switch {
	case a.kind.isInteger():
		write = func(to []byte, v *fields.Value) []byte {
			s := sum(a.kind, v)
			if isNegative(s) {
				to = append(to, '-')
			}
			return strconv.AppendUint(to, s.Num, 10)
		}
	case a.kind == kindIPv4 || a.kind == kindIPv6:
		write = func(to []byte, v *fields.Value) []byte {
			if ip, ok := netip.AddrFromSlice(v.Bytes); ok {
				to = ip.AppendTo(to)
			}
			return to
		}
	case a.kind == kindEther:
		write = func(to []byte, v *fields.Value) []byte {
			for i := range v.Bytes {
				if i > 0 {
					to = append(to, ':')
				}
				to = hex.AppendEncode(to, v.Bytes[i:i+1])
			}
			return to
		}
	default:
		return nil, c.wrongArgument(x, a, "numbers and addresses")
	}
	return c.written(x, a, write), nil
}

// written is an operand with text for each value of another one.
func (c *compiler) written(x *call, a *operand, write func([]byte, *fields.Value) []byte) *operand {
	var out []fields.Value
	var room []byte
	return &operand{expr: x, kind: kindText, slot: -1, calculated: true, values: func(row *fields.Row) []fields.Value {
		out, room = out[:0], room[:0]
		vs := a.values(row)
		for i := range vs {
			if len(room) >= mostOctets {
				break
			}
			from := len(room)
			room = write(room, &vs[i])
			out = append(out, fields.Value{Bytes: room[from:len(room):len(room)]})
		}
		return out
	}}
}

// letters is a string with the letters of one case in the other one.
func (c *compiler) letters(x *call, from, to byte) (*operand, *Error) {
	a, err := c.argument(x)
	if err != nil {
		return nil, err
	}
	if a.kind != kindText {
		return nil, c.wrongArgument(x, a, "strings")
	}
	return c.written(x, a, func(b []byte, v *fields.Value) []byte {
		for _, ch := range v.Bytes {
			if ch >= from && ch <= to {
				ch ^= 'a' - 'A'
			}
			b = append(b, ch)
		}
		return b
	}), nil
}

// abs is a number without its sign.
func (c *compiler) abs(x *call) (*operand, *Error) {
	a, err := c.argument(x)
	if err != nil {
		return nil, err
	}
	switch {
	case a.kind.isInteger():
		return mapped(x, a, kindSum, func(v *fields.Value) fields.Value { return fields.Value{Num: sum(a.kind, v).Num} }), nil
	case a.kind == kindFloat:
		return mapped(x, a, kindFloat, func(v *fields.Value) fields.Value {
			return fields.Value{Num: math.Float64bits(math.Abs(math.Float64frombits(v.Num)))}
		}), nil
	case a.kind == kindDuration:
		return mapped(x, a, kindDuration, func(v *fields.Value) fields.Value {
			if signed(v.Num) < 0 {
				return fields.Value{Num: -v.Num}
			}
			return *v
		}), nil
	}
	return nil, c.wrongArgument(x, a, "numbers and durations")
}

// most is the greatest, or the least, of all values of its arguments.
func (c *compiler) most(x *call, side int) (*operand, *Error) {
	typed := slices.IndexFunc(x.args, func(e expr) bool { return !untyped(e) })
	if typed < 0 {
		return nil, c.errorAt(x.span, "%s() needs a field", x.name)
	}
	like, err := c.operand(x.args[typed], nil)
	if err != nil {
		return nil, err
	}
	args := make([]*operand, 0, len(x.args))
	for _, e := range x.args {
		a, err := c.operand(e, like)
		if err != nil {
			return nil, err
		}
		if a.kind != like.kind && (!a.kind.isInteger() || !like.kind.isInteger()) || a.mask != nil {
			return nil, c.unlike(e.at(), like, a)
		}
		args = append(args, a)
	}
	k := like.kind
	if k.isInteger() {
		k = kindSum
	}
	compare := comparison(k, k)
	out := make([]fields.Value, 2) // the best one, and the one at hand
	var field *fields.Field
	if len(args) == 1 {
		field = like.field
	}
	return &operand{expr: x, kind: k, slot: -1, field: field, calculated: field == nil, values: func(row *fields.Row) []fields.Value {
		found := false
		for _, a := range args {
			vs := a.values(row)
			for i := range vs {
				if out[1] = vs[i]; k == kindSum {
					out[1] = sum(a.kind, &vs[i])
				}
				if !found || compare(&out[1], &out[0]) == side {
					out[0], found = out[1], true
				}
			}
		}
		if !found {
			return nil
		}
		return out[:1]
	}}, nil
}

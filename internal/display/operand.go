package display

import (
	"bytes"
	"cmp"
	"math"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// kind is what the values of an operand are, as the operators see them.
type kind uint8

const (
	kindBool kind = iota
	kindUint
	kindInt
	// kindSum is a number that was calculated: Num is its size, and Bytes is minus below zero.
	kindSum
	kindFloat
	kindTime
	kindDuration
	kindOctets
	kindText
	kindIPv4
	kindIPv6
	kindEther
)

var kindNames = [...]string{
	"a boolean", "a number", "a number", "a number", "a floating-point number", "a time", "a duration",
	"octets", "a string", "an IPv4 address", "an IPv6 address", "an Ethernet address",
}

func (k kind) String() string { return kindNames[k] }

func (k kind) isInteger() bool { return k == kindUint || k == kindInt || k == kindSum }

// inOctets tells if the values stand in Bytes.
func (k kind) inOctets() bool { return k >= kindOctets }

func kindOf(t fields.Type) kind {
	switch t {
	case fields.Bool:
		return kindBool
	case fields.Uint, fields.Frame:
		return kindUint
	case fields.Int:
		return kindInt
	case fields.Float:
		return kindFloat
	case fields.Time:
		return kindTime
	case fields.Duration:
		return kindDuration
	case fields.Text:
		return kindText
	case fields.IPv4:
		return kindIPv4
	case fields.IPv6:
		return kindIPv6
	case fields.Ether:
		return kindEther
	case fields.None, fields.Octets:
	}
	return kindOctets
}

// minus marks the numbers below zero.
var minus = []byte{'-'}

// values gives what an operand is in a row. It is valid until the next call.
type values func(*fields.Row) []fields.Value

// operand is an expression with its type, ready to be read.
type operand struct {
	expr   expr
	kind   kind
	values values
	// carried gives the values of a layer with what it carries; nil if it is no field.
	carried values
	// slot is that of a plain field, else -1.
	slot int
	// constant: there is one value, and it is the same in each row. Of an address with a
	// prefix, only the bits of mask count.
	constant bool
	mask     []byte
	// field is what values with names and the limits of numbers come from.
	field *fields.Field
	// calculated numbers may be below zero, whatever the field.
	calculated bool
}

// within is the operand as contains and matches look at it.
func (o *operand) within() *operand {
	if o.carried == nil {
		return o
	}
	w := *o
	w.values = o.carried
	return &w
}

// comparison gives an order of values of two kinds; nil if they have none.
func comparison(a, b kind) func(x, y *fields.Value) int {
	switch {
	case a.isInteger() && b.isInteger():
		if a == kindUint && b == kindUint {
			return func(x, y *fields.Value) int { return cmp.Compare(x.Num, y.Num) }
		}
		return func(x, y *fields.Value) int { return compareSums(sum(a, x), sum(b, y)) }
	case a.inOctets() && b.inOctets():
		addresses := (a == kindIPv4 || a == kindIPv6 || a == kindEther) && (b == kindIPv4 || b == kindIPv6 || b == kindEther)
		if addresses && a != b {
			return nil
		}
		if a == kindText && b == kindText {
			return func(x, y *fields.Value) int { return bytes.Compare(x.Bytes, y.Bytes) }
		}
		return func(x, y *fields.Value) int { // the longer one is greater, as in Wireshark
			if c := cmp.Compare(len(x.Bytes), len(y.Bytes)); c != 0 {
				return c
			}
			return bytes.Compare(x.Bytes, y.Bytes)
		}
	case a != b:
		return nil
	case a == kindBool:
		return func(x, y *fields.Value) int { return cmp.Compare(min(x.Num, 1), min(y.Num, 1)) }
	case a == kindFloat:
		return func(x, y *fields.Value) int {
			return cmp.Compare(math.Float64frombits(x.Num), math.Float64frombits(y.Num))
		}
	}
	return func(x, y *fields.Value) int { return cmp.Compare(signed(x.Num), signed(y.Num)) }
}

// masked is a comparison with an address of which only some bits count.
func masked(mask []byte) func(x, y *fields.Value) int {
	return func(x, y *fields.Value) int {
		if len(x.Bytes) != len(mask) {
			return cmp.Compare(len(x.Bytes), len(mask))
		}
		for i, m := range mask {
			if c := cmp.Compare(x.Bytes[i]&m, y.Bytes[i]&m); c != 0 {
				return c
			}
		}
		return 0
	}
}

func signed(n uint64) int64 { return int64(n) } //nolint:gosec // what stands in Num as a signed number

// sum is a number as one that was calculated.
func sum(k kind, v *fields.Value) fields.Value {
	if k == kindInt && signed(v.Num) < 0 {
		return fields.Value{Num: -v.Num, Bytes: minus}
	}
	if k == kindSum {
		return *v
	}
	return fields.Value{Num: v.Num}
}

func isNegative(v fields.Value) bool { return len(v.Bytes) > 0 && v.Num != 0 }

func compareSums(a, b fields.Value) int {
	switch x, y := isNegative(a), isNegative(b); {
	case x && y:
		return cmp.Compare(b.Num, a.Num)
	case x:
		return -1
	case y:
		return 1
	}
	return cmp.Compare(a.Num, b.Num)
}

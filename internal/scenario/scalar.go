package scenario

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// maxDuration bounds every time that a scenario speaks of.
const maxDuration = 24 * time.Hour

// unsigned reads a number, decimal or hexadecimal.
func unsigned(text string) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		text, base = hex, 16
	}
	if strings.ContainsAny(text, "+-_") {
		return 0, false
	}
	v, err := strconv.ParseUint(text, base, 64)
	return v, err == nil
}

// relative reads a number that may have a sign.
func relative(text string) (int64, bool) {
	rest, minus := strings.CutPrefix(text, "-")
	if !minus {
		rest = strings.TrimPrefix(text, "+")
	}
	v, ok := unsigned(rest)
	if !ok || v > math.MaxInt64 {
		return 0, false
	}
	if minus {
		return -int64(v), true
	}
	return int64(v), true
}

// isInteger reports whether a text is a whole number of any size, also one below 0.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// number reads a number from lo to hi, both in the range of its type.
func number[T ~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *compiler, p *T, lo, hi uint64) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		v, ok := unsigned(n.Text)
		switch {
		case !ok && !isInteger(n.Text):
			c.Fail(n.Pos, "expected a number, not %q", n.Text)
		case !ok || v < lo || v > hi:
			c.Fail(n.Pos, "expected a number from %d to %d, not %s", lo, hi, n.Text)
		default:
			*p = T(v)
		}
	}
}

// orZero reads a number from lo to hi, or 0.
func (c *compiler) orZero(p *int, lo, hi uint64) setter {
	return func(n *node) {
		if v, ok := unsigned(n.Text); n.Kind == scalar && ok && v == 0 {
			*p = 0
			return
		}
		number(c, p, lo, hi)(n)
	}
}

// signed reads a number that may have a sign.
func (c *compiler) signed(p *int64) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		v, ok := relative(n.Text)
		if !ok {
			c.Fail(n.Pos, "expected a number, not %q", n.Text)
			return
		}
		*p = v
	}
}

// unit is what stands behind a number, and what it is worth.
type unit struct {
	name  string
	worth uint64
}

// sizeUnits are those of sizes; a letter alone is binary, as in most programs.
var sizeUnits = []unit{
	{"", 1},
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
	{"B", 1},
}

var rateUnits = []unit{{"Gbps", 1e9}, {"Mbps", 1e6}, {"kbps", 1e3}, {"bps", 1}}

// measure reads a number with a unit, whose letters may be capital or not.
func measure(text string, units []unit) (uint64, bool) {
	for _, u := range units {
		at := len(text) - len(u.name)
		if at < 0 || !strings.EqualFold(text[at:], u.name) {
			continue
		}
		if v, ok := unsigned(text[:at]); ok && v <= math.MaxUint64/u.worth {
			return v * u.worth, true
		}
		if v, ok := fraction(text[:at]); ok && u.worth > 1 && v*float64(u.worth) < maxFraction {
			return uint64(v * float64(u.worth)), true
		}
	}
	return 0, false
}

// maxFraction bounds what a number with a fraction is worth: up to there a float64 holds it.
const maxFraction = 1 << 53

// fraction reads a number such as 1.5.
func fraction(text string) (float64, bool) {
	whole, part, ok := strings.Cut(text, ".")
	digits := whole + part
	if !ok || whole == "" || part == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// Size reads a size in octets, such as 100, 10kB or 1.5GiB: kB, MB and GB are decimal; KiB, MiB and GiB, and K, M
// and G alone, are binary.
func Size(text string) (uint64, bool) { return measure(text, sizeUnits) }

// size reads a size of at most hi octets.
func size[T ~int | ~int64 | ~uint64](c *compiler, p *T, lo, hi uint64) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		v, ok := Size(n.Text)
		switch {
		case !ok:
			c.Fail(n.Pos, "expected a size such as 100 or 64KiB, not %q", n.Text)
		case v < lo || v > hi:
			c.Fail(n.Pos, "expected a size from %d to %d octets, not %s", lo, hi, n.Text)
		default:
			*p = T(v)
		}
	}
}

// rate reads bits a second.
func (c *compiler) rate(p *int64) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		v, ok := measure(n.Text, rateUnits)
		if !ok || v == 0 || v > 1e15 {
			c.Fail(n.Pos, "expected a rate such as 10Gbps, not %q", n.Text)
			return
		}
		*p = int64(v)
	}
}

// duration reads a time in nanoseconds.
func (c *compiler) duration(p *int64, negative bool) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		d, err := time.ParseDuration(n.Text)
		switch {
		case err != nil:
			c.Fail(n.Pos, "expected a time such as 50us or 1.5s, not %q", n.Text)
		case d < 0 && !negative:
			c.Fail(n.Pos, "a time before the beginning: %s", n.Text)
		case d.Abs() > maxDuration:
			c.Fail(n.Pos, "a time of more than %v: %s", maxDuration, n.Text)
		default:
			*p = int64(d)
		}
	}
}

// share reads a part of a whole: 1% or 0.01.
func (c *compiler) share(p *float64) setter {
	return func(n *node) {
		if !c.Is(n, scalar) {
			return
		}
		digits, percent := strings.CutSuffix(n.Text, "%")
		v, err := strconv.ParseFloat(digits, 64)
		if percent {
			v /= 100
		}
		if err != nil || !(v >= 0 && v <= 1) {
			c.Fail(n.Pos, "expected a share from 0%% to 100%%, not %q", n.Text)
			return
		}
		*p = v
	}
}

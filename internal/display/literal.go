package display

import (
	"bytes"
	"encoding/hex"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// literal gives a value as typed the type of the operand that it stands beside.
func (c *compiler) literal(x *literal, like *operand) (*operand, *Error) {
	o := &operand{expr: x, kind: like.kind, slot: -1, constant: true, field: like.field}
	v, mask, problem := c.value(x, like, o)
	if problem != "" {
		return nil, c.notValue(x, problem)
	}
	o.mask = mask
	one := []fields.Value{v}
	o.values = func(*fields.Row) []fields.Value { return one }
	return o, nil
}

// notValue is the error of a literal that does not fit. A word may have been meant as a field.
func (c *compiler) notValue(x *literal, problem string) *Error {
	e := c.errorAt(x.span, "%s", problem)
	if looksLikeName(x) && strings.ContainsAny(x.text, "._") {
		e.Near = near(strings.TrimPrefix(x.text, "."), c.names())
	}
	return e
}

// show is a literal in a message.
func show(x *literal) string {
	var b strings.Builder
	x.print(&b)
	if x.kind == tokenWord {
		return x.text
	}
	return b.String()
}

// value reads a literal as a value of the kind of an operand; else it says what is wrong.
func (c *compiler) value(x *literal, like, o *operand) (v fields.Value, mask []byte, problem string) {
	switch like.kind {
	case kindBool:
		v, problem = boolValue(x, like.field)
	case kindUint, kindInt, kindSum:
		v, o.kind, problem = integerValue(x, like)
	case kindFloat:
		f, err := strconv.ParseFloat(x.text, 64)
		if err != nil || x.kind != tokenWord && x.kind != tokenString {
			return v, nil, show(x) + " is no number"
		}
		v.Num = math.Float64bits(f)
	case kindTime:
		t, ok := parseTime(x.text)
		if !ok || x.kind == tokenChar {
			return v, nil, show(x) + ` is no time; times are "2026-01-31 12:34:56.789", with Z or +01:00 if they are not local, or seconds since 1970`
		}
		v.Num = uint64(t) //nolint:gosec // signed in Num
	case kindDuration:
		d, ok := parseDuration(x.text)
		if !ok || x.kind == tokenChar {
			return v, nil, show(x) + " is no duration; durations are 1.5 (seconds), 500us, 20ms, 3s, 2min, 1h"
		}
		v.Num = uint64(d) //nolint:gosec // signed in Num
	case kindOctets:
		v.Bytes, problem = octetsValue(x)
	case kindText:
		v.Bytes = []byte(x.text)
	case kindIPv4, kindIPv6:
		v.Bytes, mask, problem = addressValue(x, like.kind)
	case kindEther:
		v.Bytes, problem = etherValue(x)
	}
	return v, mask, problem
}

func boolValue(x *literal, f *fields.Field) (fields.Value, string) {
	switch x.text {
	case "True", "TRUE", "true":
		return fields.Value{Num: 1}, ""
	case "False", "FALSE", "false":
		return fields.Value{}, ""
	}
	if x.kind == tokenChar {
		return fields.Value{Num: min(uint64(x.text[0]), 1)}, ""
	}
	if n, ok := parseUint(x.text); ok && x.kind == tokenWord {
		return fields.Value{Num: min(n, 1)}, ""
	}
	if n, ok := named(f, x.text); ok {
		return fields.Value{Num: n}, ""
	}
	switch strings.ToLower(x.text) { // as Wireshark calls the values of most flags
	case "set", "yes":
		return fields.Value{Num: 1}, ""
	case "not set", "no":
		return fields.Value{}, ""
	}
	return fields.Value{}, show(x) + " is no boolean; those are True, False, 1 and 0"
}

// parseUint reads a number as C and Wireshark do: 0x and 0b, and octal with a 0 before it.
func parseUint(s string) (uint64, bool) {
	if strings.ContainsAny(s, "_oO+") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

// integerValue reads a number, a character or the name of a value.
func integerValue(x *literal, like *operand) (fields.Value, kind, string) {
	if x.kind == tokenChar {
		return fields.Value{Num: uint64(x.text[0])}, kindUint, ""
	}
	digits := strings.TrimPrefix(x.text, "-")
	negative := digits != x.text
	if n, ok := parseUint(digits); ok && x.kind == tokenWord {
		return limited(x, n, negative, like)
	}
	if n, ok := named(like.field, x.text); ok && !like.calculated {
		return fields.Value{Num: n}, kindUint, ""
	}
	switch {
	case like.field != nil && like.field.Names != nil && !like.calculated:
		return fields.Value{}, 0, show(x) + " is no number and no value of " + like.field.Name
	case x.kind == tokenString:
		if _, ok := parseUint(x.text); ok {
			return fields.Value{}, 0, show(x) + " is a string; numbers are without quotes"
		}
	case x.kind == tokenWord && len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789") == "":
		return fields.Value{}, 0, x.text + " is no number: with a 0 before it, it is octal"
	case x.kind == tokenWord && strings.Trim(digits, "0123456789") == "":
		return fields.Value{}, 0, x.text + " does not fit into 64 bits"
	}
	return fields.Value{}, 0, show(x) + " is no number"
}

// limited is a number that the field can have. Of one that it cannot have, a comparison
// would be always or never true, and nobody would see it.
func limited(x *literal, n uint64, negative bool, like *operand) (fields.Value, kind, string) {
	if f := like.field; f != nil && !like.calculated {
		switch wide := width(f); {
		case like.kind == kindUint && negative && n > 0:
			return fields.Value{}, 0, x.text + " is below zero, and " + f.Name + " never is"
		case like.kind == kindUint && wide < 64 && n >= 1<<wide:
			return fields.Value{}, 0, x.text + " is too big for " + f.Name + ", which has " + strconv.Itoa(wide) + " bits"
		}
	}
	if negative {
		return fields.Value{Num: n, Bytes: minus}, kindSum, ""
	}
	return fields.Value{Num: n}, kindUint, ""
}

// width is the bits of the number that Wireshark has for a field.
func width(f *fields.Field) int {
	switch b := f.Bits; {
	case f.Type == fields.Frame:
		return 32
	case b < 1 || b > 32:
		return 64
	case b > 24:
		return 32
	case b > 16:
		return 24
	case b > 8:
		return 16
	}
	return 8
}

// mostNames is how many values of a field are asked for their names.
const mostNames = 1 << 16

// named finds the value of a field that has a name. Upper and lower case are the same.
func named(f *fields.Field, name string) (uint64, bool) {
	if f == nil || name == "" {
		return 0, false
	}
	if n, ok := fields.Alias(f, name); ok || f.Names == nil {
		return n, ok
	}
	most := uint64(mostNames)
	if f.Bits > 0 && f.Bits < 16 {
		most = 1 << f.Bits
	}
	for n := range most {
		if strings.EqualFold(f.Names(n), name) {
			return n, true
		}
	}
	return 0, false
}

// octetsValue reads 0a:0b, 0a-0b, 0a.0b, 0a0b, 0a0b.0c0d, 0x0a, "…" or '…'.
func octetsValue(x *literal) ([]byte, string) {
	if x.kind != tokenWord {
		return []byte(x.text), ""
	}
	s := x.text
	if strings.HasPrefix(s, ":") && !strings.HasPrefix(s, "::") {
		s = s[1:]
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		if n, err := strconv.ParseUint(rest, 16, 8); err == nil && len(rest) <= 2 {
			return []byte{byte(n)}, ""
		}
		return nil, s + " may be in either order of octets; octets are 0a:0b"
	}
	if b, ok := parseOctetGroups(s); ok {
		return b, ""
	}
	return nil, s + ` is no octets; those are 0a:0b, 0a-0b, 0a.0b, 0a0b, 0x0a or "text"`
}

func parseOctetGroups(s string) ([]byte, bool) {
	sep := "\x00"
	if i := strings.IndexAny(s, ":-."); i > 0 {
		sep = s[i : i+1]
	}
	groups := strings.Split(strings.TrimSuffix(s, ":"), sep)
	if len(groups) == 1 && len(groups[0]) > 2 {
		b, err := hex.DecodeString(groups[0])
		return b, err == nil
	}
	var out []byte
	for _, g := range groups {
		if len(g) == 1 {
			g = "0" + g
		}
		b, err := hex.DecodeString(g)
		if err != nil || len(b) == 0 || len(b) > 2 || len(b) == 2 && (sep != "." || len(g) != 4) {
			return nil, false
		}
		out = append(out, b...)
	}
	return out, true
}

func etherValue(x *literal) ([]byte, string) {
	if b, ok := parseOctetGroups(x.text); ok && len(b) == 6 && x.kind != tokenChar {
		return b, ""
	}
	return nil, show(x) + " is no Ethernet address; those are 02:00:00:00:00:01"
}

// addressValue reads an address, with a prefix or without one.
func addressValue(x *literal, k kind) (b, mask []byte, problem string) {
	what := map[kind]string{kindIPv4: "IPv4", kindIPv6: "IPv6"}[k]
	text, bits, prefix := strings.Cut(x.text, "/")
	a, err := netip.ParseAddr(text)
	if err != nil || x.kind == tokenChar || a.Zone() != "" || a.Is4() != (k == kindIPv4) {
		problem = show(x) + " is no " + what + " address"
		if err != nil && looksLikeName(x) {
			problem += "; names of hosts are not looked up"
		}
		return nil, nil, problem
	}
	b = a.AsSlice()
	if !prefix {
		return b, nil, ""
	}
	n, err := strconv.Atoi(bits)
	if err != nil || n < 0 || n > 8*len(b) || len(bits) > 3 {
		return nil, nil, "the prefix of an " + what + " address is 0 to " + strconv.Itoa(8*len(b)) + " bits"
	}
	mask = bytes.Repeat([]byte{0xff}, len(b))
	for i := range mask {
		mask[i] <<= max(0, min(8, 8*(i+1)-n))
	}
	return b, mask, ""
}

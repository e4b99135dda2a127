package e2e

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// filterMaker makes random filters of the language that tshark 4.0 has, over fields and
// values that a capture has, so that about half of them match something.
type filterMaker struct {
	r *rand.Rand
	// known are the fields, and values those that the capture has of each.
	known  []*fields.Field
	values map[*fields.Field][]fields.Value
	// groups are the fields of one type: they can be compared with each other.
	groups map[fields.Type][]*fields.Field
	// names are those of tshark, of the values of fields.
	names  map[string]map[uint64]string
	theirs map[*fields.Field]theirField
}

func newFilterMaker(seed uint64, known []*fields.Field, values map[*fields.Field][]fields.Value, theirs map[*fields.Field]theirField) *filterMaker {
	m := &filterMaker{r: rand.New(rand.NewPCG(18, seed)), values: values, groups: map[fields.Type][]*fields.Field{}, theirs: theirs}
	for _, f := range known {
		if len(values[f]) > 0 || m.r.IntN(4) == 0 { // of those that are not there, some
			m.known = append(m.known, f)
			m.groups[f.Type] = append(m.groups[f.Type], f)
		}
	}
	return m
}

func pick[T any](m *filterMaker, of ...T) T { return of[m.r.IntN(len(of))] }

// filter is one to four tests.
func (m *filterMaker) filter(deep int) string {
	switch n := m.r.IntN(10); {
	case deep == 0 || n < 5:
		return m.test()
	case n < 7:
		return m.filter(deep-1) + pick(m, " and ", " && ", "&&") + m.filter(deep-1)
	case n < 9:
		return m.filter(deep-1) + pick(m, " or ", " || ", "||") + m.filter(deep-1)
	}
	return pick(m, "not ", "!", "! ") + "(" + m.filter(deep-1) + ")"
}

// test is one test of a field.
func (m *filterMaker) test() string {
	f := pick(m, m.known...)
	not := ""
	if m.r.IntN(8) == 0 {
		not = pick(m, "not ", "!")
	}
	if m.r.IntN(12) == 0 {
		return not + f.Name
	}
	switch f.Type {
	case fields.Bool:
		return not + m.boolean(f)
	case fields.Uint, fields.Int, fields.Frame:
		return not + m.number(f)
	case fields.Octets:
		return not + m.octets(f, f.Name)
	case fields.Text:
		return not + m.text(f)
	case fields.IPv4, fields.IPv6, fields.Ether:
		return not + m.address(f)
	case fields.Duration:
		return not + m.duration(f)
	case fields.Time:
		return not + m.time(f)
	case fields.None:
		if m.theirs[f].protocol && len(m.values[f]) > 0 && len(m.value(f).Bytes) > 0 {
			return not + m.octets(f, f.Name)
		}
	case fields.Float:
	}
	return not + f.Name
}

// value is one that the capture has, if it has one.
func (m *filterMaker) value(f *fields.Field) fields.Value {
	if vs := m.values[f]; len(vs) > 0 {
		return pick(m, vs...)
	}
	return fields.Value{Num: uint64(m.r.IntN(5)), Bytes: []byte("\x0a\x01\x00\x02abcdefghijklmnop")[:m.octetsOf(f)]}
}

func (*filterMaker) octetsOf(f *fields.Field) int {
	switch f.Type {
	case fields.IPv4:
		return 4
	case fields.IPv6:
		return 16
	case fields.Ether:
		return 6
	}
	return 8
}

func (m *filterMaker) quantifier() string {
	if m.r.IntN(5) > 0 {
		return ""
	}
	return pick(m, "any ", "all ")
}

func (m *filterMaker) comparison() string {
	return pick(m, "==", "==", "eq", "any_eq", "!=", "ne", "all_ne", "~=", "!==", "any_ne", "===", "all_eq", ">", "gt", "<", "lt", ">=", "ge", "<=", "le")
}

// relation writes a comparison, with spaces where there must be some.
func (m *filterMaker) relation(x, y string) string {
	op := m.comparison()
	if op[0] < 'a' && m.r.IntN(4) == 0 {
		return m.quantifier() + x + op + y
	}
	return m.quantifier() + x + " " + op + " " + y
}

func (m *filterMaker) boolean(f *fields.Field) string {
	if m.r.IntN(6) == 0 {
		return m.relation(f.Name, pick(m, m.groups[f.Type]...).Name)
	}
	if name := m.names[f.Name][uint64(m.r.IntN(2))]; strings.EqualFold(strings.TrimPrefix(name, "Not "), "set") && m.r.IntN(4) == 0 {
		return m.relation(f.Name, strconv.Quote(name))
	}
	return m.relation(f.Name, pick(m, "1", "0", "True", "False", "TRUE", "FALSE", "0x1"))
}

// limit is the greatest number that a field has here and in tshark.
func (m *filterMaker) limit(f *fields.Field) uint64 {
	bits := m.theirs[f].bits
	if f.Bits > 0 {
		bits = min(bits, (f.Bits+7)/8*8)
	}
	return 1<<bits - 1
}

// near is a value of the field, or one beside it.
func (m *filterMaker) near(f *fields.Field) uint64 {
	n := m.value(f).Num
	switch m.r.IntN(8) {
	case 0:
		return min(n, m.limit(f)-1) + 1
	case 1:
		return max(n, 1) - 1
	case 2:
		return m.r.Uint64() & m.limit(f)
	}
	return n
}

// written is a number in one of the ways that C has.
func (m *filterMaker) written(n uint64) string {
	switch m.r.IntN(8) {
	case 0:
		return "0" + strconv.FormatUint(n, 8)
	case 1:
		return "0b" + strconv.FormatUint(n, 2)
	case 2, 3:
		return "0x" + strconv.FormatUint(n, 16)
	}
	return strconv.FormatUint(n, 10)
}

func (m *filterMaker) constant(f *fields.Field) string {
	if f.Type == fields.Int {
		return strconv.FormatInt(int64(m.value(f).Num)+int64(m.r.IntN(3)-1), 10)
	}
	n := m.near(f)
	if m.r.IntN(3) == 0 {
		if name := m.names[f.Name][m.value(f).Num]; name != "" {
			return strconv.Quote(name)
		}
	}
	return m.written(n)
}

func (m *filterMaker) number(f *fields.Field) string {
	same := func() string { return pick(m, m.groups[f.Type]...).Name }
	small := f.Type != fields.Int && m.value(f).Num < 1<<15 // within what tshark calculates
	switch m.r.IntN(14) {
	case 0, 1:
		return m.set(f, f.Name)
	case 2:
		if f.Type != fields.Int {
			return f.Name + pick(m, " & ", "&", " bitwise_and ") + m.written(m.near(f))
		}
	case 3:
		if f.Type != fields.Int {
			mask := m.near(f) | 1
			return m.relation(fmt.Sprintf("%s & %d", f.Name, mask), m.written(m.near(f)&mask))
		}
	case 4:
		if small {
			return m.calculation(f)
		}
	case 5:
		return m.relation(f.Name, same())
	case 6:
		return m.relation("count("+f.Name+")", strconv.Itoa(1+m.r.IntN(4)))
	case 7:
		if f.Type != fields.Int {
			digits := strconv.FormatUint(m.value(f).Num, 10)
			return m.quantifier() + "string(" + f.Name + ")" + pick(m, " matches \"^", " ~ \"", " contains \"") + digits[m.r.IntN(len(digits)):] + `"`
		}
	case 8:
		if f.Type != fields.Int {
			return m.relation(pick(m, "max(", "min(")+f.Name+")", m.written(m.near(f)))
		}
	case 9:
		if small && f.Type == fields.Uint {
			return m.relation(f.Name, "{"+f.Name+" + "+strconv.Itoa(m.r.IntN(3))+"}")
		}
	}
	return m.relation(f.Name, m.constant(f))
}

// calculation stays within what fits into the type of the field: tshark has no values
// beyond it.
func (m *filterMaker) calculation(f *fields.Field) string {
	n, k := m.value(f).Num, uint64(1+m.r.IntN(7))
	switch m.r.IntN(6) {
	case 0:
		return m.relation(fmt.Sprintf("%s / %d", f.Name, k), strconv.FormatUint(n/k, 10))
	case 1:
		return m.relation(fmt.Sprintf("%s %% %d", f.Name, k), strconv.FormatUint(n%k, 10))
	case 2:
		if 7*n < m.limit(f) {
			return m.relation(fmt.Sprintf("%s * %d", f.Name, k), strconv.FormatUint(n*k, 10))
		}
	case 3:
		if n+7 < m.limit(f) {
			return m.relation(fmt.Sprintf("%s + %d", f.Name, k), strconv.FormatUint(n+k, 10))
		}
	case 4:
		if n >= 7 {
			return m.relation(fmt.Sprintf("%s - %d", f.Name, k), strconv.FormatUint(n-k, 10))
		}
	}
	return m.relation(fmt.Sprintf("{%s & 0xff} + %d", f.Name, 0), strconv.FormatUint(n&0xff, 10))
}

// set is a field in a set of its values, and of others. Of what tshark makes of all in
// front of a set, TestFilterFaults_Tshark tells.
func (m *filterMaker) set(f *fields.Field, name string) string {
	var members []string
	for range 1 + m.r.IntN(4) {
		if m.r.IntN(3) > 0 {
			members = append(members, m.member(f))
			continue
		}
		members = append(members, m.member(f)+pick(m, "..", " .. ")+m.member(f))
	}
	return strings.TrimPrefix(m.quantifier(), "all ") + name + pick(m, " in ", " in ", " not in ") + "{" + strings.Join(members, pick(m, ",", ", ")) + "}"
}

func (m *filterMaker) member(f *fields.Field) string {
	switch f.Type {
	case fields.Octets:
		return m.bytes(m.value(f).Bytes)
	case fields.Text:
		return quote(m.value(f).Bytes)
	case fields.IPv4, fields.IPv6:
		a, _ := netip.AddrFromSlice(m.value(f).Bytes)
		return a.String()
	case fields.Ether:
		return colons(m.value(f).Bytes)
	case fields.Duration:
		return m.seconds(f)
	case fields.Int:
		return m.constant(f)
	}
	return m.written(m.near(f))
}

func colons(b []byte) string {
	parts := make([]string, len(b))
	for i, c := range b {
		parts[i] = hex.EncodeToString([]byte{c})
	}
	return strings.Join(parts, ":")
}

// bytes are octets in one of their spellings; tshark takes words of a digit and letters
// for fields, so that one octet is written as 0x.
func (m *filterMaker) bytes(b []byte) string {
	if len(b) == 0 {
		return `""`
	}
	if len(b) == 1 {
		return fmt.Sprintf("0x%02x", b[0])
	}
	if m.r.IntN(6) == 0 {
		return quote(b)
	}
	return colons(b)
}

// quote is a string that has the octets; what is not plain is escaped.
func quote(b []byte) string {
	var s strings.Builder
	s.WriteByte('"')
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&s, `\x%02x`, c)
		} else {
			s.WriteByte(c)
		}
	}
	return s.String() + `"`
}

// part is a part of octets, not long, that may be changed.
func (m *filterMaker) part(b []byte) []byte {
	if len(b) == 0 {
		return []byte{0}
	}
	from := m.r.IntN(len(b))
	p := slices.Clone(b[from:min(len(b), from+1+m.r.IntN(6))])
	if m.r.IntN(6) == 0 {
		p[m.r.IntN(len(p))]++
	}
	return p
}

// slice is a slice of octets, and what stands there.
func (m *filterMaker) slice(b []byte) (string, []byte) {
	n := max(len(b), 1)
	i := m.r.IntN(n)
	j := i + 1 + m.r.IntN(min(4, n))
	have := func(from, to int) []byte {
		if from < 0 || to > len(b) || from >= to {
			return []byte{7}
		}
		return b[from:to]
	}
	switch m.r.IntN(9) {
	case 0:
		return fmt.Sprintf("[%d]", i), have(i, i+1)
	case 1:
		if j-1 > i {
			return fmt.Sprintf("[%d-%d]", i, j-1), have(i, j)
		}
	case 2:
		return fmt.Sprintf("[:%d]", j), have(0, j)
	case 3:
		return fmt.Sprintf("[%d:]", i), have(i, len(b))
	case 4:
		return fmt.Sprintf("[%d]", i-n), have(i, i+1)
	case 5:
		return fmt.Sprintf("[%d:%d]", i-n, j-i), have(i, j)
	case 6:
		return fmt.Sprintf("[%d,%d:%d]", i, i, j-i), append(slices.Clone(have(i, i+1)), have(i, j)...)
	}
	return fmt.Sprintf("[%d:%d]", i, j-i), have(i, j)
}

func (m *filterMaker) octets(f *fields.Field, name string) string {
	v := m.value(f).Bytes
	switch m.r.IntN(8) {
	case 0:
		return m.quantifier() + name + " contains " + m.bytes(m.part(v))
	case 1:
		return m.quantifier() + name + pick(m, " matches ", " ~ ") + m.pattern(v)
	case 2:
		return m.relation("len("+name+")", strconv.Itoa(max(0, len(v)+m.r.IntN(3)-1)))
	case 3:
		if f.Type != fields.None && len(v) < 64 {
			return m.set(f, name)
		}
	case 4:
		if len(v) < 64 {
			return m.relation(name, m.bytes(v))
		}
	case 5:
		s, b := m.slice(v)
		if len(b) < 64 {
			return name + s + " & " + colons(append(slices.Clone(b), 0xff))
		}
	case 6:
		s, _ := m.slice(v)
		return name + s
	}
	s, b := m.slice(v)
	if len(b) > 64 {
		b = b[:64]
	}
	if m.r.IntN(6) == 0 {
		b = m.part(b)
	}
	return m.relation(name+s, m.bytes(b))
}

// pattern is a regular expression that part of the octets matches.
func (m *filterMaker) pattern(v []byte) string {
	var s strings.Builder
	if m.r.IntN(5) == 0 {
		s.WriteByte('^')
	}
	for _, c := range m.part(v) {
		switch n := m.r.IntN(6); {
		case n == 0:
			s.WriteByte('.')
		case n == 1:
			fmt.Fprintf(&s, `[\x%02x-\x%02x]`, c&0xf0, c|0x0f)
		case n == 2 && c >= '0' && c <= '9':
			s.WriteString(`\d`)
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			s.WriteByte(c)
		default:
			fmt.Fprintf(&s, `\x%02x`, c)
		}
		if m.r.IntN(8) == 0 {
			s.WriteString(pick(m, "+", "*", "?", "{1,3}"))
		}
	}
	if m.r.IntN(8) == 0 {
		s.WriteByte('$')
	}
	return `r"` + s.String() + `"`
}

func (m *filterMaker) text(f *fields.Field) string {
	v := m.value(f).Bytes
	switch m.r.IntN(7) {
	case 0:
		return m.quantifier() + f.Name + " contains " + quote(m.part(v))
	case 1:
		return m.quantifier() + f.Name + pick(m, " matches ", " ~ ") + m.pattern(v)
	case 2:
		return m.quantifier() + pick(m, "upper", "lower") + "(" + f.Name + ") contains " + quote(m.part(v))
	case 3:
		return m.relation("len("+f.Name+")", strconv.Itoa(len(v)))
	case 4:
		return m.set(f, f.Name)
	case 5:
		s, b := m.slice(v)
		return m.relation(f.Name+s, quote(b))
	}
	return m.relation(f.Name, quote(v))
}

func (m *filterMaker) address(f *fields.Field) string {
	v := m.value(f).Bytes
	a, _ := netip.AddrFromSlice(v)
	switch n := m.r.IntN(8); {
	case n == 0:
		return m.set(f, f.Name)
	case n == 1:
		s, b := m.slice(v)
		return m.relation(f.Name+s, m.bytes(b))
	case n == 2:
		return m.relation(f.Name, pick(m, m.groups[f.Type]...).Name)
	case n == 3:
		return m.relation("count("+f.Name+")", strconv.Itoa(1+m.r.IntN(3)))
	case f.Type == fields.Ether && n == 4:
		return f.Name + " contains " + colons(v[:2+m.r.IntN(3)])
	case f.Type == fields.Ether:
		return m.relation(f.Name, colons(v))
	case n == 4:
		text := a.String()
		return "string(" + f.Name + `) contains "` + text[m.r.IntN(len(text)):] + `"`
	case n == 5:
		return m.relation(f.Name, fmt.Sprintf("%s/%d", a, m.r.IntN(len(v)*8+1)))
	}
	return m.relation(f.Name, a.String())
}

func (m *filterMaker) seconds(f *fields.Field) string {
	d := time.Duration(m.value(f).Num) + time.Duration(m.r.IntN(3)-1)
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%d.%09d", sign, d/time.Second, d%time.Second)
}

func (m *filterMaker) duration(f *fields.Field) string {
	switch m.r.IntN(5) {
	case 0:
		return m.set(f, f.Name)
	case 1:
		return m.relation(f.Name, pick(m, m.groups[f.Type]...).Name)
	case 2:
		return m.relation(f.Name+" + "+f.Name, m.seconds(f))
	}
	return m.relation(f.Name, m.seconds(f))
}

func (m *filterMaker) time(f *fields.Field) string {
	t := time.Unix(0, int64(m.value(f).Num)).UTC()
	return m.relation(f.Name, `"`+t.Format(pick(m, "2006-01-02 15:04:05.999999999Z", "2006-01-02T15:04:05Z", "2006-01-02 15:04:05.000000000+00:00"))+`"`)
}

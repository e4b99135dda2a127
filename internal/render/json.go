package render

import (
	"strconv"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// object builds one JSON object into a buffer.
type object struct {
	b     []byte
	comma bool
}

func (o *object) open()  { o.sep(); o.b = append(o.b, '{'); o.comma = false }
func (o *object) close() { o.b = append(o.b, '}'); o.comma = true }

func (o *object) openList()  { o.sep(); o.b = append(o.b, '['); o.comma = false }
func (o *object) closeList() { o.b = append(o.b, ']'); o.comma = true }

// sep puts a comma between members.
func (o *object) sep() {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = false
}

// key starts a member; names are plain ASCII.
func (o *object) key(name string) {
	o.sep()
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) str(name, v string) { o.key(name); o.b = appendJSONString(o.b, v); o.comma = true }
func (o *object) uint(name string, v uint64) {
	o.key(name)
	o.b = appendUint(o.b, v)
	o.comma = true
}

func (o *object) int(name string, v int64) {
	o.key(name)
	o.b = appendInt(o.b, v)
	o.comma = true
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
	o.comma = true
}

func (o *object) time(name string, ns int64) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = appendTime(o.b, ns)
	o.b = append(o.b, '"')
	o.comma = true
}

func (o *object) uints(name string, v []uint64) {
	o.key(name)
	o.b = append(o.b, '[')
	for i, n := range v {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendUint(o.b, n)
	}
	o.b = append(o.b, ']')
	o.comma = true
}

// appendJSONString appends a JSON string; octets that are not UTF-8 become the
// replacement character.
func appendJSONString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	from := len(b)
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c < 0x20 || c == 0x7f:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b = visible.AppendJSONRune(b, r)
		i += n
	}
	return append(visible.Defuse(b, from, `\u005b`), '"')
}

package details

import (
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// AppendColumnText appends text of the capture for a column. Control characters are escaped
// as in C, or, without escape, become spaces, so that a line stays a line; octets that are
// not UTF-8 become the replacement character; a quote, if it is not 0, is written twice.
func AppendColumnText(b, s []byte, quote byte, escape bool) []byte {
	const digits = "0123456789abcdef"
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		c := s[0]
		s = s[n:]
		switch {
		case r >= utf8.RuneSelf && visible.Hidden(r):
			b = append(b, "\ufffd"...)
		case r >= utf8.RuneSelf:
			b = utf8.AppendRune(b, r)
		case quote != 0 && c == quote:
			b = append(b, c, c)
		case c >= 0x20 && c != 0x7f && (c != '\\' || !escape):
			b = append(b, c)
		case !escape:
			b = append(b, ' ')
		default:
			b = append(b, '\\')
			switch c {
			case '\\':
				b = append(b, '\\')
			case '\n':
				b = append(b, 'n')
			case '\r':
				b = append(b, 'r')
			case '\t':
				b = append(b, 't')
			default:
				b = append(b, 'x', digits[c>>4], digits[c&15])
			}
		}
	}
	return b
}

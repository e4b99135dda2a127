package render

import "github.com/iwdissect/iwdissect/internal/decimal"

func appendUint(b []byte, v uint64) []byte { return decimal.Append(b, v) }

func appendInt(b []byte, v int64) []byte { return decimal.AppendInt(b, v) }

// appendFixed appends the last digits of a number, with leading zeros.
func appendFixed(b []byte, v uint64, n int) []byte { return decimal.AppendFixed(b, v, n) }

// appendWord appends a member whose value needs no escapes.
func appendWord(b []byte, key, v string) []byte {
	b = append(b, key...)
	b = append(b, '"')
	b = append(b, v...)
	return append(b, '"')
}

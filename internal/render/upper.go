package render

import "github.com/iwdissect/iwdissect/trace"

// appendUpper says what a PDU is to the upper layer.
func appendUpper(b []byte, u *trace.Upper) []byte {
	if u == nil || len(u.Info) == 0 {
		return b
	}
	if u.Linked {
		b = append(b, ", for "...)
	} else {
		b = append(b, ": "...)
	}
	b = append(b, u.Info...)
	if u.By == trace.ByPort {
		b = append(b, " [by port]"...)
	}
	return b
}

package render

import (
	"encoding/hex"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// PayloadForm is how the payload of a message is shown in text.
type PayloadForm uint8

// The forms: sixteen octets a line in hexadecimal and as text; text alone, of which a line
// feed begins a line and other octets that are no ASCII are dots; digits in one line.
const (
	PayloadHex PayloadForm = iota
	PayloadASCII
	PayloadRaw
)

// payloadIndent stands before each line of a payload.
const payloadIndent = "    "

// appendPayload shows the octets of a payload that are asked for, and counts the others.
func appendPayload(b []byte, e *spoken, form PayloadForm) []byte {
	if len(e.payload) == 0 {
		return b
	}
	switch form {
	case PayloadHex:
		b = appendHexDump(b, e.payload, nil)
	case PayloadASCII:
		b = append(appendASCII(append(b, payloadIndent...), e.payload), '\n')
	case PayloadRaw:
		b = append(hex.AppendEncode(append(b, payloadIndent...), e.payload), '\n')
	}
	if more := e.length - e.missing - int64(len(e.payload)); more > 0 {
		b = append(b, "    ... "...)
		b = append(append(b, diagnose.Counted(uint64(more), "octet", "octets")...), " more\n"...)
	}
	return b
}

func appendASCII(b, octets []byte) []byte {
	for i, c := range octets {
		switch {
		case c == '\n' && i+1 < len(octets):
			b = append(append(b, '\n'), payloadIndent...)
		case c == '\n':
		case c < 0x20 || c > 0x7e:
			b = append(b, '.')
		default:
			b = append(b, c)
		}
	}
	return b
}

package render

import (
	"bytes"
	"encoding/hex"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/visible"
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
		for line := range bytes.Lines(e.payload) {
			b = append(b, payloadIndent...)
			from := len(b)
			b = appendPrintable(b, bytes.TrimSuffix(line, []byte("\n")))
			b = append(visible.DefuseLine(b, from, ".", "."), '\n')
		}
	case PayloadRaw:
		b = append(hex.AppendEncode(append(b, payloadIndent...), e.payload), '\n')
	}
	if more := e.length - e.missing - int64(len(e.payload)); more > 0 {
		b = append(b, "    ... "...)
		b = append(append(b, diagnose.Counted(uint64(more), "octet", "octets")...), " more\n"...)
	}
	return b
}

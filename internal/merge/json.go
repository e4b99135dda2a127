package merge

import (
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// JSON writes the summary as a document. What a terminal could obey is escaped in it.
func (s *Summary) JSON(w io.Writer) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	b := make([]byte, 0, len(text)+1)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == 0x7f:
			b = append(b, `\u007f`...)
		case r < utf8.RuneSelf:
			b = append(b, text[i])
		default: // only in strings
			b = visible.AppendJSONRune(b, r)
		}
		i += n
	}
	_, err = w.Write(append(visible.Defuse(b, 0, `\u005b`), '\n'))
	return err
}

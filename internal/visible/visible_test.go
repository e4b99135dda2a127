package visible

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"captures/a b.pcap":           "captures/a b.pcap",
		"Größe 木\u00a0é.pcap":         "Größe 木\u00a0é.pcap",
		"می\u200cخواهم":               "می\u200cخواهم",
		"a\n::error::b":               `a\n::error::b`,
		"\x1b[31m\x07\r\t\x7f":        `\x1b[31m\x07\r\t\x7f`,
		"\u009b31m":                   `\x9b31m`,
		"a\u202eb\u2066\u200f\u061c":  `a\u202eb\u2066\u200f\u061c`,
		"a\xffb\xc3":                  `a\xffb\xc3`,
		"\u2028\u2029\ufeff":          `\u2028\u2029\ufeff`,
		"::error::x":                  `\x3a:error::x`,
		" ::error::x":                 ` \x3a:error::x`,
		"::1":                         "::1",
		"a ##[error]b ##vso[c]":       `a ##\x5berror]b ##vso\x5bc]`,
		"\U000e0041":                  `\U000e0041`,
		`C:\traces\new.pcap "quoted"`: `C:\traces\new.pcap "quoted"`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\n::error::\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Hidden) || Text(got) != got {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

// place is an error as those of filters are.
type place string

func (e place) Error() string { return string(e) }
func (e place) Excerpt()      {}

type list []string

func (e list) Error() string   { return strings.Join(e, "\n") }
func (e list) Lines() []string { return append([]string(nil), e...) }

// TestError: only errors that have lines of their own have several.
func TestError(t *testing.T) {
	bad := "a\n::error::b"
	missing := &fs.PathError{Op: "open", Path: bad, Err: fs.ErrNotExist}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "plain"},
		{missing, `open a\n::error::b: file does not exist`},
		{fmt.Errorf("%s: %w", bad, missing), `a\n::error::b: open a\n::error::b: file does not exist`},
		{errors.Join(missing, errors.New("::error::x")), "open a\\n::error::b: file does not exist\n\\x3a:error::x"},
		{fmt.Errorf("-Y: %w", place("bad\n  ::x\x1b::\n  ^^")), "-Y: bad\n  .:x.::\n  ^^"},
		{fmt.Errorf("%w", place(bad+": no\n  x\n  ^")), "a\\n::error::b: no\n  x\n  ^"},
		{list{"head:", "  " + bad}, "head:\n  a\\n::error::b"},
	} {
		if got := Error(tt.err); got != tt.want {
			t.Errorf("%q: %q, not %q", tt.err, got, tt.want)
		}
	}
}

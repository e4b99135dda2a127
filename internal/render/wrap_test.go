package render

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	const red, off = "\x1b[31m", "\x1b[0m"
	for _, c := range []struct {
		name          string
		width, indent int
		text, want    string
	}{
		{"not wrapped", 0, 4, "one two three", "one two three\n"},
		{"fits", 13, 4, "one two three", "one two three\n"},
		{"hanging indent", 12, 4, "one two three four", "one two\n    three\n    four\n"},
		{"blanks are kept", 14, 2, "ERROR  conn 0  reset", "ERROR  conn 0\n  reset\n"},
		{"blanks at the front", 10, 4, "    one two", "    one\n    two\n"},
		{"own lines", 9, 2, "one two\nthree four", "one two\n  three\n  four\n"},
		{"long word", 10, 2, "see fe80::1234:5678:9abc now", "see\n  fe80::1234:5678:9abc\n  now\n"},
		{"wide letters", 9, 1, "日本 日本 日本", "日本 日本\n 日本\n"},
		{"colour of a word", 9, 2, "is " + red + "bad" + off + " here", "is " + red + "bad" + off + "\n  here\n"},
		{"colour over lines", 8, 2, red + "one two three" + off + " four", red + "one two" + off + "\n  " + red + "three" + off + "\n  four\n"},
		{"arrow", 12, 2, "1.2.3.4:56 > 7.8.9.0:12", "1.2.3.4:56 >\n  7.8.9.0:12\n"},
		{"nothing", 8, 2, "", "\n"},
		{"too narrow", 2, 8, "a b", "a\n        b\n"},
	} {
		var b strings.Builder
		if err := wrap(&b, c.width, c.indent, c.text); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if err := wrap(&full{3}, 4, 0, "one two"); err == nil {
		t.Error("the error of the writer is lost")
	}
}

// TestBreakLines_Cut: in a column of a table a word is cut, since the next column
// begins there.
func TestBreakLines_Cut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want string
	}{
		{"abcdefgh", "abcd|efgh"},
		{"ab cdefgh", "ab|cdef|gh"},
		{"日本日", "日本|日"},
		{"\x1b[31mabcdef\x1b[0m", "\x1b[31mabcd\x1b[0m|\x1b[31mef\x1b[0m"},
	} {
		if got := strings.Join(breakLines(c.text, 4, 4, true), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

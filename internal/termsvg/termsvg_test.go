package termsvg

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestDraw: colours and bold type become styles, markup is escaped, long lines are
// wrapped, and the picture is well-formed XML.
func TestDraw(t *testing.T) {
	got, err := Draw("plain \x1b[1;31mred & <bold>\x1b[0m\n123456789012345678901234567890\n", Options{Title: "a \"title\"", Columns: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`>plain </text>`, `style="font-weight:bold;fill:#ff7b72">red &amp; &lt;bold&gt;</text>`, `>12345678901234567890</text>`, `>1234567890</text>`,
		`aria-label="a &#34;title&#34;"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	wellFormed(t, got)
}

// TestDraw_Unknown: a sequence that would be lost silently is an error.
func TestDraw_Unknown(t *testing.T) {
	for _, text := range []string{"\x1b[5mblinks\n", "\x1b[2J", "\x1b[xm"} {
		if got, err := Draw(text, Options{Columns: 80}); err == nil {
			t.Errorf("%q was drawn: %s", text, got)
		}
	}
}

// TestPicture: the picture in the README is that of the output that the tests of the
// program check.
func TestPicture(t *testing.T) {
	text, err := os.ReadFile("../../internal/program/testdata/check.ansi")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/images/check.svg")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Draw(string(text), Options{Title: "iwdissect check term-wbadkey.pcap", Columns: 116})
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("docs/images/check.svg shows something else; go generate ./internal/termsvg draws it again")
	}
	wellFormed(t, got)
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
	}
}

package view_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/view"
	"github.com/iwdissect/iwdissect/internal/view/viewtest"
)

// hostile is text that would leave its place on a terminal: escape sequences of seven and of
// eight bits, marks of direction, letters that run from right to left, marks that are stacked on
// a letter, ends of lines, characters of unknown width, octets that are not UTF-8, and what a
// build service would obey.
const hostile = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202egpj.exe\u2066\u05d0\u05d1\u0627\u0628a\u0301\u0302\u0303\u0304\u0305\r\n\t\x00\x7f\u2028\ufe0f\U0001f468\u200d\U0001f469\U000e0041\ue000\xff\xfe字\xc3::error::x ##[error]y"

// comment puts a comment on the packet of each Enhanced Packet Block of a little-endian pcapng
// file.
func comment(t *testing.T, file, text string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	option := binary.LittleEndian.AppendUint16(nil, 1)
	option = binary.LittleEndian.AppendUint16(option, uint16(len(text)))
	option = append(option, text...)
	for len(option)%4 != 0 {
		option = append(option, 0)
	}
	option = append(option, 0, 0, 0, 0)
	var out []byte
	for len(b) >= 12 {
		kind, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		block := b[:size]
		b = b[size:]
		if kind == 6 {
			captured := (binary.LittleEndian.Uint32(block[20:]) + 3) / 4 * 4
			body := append(append([]byte(nil), block[8:28+captured]...), option...)
			total := uint32(len(body)) + 12
			block = binary.LittleEndian.AppendUint32(nil, kind)
			block = binary.LittleEndian.AppendUint32(block, total)
			block = append(block, body...)
			block = binary.LittleEndian.AppendUint32(block, total)
		}
		out = append(out, block...)
	}
	path := filepath.Join(t.TempDir(), "hostile.pcapng")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Hostile text in names, comments and private data stays in its place: each line has its width,
// and there is no sequence but those of colours.
func TestView_Hostile(t *testing.T) {
	path := comment(t, filepath.Join(pcaps, "generated/mpa-private-data.pcapng"), hostile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The private data, too: the octets are shown as text beside the hexadecimal.
	at := strings.Index(string(b), "MPA ID Req Frame")
	if at < 0 {
		t.Fatal("no startup frame")
	}
	copy(b[at+20:at+28], "\x1b[2J\x9b1m\xff")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	src := sourceOf(path)
	src.Name = hostile
	m := view.NewModel(t.Context(), view.NewCapture(src), false)
	for _, width := range []int{40, 80, 150, 250} {
		x := viewtest.Start(t, m, width, 60)
		x.Wait()
		viewtest.Fits(t, m, width, 60)
		x.Press("tab", "home", "enter") // the layer of the frame, with the comment
		viewtest.Fits(t, m, width, 60)
		if width == 250 {
			x.Wants(`\x1b[2J`, `\u202egpj.exe`, `\u05d0`, `\xff`)
		}
		x.Press("z", "end", "z", "esc", "shift+tab", "f", "down", "esc", "1", "2", "3")
		viewtest.Fits(t, m, width, 60)
		x.Press("/")
		x.Type(hostile)
		viewtest.Fits(t, m, width, 60)
		x.Press("enter", "left", "left")
		viewtest.Fits(t, m, width, 60)
		x.Press("esc", "esc")
		for _, r := range []string{"\u202e", "\u2066", "\u05d0", "\u009b", "\ufe0f", "\u200d", "owned\x07"} {
			if strings.Contains(x.Painted(), r) {
				t.Errorf("%q is on the screen", r)
			}
		}
	}
}

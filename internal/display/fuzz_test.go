package display

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// FuzzCompile: no text and no row makes it panic; errors have a place within the text,
// and what a filter prints is the same filter, which matches the same rows.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"iwarp_rdma.opcode == 0x7 && ip.addr == 10.0.0.0/8", "tcp.port in {1, 3..5} or not ip.src[0:2] == 0a:01",
		`frame.protocols matches r"^eth.*\w$" xor upper(frame.protocols) contains "A\x00\u00e9"`, "all tcp.port - 1 > tcp.len & 7 % 3",
		`frame.time > "2026-01-01 00:00:00Z" and frame.time_relative <= 1.5ms`, "max(tcp.len, 3) === abs(-tcp.window_size_scalefactor)",
		"ipv6.src == fe80::/10", "eth.addr[0,2-3,-1:] & ff == '\\n'", "{tcp.len + 1} * 2 == -{-3}", "tcp.flags.syn < True", "iwd.ratio / 3 > 0.1",
		"tcp.window_size_scalefactor == -2 == iwarp_ddp.tagged_offset", `string(ip.src) ~ "$" || count(ip.addr) > 1 || len(tcp) < 4`,
	} {
		f.Add(seed, []byte("\x01abcdefgh\x04wxyz\x02abcdefgh\x01w"))
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		filter, err := Compile(text, find, names)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Message == "" || e.Column < 1 || e.Column > utf8.RuneCountInString(e.Text)+1 {
				t.Fatalf("%q: %#v", text, err)
			}
			_ = e.Error()
			return
		}
		printed := filter.String()
		if len(printed) > longest {
			return
		}
		same, err := Compile(printed, find, names)
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, printed, err)
		}
		if same.String() != printed {
			t.Fatalf("%q prints as %q, and that as %q", text, printed, same)
		}
		row := random(data, filter)
		if got := filter.Match(row); got != same.Match(row) || got != filter.Match(row) {
			t.Fatalf("%q and %q do not match alike", text, printed)
		}
		for n := range 3 {
			early := func(f *fields.Field) bool { return (len(f.Name)+n)%3 > 0 || n == 2 }
			if got, ok := splitMatch(filter, early, row); ok && got != filter.Match(row) {
				t.Fatalf("%q is %v when it is split (%d)", text, got, n)
			}
		}
	})
}

package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// badTexts are texts in captures that would be obeyed.
var badTexts = []string{
	"::error file=a,line=1::text", " \t::add-mask::a", "a\n::error::b", "##[error]text", "##vso[task.complete]",
	"\x1b]0;title\x07\x1b[31m", "\u009b31m\u202e\u2066\u061c", "\xff\xfe\x9b", "</proto><field name=\"x\"/>&amp;", "\",\"x\":\"", "a\r::error::b", "\x00\x08\x7f",
}

// badCapture is a capture with a text wherever a capture has text: comments, what is said of
// interfaces and of the section, private data, and the payload of Sends.
func badCapture(t *testing.T, path, text string) {
	t.Helper()
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true, Private: [2][]byte{[]byte(text), []byte(text)}})
	d.Request()
	d.Reply()
	d.Message(0, rdmap.OpSend, []byte(text), 700)
	d.Tagged(1, rdmap.OpReadResponse, 0x55, 0, []byte(text), 700) // which nobody asked for
	var file bytes.Buffer
	w, err := pcapng.NewWriter(&file, pcapng.WriterOptions{Format: pcapng.PCAPNG, Hardware: text, OS: text, Application: text, Comment: text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddInterface(pcapng.Interface{Link: pcapng.LinkType(packet.LinkEthernet), Name: text, Description: text}); err != nil {
		t.Fatal(err)
	}
	frames := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
	for i := range frames {
		f := &frames[i]
		if err := w.WritePacket(&pcapng.Record{Data: f.Data, Time: f.Time, OrigLen: f.OrigLen, Link: f.Link, Comments: []string{text, text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// textForms are the forms of output that are text, by the command.
var textForms = [][]string{
	{"analyze"},
	{"analyze", "--all"},
	{"dissect"},
	{"dissect", "-V"},
	{"dissect", "-x"},
	{"dissect", "-O", "frame,iwarp_mpa,iwarp_ddp_rdmap"},
	{"dissect", "-X"},
	{"dissect", "-T", "fields", "-e", "frame.comment"},
	{"dissect", "-T", "fields", "-e", "frame.interface_name", "-e", "frame.comment"},
	{"dissect", "-T", "fields", "-E", "separator=/s", "-e", "frame.interface_description", "-e", "_ws.col.Info"},
	{"dissect", "-T", "fields", "-E", "escape=n", "-e", "frame.comment"},
	{"dissect", "-T", "fields", "-E", "quote=d", "-e", "frame.comment"},
	{"dissect", "-T", "fields", "-e", "tcp.flags.urg", "-E", "occurrence=l", "-e", "frame.comment"},
	{"dissect", "-T", "tabs"},
	{"dissect", "-T", "psml"},
	{"dissect", "-T", "pdml"},
	{"dissect", "-T", "json"},
	{"dissect", "-T", "ek"},
	{"dissect", "--format", "json"},
	{"dissect", "--format", "ndjson"},
	{"analyze", "--format", "json"},
	{"check"},
	{"check", "--all", "-V"},
	{"check", "--format", "json"},
	{"check", "--format", "ndjson"},
	{"check", "--format", "sarif"},
	{"check", "--format", "junit"},
	{"check", "--format", "github"},
	{"follow", "0"},
	{"follow", "0", "-x"},
	{"follow", "0", "--payload-as", "ascii"},
	{"follow", "0", "--payload-as", "raw"},
	{"follow", "0", "--ladder"},
	{"follow", "0", "--format", "ndjson"},
	{"analyze", "-q", "-z", "conv,tcp"},
	{"analyze", "-q", "-z", "endpoints,ip"},
	{"analyze", "-q", "-z", "io,phs"},
	{"analyze", "-q", "-z", "io,stat,1,COUNT(frame.comment)frame.comment"},
	{"analyze", "-q", "-z", "expert"},
	{"analyze", "-q", "-z", "ulp,srt"},
	{"analyze", "-q", "--format", "csv", "-z", "expert"},
	{"analyze", "-q", "--format", "json", "-z", "expert"},
}

// TestCaptures_Visible: text in captures does not steer a terminal or a build service, in any
// form of output, and what is JSON or XML is valid.
func TestCaptures_Visible(t *testing.T) {
	for i, text := range badTexts {
		name := filepath.Join(t.TempDir(), fmt.Sprintf("%d.pcapng", i))
		badCapture(t, name, text)
		for _, form := range textForms {
			var out, errs bytes.Buffer
			code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &errs}, append(form[:len(form):len(form)], name))
			what := fmt.Sprintf("%s of %q", strings.Join(form, " "), text)
			if code == exitUsage || code == exitInput || out.Len() == 0 {
				t.Errorf("%s: exit code %d, %d octets: %s", what, code, out.Len(), &errs)
			}
			shownLines(t, what, out.String(), form)
			shownLines(t, what+" (stderr)", errs.String(), nil)
			valid := true
			switch has := func(s string) bool { return strings.Contains(strings.Join(form, " "), s) }; {
			case has("-T json"), has("format json"), has("sarif"):
				valid = json.Valid(out.Bytes())
			case has("ndjson"), has("-T ek"):
				for line := range bytes.Lines(out.Bytes()) {
					valid = valid && json.Valid(line)
				}
			case has("pdml"), has("psml"), has("junit"):
				valid = validXML(out.Bytes())
			}
			if !valid {
				t.Errorf("%s: it is not valid: %.2000s", what, &out)
			}
		}
	}
}

// shownLines is [shows], with tabs in the forms that have them between columns and in front of
// octets.
func shownLines(t *testing.T, what, text string, form []string) {
	t.Helper()
	if f := strings.Join(form, " "); strings.Contains(f, "-T fields") || strings.Contains(f, "-T tabs") || strings.Contains(f, "-X") {
		text = strings.ReplaceAll(text, "\t", " ")
	}
	shows(t, what, text, strings.Contains(what, "github"))
	for line := range strings.Lines(text) {
		if strings.Contains(line, "##vso[") {
			t.Errorf("%s: a command: %q", what, line)
		}
	}
}

// validXML reports whether all elements are closed.
func validXML(b []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// TestColumns_Commands: a line of columns is no command, and addresses that look like the
// beginning of one stay as they are.
func TestColumns_Commands(t *testing.T) {
	ipv6 := packet.Build{Link: packet.LinkEthernet, Src: packet.Addr{15: 1}, Dst: packet.Addr{15: 2}, SrcPort: 1, DstPort: 2, Flags: packet.FlagSYN}
	data := ipv6.Append(nil)
	for _, c := range []struct {
		comment, want string
		args          []string
	}{
		{"::error::x", `\x3a:error::x`, []string{"-e", "frame.comment"}},
		{" \u00a0::error::x", " \u00a0\\x3a:error::x", []string{"-e", "frame.comment"}},
		{"::error::x", " :error::x\t", []string{"-e", "frame.comment", "-E", "escape=n", "-e", "ip.src"}},
		{"::error::x", "\t\\x3a:error::x", []string{"-e", "ip.src", "-e", "frame.comment"}},
		{":error::x", `\x3a::error::x`, []string{"-e", "ip.src", "-E", "separator=:", "-e", "ip.dst", "-e", "frame.comment"}},
		{"x::error::x", "x::error::x", []string{"-e", "frame.comment"}},
		{"a ##[error]b", `a ##\x5berror]b`, []string{"-e", "frame.comment"}},
		{"c", "::1\t::2\tc", []string{"-e", "ipv6.src", "-e", "ipv6.dst", "-e", "frame.comment"}},
		{"c", "::1,::2", []string{"-e", "ipv6.addr"}},
	} {
		var file bytes.Buffer
		w, err := pcapng.NewWriter(&file, pcapng.WriterOptions{Format: pcapng.PCAPNG, Link: pcapng.Ethernet})
		if err == nil {
			err = errors.Join(w.WritePacket(&pcapng.Record{Data: data, Time: 1, Link: pcapng.Ethernet, Comments: []string{c.comment}}), w.Flush())
		}
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		Run(&IOStreams{In: &file, Out: &out, Err: &errs}, append([]string{"dissect", "-T", "fields", "-"}, c.args...))
		if out.String() != c.want+"\n" {
			t.Errorf("%q: %q, want %q %s", c.args, &out, c.want, &errs)
		}
	}
}

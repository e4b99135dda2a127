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
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/annotate"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// badTexts are texts in captures that would be obeyed.
var badTexts = []string{
	"::error file=a,line=1::text", " \t::add-mask::a", "a\n::error::b", "##[error]text", "##vso[task.complete]",
	"\x1b]0;title\x07\x1b[31m", "\u009b31m\u202e\u2066\u061c", "\xff\xfe\x9b", "</proto><field name=\"x\"/>&amp;", "\",\"x\":\"", "a\r::error::b", "\x00\x08\x7f",
	"</script></title></pre><script>alert(1)</script><img src=x onerror=alert(1)><!--", "<svg/onload=alert(1)>\u202e'\"`",
}

// badCapture is a capture with a text wherever a capture has text: comments, what is said of
// interfaces and of the section, private data, also of a Reply that refuses the connection, the
// answer of another protocol, and the payload of Sends.
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
	refused := tracetest.NewDialog(d.Setup)
	refused.Request()
	reject := refused.ReplyFrame()
	reject.R = true
	refused.Startup(1, reject)
	other := tracetest.NewDialog(d.Setup)
	other.Request()
	other.Streaming(1, []byte(text+strings.Repeat(" ", 16))) // an answer of another protocol
	var frames []capture.Frame
	for i, d := range []*tracetest.Dialog{d, refused, other} {
		frames = append(frames, tracetest.Net{Pair: i}.Frames(tracetest.Connection(d, 0))...)
	}
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
	tracetest.UnlessRaced(t)
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

// TestCaptures_Page: text in captures does not get out of its place in the page of report: the
// page has the same elements as with a harmless text, and nothing that is obeyed unseen.
func TestCaptures_Page(t *testing.T) {
	page := func(text string) (elements []string, out string) {
		name := filepath.Join(t.TempDir(), "a.pcapng")
		badCapture(t, name, text)
		code, out, errs := command(t, nil, "report", name, "-o", "-")
		if code != exitOK || errs != "" {
			t.Fatalf("%q: exit code %d, %s", text, code, errs)
		}
		for z := html.NewTokenizer(strings.NewReader(out)); ; {
			switch z.Next() {
			case html.ErrorToken:
				return elements, out
			case html.StartTagToken, html.SelfClosingTagToken:
				tag, _ := z.TagName()
				elements = append(elements, string(tag))
			case html.CommentToken:
				t.Errorf("%q: a comment", text)
			}
		}
	}
	for _, text := range badTexts {
		want, _ := page(strings.Repeat("x", len(text)))
		got, out := page(text)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-harmless +bad):\n%s", text, d)
		}
		if !utf8.ValidString(out) || strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(out), visible.Hidden) {
			t.Errorf("%q: the page has something that is not shown", text)
		}
	}
}

// TestCaptures_Comments: comments of a capture stay as they are, and text in it does not steer
// who reads ours: each is one line, of which nothing is obeyed.
func TestCaptures_Comments(t *testing.T) {
	for _, text := range badTexts {
		name := filepath.Join(t.TempDir(), "a.pcapng")
		badCapture(t, name, text)
		for _, args := range [][]string{{"annotate"}, {"annotate", "--window", "5"}, {"annotate", "--upper-pdu"}} {
			code, out, errs := command(t, nil, append(args, "-q", name, "-o", "-")...)
			if code != exitOK {
				t.Errorf("%q: exit code %d, %s", text, code, errs)
			}
			r, err := pcapng.NewReader(strings.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			r.KeepComments = true
			ours, theirs := 0, 0
			var rec pcapng.Record
			for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
				for i, c := range rec.Comments {
					if own := strings.HasPrefix(c, annotate.Prefix); own {
						ours++
						shows(t, fmt.Sprintf("%v of %q", args, text), c, false)
						if strings.Contains(c, "\n") {
							t.Errorf("%v of %q: lines: %q", args, text, c)
						}
					} else if theirs++; c != text || i > 1 {
						t.Errorf("%v of %q: %q", args, text, c)
					}
				}
			}
			if messages := args[len(args)-1] == "--upper-pdu"; !errors.Is(err, io.EOF) || ours == 0 || (theirs == 0) != messages {
				t.Errorf("%v of %q: %d comments of ours, %d others, %v", args, text, ours, theirs, err)
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

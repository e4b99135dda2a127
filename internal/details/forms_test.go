package details

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// allForms are a form of each kind.
func allForms() map[string]Form {
	return map[string]Form{
		"json": &JSON{}, "distinct": &JSON{Distinct: true}, "ek": EK{}, "pdml": &PDML{Creator: "x"}, "psml": &PSML{Creator: "x"},
		"tabs": &Tabs{}, "text": &Text{Hex: true}, "titles": &Text{Only: map[string]bool{"tcp": true}},
		"picked": &JSON{Pick: &Pick{Names: map[string]bool{"tcp": true}}}, "picked ek": EK{Pick: &Pick{Names: map[string]bool{"ip": true}, Whole: true}},
		"picked pdml": &PDML{Pick: &Pick{Names: map[string]bool{"tcp": true, "iwarp_ddp_rdmap": true}}},
	}
}

// checkForm checks that an output is well-formed and that nothing of the wire gets out of it
// unescaped.
func checkForm(t testing.TB, name string, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Fatalf("%s: not UTF-8", name)
	}
	for _, c := range out {
		if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
			t.Fatalf("%s: control character %#x", name, c)
		}
	}
	switch name {
	case "json", "distinct", "picked":
		if !json.Valid(out) {
			t.Fatalf("%s: not JSON: %.300q", name, out)
		}
	case "ek", "picked ek":
		for line := range bytes.Lines(out) {
			if !json.Valid(line) {
				t.Fatalf("not JSON: %.300q", line)
			}
		}
	case "pdml", "psml", "picked pdml":
		d := xml.NewDecoder(bytes.NewReader(out))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v in %.300q", name, err, out)
			}
		}
	}
}

// TestForms writes captures in all forms.
func TestForms(t *testing.T) {
	for _, name := range []string{"term-wbadkey.pcap", "snap96-crc.pcap", "sll1-any-rping-crc.pcap", "vlan7-rping-crc.pcap", "generated/packed.pcapng", "generated/sctp-session.pcapng", "generated/tunnel-nested.pcapng", "generated/mpa-rev1-markers.pcapng"} {
		for form, f := range allForms() {
			out := written(t, filepath.Join("../../testdata/pcaps", name), f)
			if len(out) < 500 {
				t.Errorf("%s of %s: only %d octets", form, name, len(out))
			}
			checkForm(t, form, out)
		}
	}
}

// A tree without duplicate names has the same values as one with them.
func TestJSON_Distinct(t *testing.T) {
	out := written(t, "../../testdata/pcaps/generated/packed.pcapng", &JSON{Distinct: true})
	d := json.NewDecoder(bytes.NewReader(out))
	depth, keys := 0, []map[string]bool{}
	isKey := []bool{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				depth++
				keys, isKey = append(keys, map[string]bool{}), append(isKey, v == '{')
				continue
			default:
				depth--
				keys, isKey = keys[:depth], isKey[:depth]
			}
		case string:
			if depth > 0 && isKey[depth-1] {
				if keys[depth-1][v] {
					t.Fatalf("%s is there twice", v)
				}
				keys[depth-1][v] = true
				if tok, err = d.Token(); err != nil {
					t.Fatal(err)
				}
				if v, ok := tok.(json.Delim); ok {
					depth++
					keys, isKey = append(keys, map[string]bool{}), append(isKey, v == '{')
				}
			}
		}
	}
}

// Positions of PDUs that lie in one frame are those in the frame: the octets there are the
// ones that PDML shows.
func TestTree_Positions(t *testing.T) {
	src, err := capture.Open("../../testdata/pcaps/generated/packed.pcapng", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := &positions{t: t}
	s := NewSink(io.Discard, Options{Form: f}, nil)
	if err := pipeline.New(pipeline.Options{}, s).Read(src); err != nil {
		t.Fatal(err)
	}
	if f.n < 500 {
		t.Errorf("only %d positions", f.n)
	}
}

type positions struct {
	t *testing.T
	n int
}

func (*positions) Begin(*Output, string) {}
func (*positions) End(*Output)           {}
func (p *positions) Frame(_ *Output, f *Frame) {
	for i := range f.Tree.Nodes {
		n := &f.Tree.Nodes[i]
		octets := string(f.Tree.Octets(n))
		if octets == "" || n.Pos+n.Size > len(f.Data) {
			continue
		}
		p.n++
		if want := string(fields.AppendColumn(nil, &dataData, fields.Value{Bytes: f.Data[n.Pos : n.Pos+n.Size]})); octets != want {
			p.t.Errorf("frame %d: %s at %d is %s, the frame has %s", f.Number, n.Name, n.Pos, octets, want)
		}
	}
}

// Frames that end at any octet are well-formed in all forms: also where a field is cut off and
// what stands below it is not.
func TestForms_Cut(t *testing.T) {
	lengths := tracetest.Count(3, 12, 12)
	for _, path := range []string{"generated/sctp-abort.pcapng", "generated/sctp-stream-reset.pcapng", "generated/tunnel-nested.pcapng", "vlan7-rping-crc.pcap"} {
		src, err := capture.Open("../../testdata/pcaps/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for fr := (capture.Frame{}); src.Next(&fr) == nil && len(seen) < lengths; {
			if seen[len(fr.Data)] {
				continue
			}
			seen[len(fr.Data)] = true
			for name, form := range allForms() {
				var out bytes.Buffer
				s := NewSink(&out, Options{Form: form}, nil)
				run := pipeline.New(pipeline.Options{}, s)
				for n := range fr.Data {
					run.Frame(&capture.Frame{Data: fr.Data[:n], OrigLen: fr.OrigLen, Link: fr.Link, Number: uint64(n) + 1})
				}
				run.Finish()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				checkForm(t, name, out.Bytes())
			}
		}
		src.Close()
	}
}

// FuzzForms writes any frame in all forms.
func FuzzForms(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/pcaps/*.pcap")
	for i, path := range files {
		src, err := capture.Open(path, nil)
		if err != nil {
			f.Fatal(err)
		}
		var fr capture.Frame
		for range i%9 + 4 {
			if src.Next(&fr) != nil {
				break
			}
		}
		f.Add(uint16(fr.Link), fr.Data, "a <comment> & \"more\"\x00\xff")
		src.Close()
	}
	f.Add(packet.LinkRaw, []byte{0x45, 0, 0}, "\u2028\x1b[2J")
	f.Fuzz(func(t *testing.T, link uint16, data []byte, comment string) {
		for name, form := range allForms() {
			var out bytes.Buffer
			s := NewSink(&out, Options{Form: form}, func(b []byte, _ *pduOf) []byte { return append(b, comment...) })
			s.Capture(comment, func() []pcapng.Interface { return []pcapng.Interface{{Name: comment, Description: comment}} })
			run := pipeline.New(pipeline.Options{DecodeAs: []uint16{7174, 7200}}, s)
			for n := range uint64(2) {
				run.Frame(&capture.Frame{Data: data, OrigLen: uint32(len(data)), Link: pcapng.LinkType(link), Number: n + 1, Time: int64(n) << 60, Comments: []string{comment}})
			}
			run.Finish()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			checkForm(t, name, out.Bytes())
		}
	})
}

// FuzzEscape: what was escaped is one line, one string, one attribute, and says what it was.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "a\tb\nc\\", "\"quoted\" 'too'", "<a href=\"x\">&amp;", "\xff\xfe\x00", "\u0085\u2028\u2029\ufeff", "·······A····", "##[error]a", "##vso[a]", "\u202e\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		valid := strings.ToValidUTF8(s, "\ufffd")
		var back string
		if err := json.Unmarshal(AppendJSON(nil, s), &back); err != nil || strings.ReplaceAll(back, "\ufffd", "") != strings.ReplaceAll(valid, "\ufffd", "") {
			t.Errorf("JSON of %q: %q, %v", s, back, err)
		}
		var v struct {
			A string `xml:"a,attr"`
		}
		if err := xml.Unmarshal(append(AppendXML([]byte(`<x a="`), s), `"/>`...), &v); err != nil {
			t.Errorf("XML of %q: %v", s, err)
		}
		for _, quote := range []byte{0, '"', '\''} {
			for _, escape := range []bool{true, false} {
				c := AppendColumnText(nil, []byte(s), quote, escape)
				if bytes.ContainsAny(c, "\n\r\t\x00\x1b\x7f\u0085\u2028") || !utf8.Valid(c) {
					t.Errorf("column of %q: %q", s, c)
				}
			}
		}
		if c := AppendPlain(nil, []byte(s)); bytes.ContainsAny(c, "\n\r\t\x00\x1b\x7f\u0085\u2028") || !utf8.Valid(c) {
			t.Errorf("line of %q: %q", s, c)
		}
	})
}

func TestLayout(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	good := []string{"header=y", "header=n", "separator=/t", "separator=\\t", "separator=/s", "separator=;", "occurrence=f", "aggregator=/s", "aggregator=|", "quote=d", "quote=s", "quote=n", "bom=y", "escape=n"}
	for range 1000 {
		l := DefaultLayout()
		for range 5 {
			if o := good[rnd.IntN(len(good))]; l.Set(o) != nil {
				t.Fatal(o)
			}
		}
	}
	for _, bad := range []string{"", "header", "header=", "header=yes", "separator=ab", "separator=\n", "occurrence=x", "quote=q", "colour=y", "bom=1"} {
		l := DefaultLayout()
		if err := l.Set(bad); !errors.Is(err, errLayout) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestColumns_Allocs: a line of columns allocates nothing.
func TestColumns_Allocs(t *testing.T) {
	k, frames := columnsOf(t)
	if n := testing.AllocsPerRun(200, func() {
		for _, f := range frames {
			k.Opened(f)
			k.Frame(f)
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d frames", n, len(frames))
	}
}

func BenchmarkColumns(b *testing.B) {
	k, frames := columnsOf(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f := frames[i%len(frames)]
		k.Opened(f)
		k.Frame(f)
	}
}

// columnsOf makes a writer of columns, and frames for it.
func columnsOf(t testing.TB) (*Columns, []*pipeline.Frame) {
	t.Helper()
	var list []*fields.Field
	for _, n := range []string{"frame.number", "frame.time_relative", "ip.src", "tcp.stream", "tcp.seq", "tcp.len", "tcp.flags.str", "iwarp_rdma.opcode"} {
		list = append(list, fields.Find(n))
	}
	src, err := capture.Open("../../testdata/pcaps/rping-rev2-crc.pcap", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var k keeping
	if err := pipeline.New(pipeline.Options{}, &k).Read(src); err != nil {
		t.Fatal(err)
	}
	c := NewColumns(io.Discard, DefaultLayout(), list, true)
	for range 3 { // what grows has grown then
		for _, f := range k.frames {
			c.Opened(f)
			c.Frame(f)
		}
	}
	return c, k.frames
}

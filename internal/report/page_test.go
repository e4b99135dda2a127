package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// pageOf writes a page.
func pageOf(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// void are the elements without an end.
var void = []string{"meta", "input", "br", "hr", "img", "link"}

// element is a start tag of a page with its text, up to the next tag.
type element struct {
	name string
	attr map[string]string
	text string
}

// elements reads a page, and fails if an element is not closed, or in the wrong order.
func elements(t testing.TB, page string) (all []*element) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	var open []string
	inside := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF || len(open) > 0 {
				t.Fatalf("%v; not closed: %v", z.Err(), open)
			}
			return all
		case html.TextToken:
			if inside {
				all[len(all)-1].text += string(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			e := &element{tok.Data, map[string]string{}, ""}
			for _, a := range tok.Attr {
				if _, twice := e.attr[a.Key]; twice {
					t.Errorf("<%s> has %s twice", e.name, a.Key)
				}
				e.attr[a.Key] = a.Val
			}
			all, inside = append(all, e), true
			if tok.Type == html.StartTagToken && !slices.Contains(void, tok.Data) {
				open = append(open, tok.Data)
			}
		case html.EndTagToken:
			inside = false
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		case html.CommentToken:
			t.Errorf("a comment: %s", z.Text())
		}
	}
}

// known are the elements that a page has.
var known = strings.Fields(`html head meta title style body header h1 h2 h3 h4 p main section span div article strong a details summary
	dl dt dd table caption thead tbody tr th td label input noscript script blockquote cite figure figcaption pre
	svg text line rect path g`)

// sound fails if a page could load something, leads out of itself, or has an element that is not
// ours.
func sound(t testing.TB, page string) []*element {
	t.Helper()
	all := elements(t, page)
	ids := map[string]int{}
	for _, e := range all {
		if id := e.attr["id"]; id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements are called %s", n, id)
		}
	}
	for _, e := range all {
		if !slices.Contains(known, e.name) {
			t.Errorf("element %s", e.name)
		}
		for key, v := range e.attr {
			switch {
			case key == "href":
				if !strings.HasPrefix(v, "#") || ids[v[1:]] == 0 {
					t.Errorf("<%s href=%q> leads nowhere", e.name, v)
				}
			case slices.Contains([]string{"src", "srcset", "action", "formaction", "data", "poster", "background", "style", "ping", "xlink:href"}, key),
				strings.HasPrefix(key, "on"), strings.Contains(v, "://") && key != "title":
				t.Errorf("<%s %s=%q>", e.name, key, v)
			}
		}
		if e.name == "style" && regexp.MustCompile(`url\(|@import`).MatchString(e.text) {
			t.Error("the style loads something")
		}
	}
	for _, r := range page {
		if r != '\n' && r != '\t' && visible.Hidden(r) {
			t.Errorf("the page has %U", r)
		}
	}
	return all
}

// TestPage_Sound: a page of all captures, over TCP and SCTP, is well-formed, all links lead to something in it, and
// nothing to the outside.
func TestPage_Sound(t *testing.T) {
	files := tracetest.Captures(t, "../..")
	r := &Report{Tool: "iwdissect test"}
	for i, f := range files {
		r.Captures = append(r.Captures, captured(t, i, f, 3))
	}
	all := sound(t, pageOf(t, r))
	count := map[string]int{}
	for _, e := range all {
		count[e.name]++
		if e.name == "svg" && (e.attr["viewbox"] == "" || e.attr["aria-label"] == "") {
			t.Errorf("a drawing without a size or a name: %v", e.attr)
		}
	}
	if count["section"] != len(files) || count["svg"] < len(files) || count["pre"] == 0 {
		t.Errorf("%v", count)
	}
}

// TestPage_Policy: the policy of the page names the style and the script that are in it, and
// forbids all else.
func TestPage_Policy(t *testing.T) {
	all := sound(t, pageOf(t, &Report{Captures: []*Capture{captured(t, 0, captures+"term-wbadkey.pcap", 3)}}))
	policy, scripts := "", 0
	for _, e := range all {
		if e.name == "meta" && e.attr["http-equiv"] == "Content-Security-Policy" {
			policy = e.attr["content"]
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("policy: %s", policy)
	}
	for _, e := range all {
		if e.name != "style" && (e.name != "script" || e.attr["type"] != "") {
			continue
		}
		sum := sha256.Sum256([]byte(e.text))
		want := fmt.Sprintf("%s-src 'sha256-%s'", e.name, base64.StdEncoding.EncodeToString(sum[:]))
		if scripts++; !strings.Contains(policy, want) {
			t.Errorf("the policy %s does not allow the %s, %s", policy, e.name, want)
		}
	}
	if scripts != 2 {
		t.Errorf("%d styles and scripts", scripts)
	}
	for _, bad := range []string{"innerHTML", "outerHTML", "eval(", "insertAdjacentHTML", "document.write", "fetch(", "XMLHttpRequest", "import(", "Function("} {
		if strings.Contains(script, bad) {
			t.Errorf("the script has %s", bad)
		}
	}
}

// hostile is text that HTML, a script, a style, JSON or the order of letters would obey.
const hostile = "</script><script>alert(1)</script><img src=//x.example onerror=alert(1)></pre></title></style>\"'`{{.}}<!-- \u202e\u2066\u061c\u2028\x00\x1b[31m\xff &lt;"

// poison sets every string of a value that is not empty.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		poison(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && v.Type().Field(i).Name != "At" && v.Type().Field(i).Name != "Link" && v.Type().Field(i).Name != "Level" {
				poison(f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.String:
		if v.Len() > 0 {
			v.SetString(hostile)
		}
	default:
	}
}

// TestPage_Hostile: whatever the texts are, the page has the same elements, and nothing in it is
// obeyed.
func TestPage_Hostile(t *testing.T) {
	r := &Report{Tool: "test", Captures: []*Capture{
		captured(t, 0, captures+"term-wbadkey.pcap", 3), captured(t, 1, captures+"ulp-nvme-rdma-crc-cut.pcap", 3),
	}}
	for _, c := range r.Captures {
		c.Notes, c.Failures = []string{"a"}, []string{"b"}
		for i := range c.Connections {
			c.Connections[i].Carries = "c"
		}
	}
	names := func(all []*element) (out []string) {
		for _, e := range all {
			if e.name != "text" { // long labels are folded
				out = append(out, e.name)
			}
		}
		return out
	}
	before := names(sound(t, pageOf(t, r)))
	poison(reflect.ValueOf(r))
	after := sound(t, pageOf(t, r))
	// The script elements, and where text stands, are the same. Chips depend on severities,
	// which are words of ours.
	count := func(names []string, what string) (n int) {
		for _, x := range names {
			if x == what {
				n++
			}
		}
		return n
	}
	for _, what := range []string{"script", "style", "title", "pre", "svg", "a", "section", "article", "details", "meta"} {
		was, is := count(before, what), count(names(after), what)
		if what == "title" { // each bar of a drawing has one
			continue
		}
		if was != is {
			t.Errorf("%d elements %s, %d before", is, what, was)
		}
	}
	rows := 0
	for _, e := range after {
		if e.attr["class"] == "rows" {
			var list [][]any
			if err := json.Unmarshal([]byte(e.text), &list); err != nil {
				t.Errorf("%v in %s", err, e.text)
			}
			for _, r := range list {
				if rows++; !strings.Contains(r[3].(string), "</script>") || strings.ContainsFunc(r[3].(string), visible.Hidden) {
					t.Errorf("row %q", r)
				}
			}
		}
	}
	if rows == 0 {
		t.Error("no rows")
	}
}

// TestPage_HostileCapture: private data of a startup that are markup stay text.
func TestPage_HostileCapture(t *testing.T) {
	path := written(t, `
summary: Private data that a browser would obey.
client: {mpa: {private: "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\"'"}}
timeline: [connect, send 100, write 100, close]
faults:
  - {at: write1, set: {iwarp_ddp.stag: 0xdeadbeef}}
  - {at: request, from: client, set: {iwarp_mpa.rev: 3}}
`)
	c := captured(t, 0, path, 1)
	c.File = "</title><script>alert(1)</script>\u202e.pcap"
	page := pageOf(t, &Report{Captures: []*Capture{c}})
	sound(t, page)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") {
		t.Error("markup of the capture is in the page")
	}
}

// TestPage_Empty: a capture without anything makes a page that says so.
func TestPage_Empty(t *testing.T) {
	s := NewSurvey()
	c := s.Capture(0, new(pipeline.Totals), nil, s.Choose(20, nil))
	c.File, c.Failures = "none.pcap", []string{"cannot be read"}
	page := pageOf(t, &Report{Captures: []*Capture{c}})
	sound(t, page)
	if !strings.Contains(page, "cannot be read") {
		t.Error("the page does not say why there is nothing in it")
	}
}

// TestPage_Damaged: captures with octets that were changed at random, behind the header of the
// file, make sound pages.
func TestPage_Damaged(t *testing.T) {
	for i, name := range []string{"term-wbadkey.pcap", "ulp-nvme-rdma-crc-cut.pcap", "rping-p2p-both-crc.pcap"} {
		whole, err := os.ReadFile(captures + name)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(7, uint64(i)))
		for range 10 {
			octets := bytes.Clone(whole)
			for range 1 + random.IntN(30) {
				octets[24+random.IntN(len(octets)-24)] = byte(random.Uint32())
			}
			path := filepath.Join(t.TempDir(), "damaged.pcap")
			if err := os.WriteFile(path, octets, 0o600); err != nil {
				t.Fatal(err)
			}
			sound(t, pageOf(t, &Report{Captures: []*Capture{captured(t, 0, path, 3)}}))
		}
	}
}

// TestPage_Counts: one frame or rule of a diagnosis is not told as several, and the table of the connections counts FPDUs, which the
// total of PDUs has more of by the frames of the startup.
func TestPage_Counts(t *testing.T) {
	d := func(frames []uint64, rules ...string) Diagnosis {
		return Diagnosis{Level: "error", Frames: frames, Rules: rules}
	}
	page := pageOf(t, &Report{Captures: []*Capture{{
		Diagnoses:   []Diagnosis{d([]uint64{13}, "MPA-REV-01"), d([]uint64{14, 15}, "MPA-REV-02", "MPA-REV-03")},
		Connections: []Row{{FPDUs: 41}},
	}}})
	for _, want := range []string{"Frame 13. Broken rule: MPA-REV-01.", "Frames 14, 15. Broken rules: MPA-REV-02, MPA-REV-03.", ">FPDUs</th>", `<td class="n">41</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

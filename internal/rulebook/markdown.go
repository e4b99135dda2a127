package rulebook

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// page is a page of docs/rules: the rules of a layer.
type page struct {
	layer, title string
	rules        []*Rule
}

// titles are the layers, in the order of the pages.
var titles = [...]struct{ layer, title string }{
	{"mpa", "MPA: startup, FPDUs, markers and CRC"},
	{"mpa-enhanced", "Enhanced MPA startup: depths and peer-to-peer"},
	{"rnic-interop", "Interoperation with RDMAC endpoints"},
	{"tcp", "TCP under MPA"},
	{"ddp", "DDP: segments, queues and tagged buffers"},
	{"rdmap", "RDMAP: operations and Terminate"},
	{"rdmap-ext", "RDMAP extensions: atomics and immediate data"},
	{"sctp-ddp", "DDP over SCTP"},
	{"interop", "Interop advice"},
}

// pages sorts the rules into pages.
func pages(rules []*Rule) []*page {
	byLayer := map[string]*page{}
	all := make([]*page, 0, len(titles))
	for _, t := range titles {
		p := &page{layer: t.layer, title: t.title}
		byLayer[t.layer] = p
		all = append(all, p)
	}
	for _, r := range rules {
		byLayer[r.Layer].rules = append(byLayer[r.Layer].rules, r)
	}
	return all
}

// Docs are the files under docs that follow from the catalogue, by their path.
func Docs() map[string][]byte {
	all := pages(All())
	docs := map[string][]byte{"rules/README.md": index(all), "conformance.md": coverage(all)}
	for _, p := range all {
		docs["rules/"+p.layer+".md"] = p.markdown()
	}
	return docs
}

// generated heads each file.
const generated = "<!-- Written by go generate ./internal/rulebook from the catalogue of rules; change that, not this. -->\n\n"

func (p *page) markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\nWhat `iwdissect rules` says of each entry. [All layers](README.md), [state of all](../conformance.md).\n", generated, p.title)
	for _, r := range p.rules {
		fmt.Fprintf(&b, "\n## %s\n\n**%s**\n\n", r.ID, r.State)
		for _, part := range r.Parts() {
			b.WriteString(part.markdown())
		}
	}
	return []byte(b.String())
}

func (p *Part) markdown() string {
	items := make([]string, len(p.Items))
	for i, item := range p.Items {
		if items[i] = prose(item, ""); p.Code {
			items[i] = "`" + item + "`"
		}
	}
	if len(items) == 1 {
		return "- *" + p.Name + ":* " + items[0] + "\n"
	}
	return "- *" + p.Name + ":*\n  - " + strings.Join(items, "\n  - ") + "\n"
}

// named is what may be the id of an entry, or of a gate.
var named = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(-[A-Z0-9]+)+\b`)

// prose is a text of the catalogue as Markdown, with links from the names of
// entries and gates; folder is that of the pages.
func prose(s, folder string) string {
	var b strings.Builder
	at := 0
	for _, m := range named.FindAllStringIndex(s, -1) {
		b.WriteString(escape.Replace(s[at:m[0]]))
		b.WriteString(link(s[m[0]:m[1]], folder))
		at = m[1]
	}
	b.WriteString(escape.Replace(s[at:]))
	return b.String()
}

// link is a name, with a link if it is that of an entry or of a gate.
func link(name, folder string) string {
	book := conformance.Catalogue()
	if e, ok := book.Find(name); ok {
		return "[" + name + "](" + folder + e.Page() + "#" + strings.ToLower(name) + ")"
	}
	for _, g := range book.Evidence {
		if g.Gate == name {
			return "[" + name + "](" + folder + "README.md#" + strings.ToLower(name) + ")"
		}
	}
	return name
}

// escape keeps Markdown from seeing marks in a text.
var escape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "#", `\#`, "\n", " ",
)

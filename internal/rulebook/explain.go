package rulebook

import (
	"fmt"
	"io"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// Found is what a word was found to be. Some are a term and a kind of diagnosis.
type Found struct {
	Rule  *Rule  `json:"rule,omitempty"`
	Term  *Term  `json:"term,omitempty"`
	Fault *Fault `json:"error,omitempty"`
	Kind  *Kind  `json:"diagnosis,omitempty"`
	Gate  *Gate  `json:"evidence,omitempty"`
}

// Find looks for what a word names: a rule, a term, an error of a Terminate, a kind of
// diagnosis, or evidence. Upper and lower case do not count.
func Find(word string) (f Found, ok bool) {
	if e, is := conformance.Catalogue().Find(strings.ToUpper(word)); is {
		for _, r := range All() {
			if r.ID == e.ID {
				return Found{Rule: r}, true
			}
		}
	}
	for i := range terms {
		for _, name := range append([]string{terms[i].Name, terms[i].Stands}, terms[i].Also...) {
			if name != "" && same(name, word) {
				f.Term = &terms[i]
			}
		}
	}
	for _, k := range Kinds() {
		if same(k.Name, word) {
			f.Kind = &k
		}
	}
	for _, g := range Gates() {
		if same(g.Name, word) {
			f.Gate = &g
		}
	}
	if fault, ok := FindFault(word); ok {
		f.Fault = &fault
	}
	return f, f != Found{}
}

// same compares words; blanks, dashes and an s at the end do not count.
func same(a, b string) bool {
	plain := func(s string) string {
		s = strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(s))
		return strings.TrimSuffix(s, "s")
	}
	return plain(a) == plain(b)
}

// Words are all that [Find] knows, but for rules: terms with their other names, errors, kinds of
// diagnoses, and evidence.
func Words() (words []string) {
	for i := range terms {
		words = append(words, terms[i].Name)
		words = append(words, terms[i].Also...)
	}
	for _, f := range Faults() {
		words = append(words, f.Code, f.Word)
	}
	for _, k := range Kinds() {
		words = append(words, k.Name)
	}
	for _, g := range Gates() {
		words = append(words, g.Name)
	}
	return words
}

// Tell writes what was found, not wider than width unless that is 0.
func (f Found) Tell(w io.Writer, width int) error {
	if f.Rule != nil {
		return Explain(w, f.Rule, width)
	}
	var err error
	if f.Term != nil {
		err = f.Term.tell(w, width)
	}
	if err == nil && f.Kind != nil {
		if f.Term != nil {
			fmt.Fprintln(w)
		}
		err = f.Kind.tell(w, width)
	}
	if err == nil && f.Fault != nil {
		err = f.Fault.tell(w, width)
	}
	if err == nil && f.Gate != nil {
		err = f.Gate.tell(w, width)
	}
	return err
}

// part is a named line of an explanation.
type part struct{ name, text string }

// tell writes a title and parts, of which empty ones are left out.
func tell(w io.Writer, width int, title string, parts ...part) error {
	if width <= 0 || width > mostWidth {
		width = mostWidth
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", title)
	for _, p := range parts {
		if p.text != "" {
			fmt.Fprintf(&b, "%-*s%s\n", indent, p.name, wrap(p.text, indent, width))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Term) tell(w io.Writer, width int) error {
	title := t.Name
	if t.Stands != "" {
		title += "  " + t.Stands
	}
	return tell(w, width, title, part{"means", t.Says}, part{"also", strings.Join(t.Also, ", ")},
		part{"source", t.Ref}, part{"see", strings.Join(t.See, ", ")})
}

func (f *Fault) tell(w io.Writer, width int) error {
	return tell(w, width, f.Code+"  "+f.Name, part{"means", f.Says}, part{"word", f.Word},
		part{"source", f.Ref}, part{"rules", strings.Join(f.Rules, ", ")})
}

func (k *Kind) tell(w io.Writer, width int) error {
	return tell(w, width, k.Name+"  a kind of diagnosis", part{"means", k.Says})
}

// Contents lists what can be explained besides rules, a line each, not wider than width
// unless that is 0.
func Contents(w io.Writer, width int) error {
	if width <= 0 || width > mostWidth {
		width = mostWidth
	}
	var b strings.Builder
	row := func(width int, name, text string) { fmt.Fprintf(&b, "  %-*s  %s\n", width, name, text) }
	b.WriteString("Terms\n")
	for _, t := range terms {
		short := t.Stands
		if short == "" {
			short, _, _ = strings.Cut(t.Says, ". ")
		}
		row(22, clip(t.Name, 22), clip(strings.TrimSuffix(short, "."), width-28))
	}
	b.WriteString("\nErrors of a Terminate\n")
	for _, f := range Faults() {
		row(6, f.Code, f.Name)
	}
	if all := Kinds(); len(all) > 0 {
		b.WriteString("\nKinds of diagnoses\n")
		for _, k := range all {
			row(22, k.Name, clip(k.Says, width-28))
		}
	}
	b.WriteString("\nEvidence for rules\n")
	for _, g := range Gates() {
		says, _, _ := strings.Cut(g.Says, ". ")
		row(22, g.Name, clip(strings.TrimSuffix(says, "."), width-28))
	}
	b.WriteString("\nRules: 'iwdissect rules' lists them.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// clip cuts a text to a number of letters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := strings.LastIndexByte(s[:n-3], ' ')
	if cut < n/2 {
		cut = n - 3
	}
	return s[:cut] + "..."
}

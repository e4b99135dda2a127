package rulebook

import (
	"fmt"
	"io"
	"strings"
)

// Lines of an explanation end before this column, and begin behind the names.
const width, indent = 100, 13

// Explain writes all that is known of a rule.
func Explain(w io.Writer, r *Rule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", r.ID, r.State)
	for _, p := range r.Parts() {
		name := p.Name
		for _, item := range p.Items {
			if !p.Code {
				item = wrap(item)
			}
			fmt.Fprintf(&b, "%-*s%s\n", indent, name, item)
			name = ""
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Table writes a line for each rule.
func Table(w io.Writer, rules []*Rule) error {
	id, state, spec := 0, 0, 0
	for _, r := range rules {
		id, state, spec = max(id, len(r.ID)), max(state, len(r.State)), max(spec, len(r.Spec))
	}
	for _, r := range rules {
		if _, err := fmt.Fprintf(w, "%-*s  %-*s  %-7s  %-*s  %s\n", id, r.ID, state, r.State, r.Level, spec, r.Spec, r.Statement); err != nil {
			return err
		}
	}
	return nil
}

// wrap breaks a text into lines; those after the first are indented.
func wrap(text string) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

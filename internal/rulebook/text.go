package rulebook

import (
	"fmt"
	"io"
	"strings"
)

// Lines of an explanation end before the column mostWidth, and begin behind the names.
const mostWidth, indent = 100, 13

// Explain writes all that is known of a rule, not wider than width unless that is 0.
func Explain(w io.Writer, r *Rule, width int) error {
	if width <= 0 || width > mostWidth {
		width = mostWidth
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", r.ID, r.State)
	for _, p := range r.Parts() {
		name := p.Name
		for _, item := range p.Items {
			if !p.Code {
				item = wrap(item, indent, width)
			}
			fmt.Fprintf(&b, "%-*s%s\n", indent, name, item)
			name = ""
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// leastRoom is the least room for the statements of a table beside the other columns.
const leastRoom = 40

// Table writes a line for each rule; with a width, the statement is broken into lines of
// that width, and stands below the rest, with the source, where little room is left.
func Table(w io.Writer, rules []*Rule, width int) error {
	id, state, spec := 0, 0, 0
	for _, r := range rules {
		id, state, spec = max(id, len(r.ID)), max(state, len(r.State)), max(spec, len(r.Spec))
	}
	for _, r := range rules {
		head := fmt.Sprintf("%-*s  %-*s  %-7s  %-*s", id, r.ID, state, r.State, r.Level, spec, r.Spec)
		statement, at := r.Statement, len(head)+2
		switch {
		case width <= 0:
			head += "  "
		case width-at < leastRoom:
			head = fmt.Sprintf("%-*s  %-*s  %s\n    ", id, r.ID, state, r.State, r.Level)
			statement = wrap(r.Spec+": "+statement, 4, width)
		default:
			head, statement = head+"  ", wrap(statement, at, width)
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", head, statement); err != nil {
			return err
		}
	}
	return nil
}

// wrap breaks a text into lines of a width; those after the first are indented, and the
// first begins there.
func wrap(text string, indent, width int) string {
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

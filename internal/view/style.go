package view

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/render"
)

// style is what a part of a line looks like: the parameters of SGR (ECMA-48 section 8.3.117).
type style string

const (
	usual    style = ""
	bold     style = "1"
	selected style = "7"
	red      style = "31"
	yellow   style = "33"
	cyan     style = "36"
	faint    style = "90"
	// heading is that of a pane, chosen that of the one with the focus.
	heading style = "1;36"
	chosen  style = "1;7"
	// wrong is what a filter is wrong in.
	wrong style = "1;4;31"
)

// colourless is the style without colours: what they mark is bold.
func (s style) colourless() style {
	switch s {
	case cyan, faint:
		return usual
	case red, yellow, heading, bold + ";" + red, bold + ";" + yellow, bold + ";" + faint:
		return bold
	case wrong:
		return "1;4"
	default:
		return s
	}
}

// paint puts text that is safe into a style.
func (m *Model) paint(s style, text string) string {
	if m.plain {
		s = s.colourless()
	}
	if s == usual || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// styleOf is that of a PDU.
func styleOf(mark render.Mark, level conformance.Severity) style {
	switch {
	case level == conformance.Error, mark == render.BadMark:
		return red
	case level == conformance.Warning, mark == render.OddMark:
		return yellow
	case mark == render.StartupMark:
		return cyan
	}
	return usual
}

// styleOfLevel is that of a severity, letter its sign.
func styleOfLevel(level conformance.Severity) style {
	switch level {
	case conformance.Error:
		return red
	case conformance.Warning:
		return yellow
	default:
		return usual
	}
}

func letter(level conformance.Severity) string {
	switch level {
	case conformance.Error:
		return "E"
	case conformance.Warning:
		return "W"
	case conformance.Note:
		return "n"
	default:
		return " "
	}
}

package termsvg

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Options of a picture.
type Options struct {
	// Title stands in the bar above the text.
	Title string
	// Columns is the width of the terminal in characters: longer lines are wrapped
	// as a terminal does it.
	Columns int
}

// Sizes in pixels.
const (
	fontSize   = 14
	charWidth  = 8.4 // of a monospaced font of that size
	lineHeight = 19
	margin     = 14
	barHeight  = 30
)

// style is what escape sequences have set.
type style struct {
	bold  bool
	color int // of SGR 30 to 37 and 90 to 97; 0: the usual one
	// inverse exchanges the colours of text and background.
	inverse bool
}

// colors are those of a dark terminal, readable on its background.
var colors = map[int]string{
	31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea", 37: "#f0f6fc", 90: "#8b949e",
	91: "#ffa198", 92: "#aff5b4", 93: "#f2cc60", 94: "#a5d6ff", 95: "#e2c5ff", 96: "#b3f0ff", 97: "#ffffff",
}

// piece is text of one style, in one line.
type piece struct {
	style
	text string
}

// Draw draws text with escape sequences (SGR, ECMA-48 section 8.3.117). It fails for
// sequences that it does not know.
func Draw(text string, opt Options) (string, error) {
	lines, err := layOut(text, opt.Columns)
	if err != nil {
		return "", err
	}
	width := 2*margin + float64(opt.Columns)*charWidth
	height := barHeight + 2*margin + len(lines)*lineHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(opt.Title))
	b.WriteString("<style>text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:14px;fill:#c9d1d9;white-space:pre}</style>\n")
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/><rect width="100%%" height="%d" rx="8" fill="#21262d"/>`+"\n", barHeight)
	fmt.Fprintf(&b, `<text x="%d" y="20" style="fill:#8b949e">$ %s</text>`+"\n", margin, html.EscapeString(opt.Title))
	for i, line := range lines {
		y := barHeight + margin + (i+1)*lineHeight - (lineHeight-fontSize)/2
		column := 0
		for _, p := range line {
			n := utf8.RuneCountInString(p.text)
			if p.inverse {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
					margin+float64(column)*charWidth, y-fontSize, float64(n)*charWidth, lineHeight, p.ink())
			}
			if strings.TrimSpace(p.text) != "" {
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n",
					margin+float64(column)*charWidth, y, float64(n)*charWidth, p.css(), html.EscapeString(p.text))
			}
			column += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// usualInk is the colour of text without another one, paper that of the background.
const usualInk, paper = "#c9d1d9", "#0d1117"

// ink is the colour of the style.
func (s style) ink() string {
	if c := colors[s.color]; c != "" {
		return c
	}
	return usualInk
}

// css is the style as an attribute.
func (s style) css() string {
	var v string
	if s.bold {
		v += "font-weight:bold;"
	}
	if c := colors[s.color]; s.inverse {
		v += "fill:" + paper
	} else if c != "" {
		v += "fill:" + c
	}
	if v == "" {
		return ""
	}
	return ` style="` + v + `"`
}

// layOut splits text into lines of so many columns, and these into pieces.
func layOut(text string, columns int) ([][]piece, error) {
	var (
		lines [][]piece
		now   style
	)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		var current []piece
		column := 0
		flush := func(t string) {
			for _, r := range t {
				if column == columns {
					lines, current, column = append(lines, current), nil, 0
				}
				if n := len(current); n > 0 && current[n-1].style == now {
					current[n-1].text += string(r)
				} else {
					current = append(current, piece{now, string(r)})
				}
				column++
			}
		}
		for line != "" {
			before, after, escaped := strings.Cut(line, "\x1b[")
			flush(before)
			if !escaped {
				break
			}
			codes, rest, ok := strings.Cut(after, "m")
			if !ok {
				return nil, fmt.Errorf("an escape sequence that is no SGR: %q", after)
			}
			line = rest
			if err := now.set(codes); err != nil {
				return nil, err
			}
		}
		lines = append(lines, current)
	}
	return lines, nil
}

// set applies the parameters of an SGR sequence.
func (s *style) set(codes string) error {
	for code := range strings.SplitSeq(codes, ";") {
		var n int
		if code != "" {
			if _, err := fmt.Sscanf(code, "%d", &n); err != nil {
				return fmt.Errorf("SGR %q: %w", codes, err)
			}
		}
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 22:
			s.bold = false
		case n == 7:
			s.inverse = true
		case n == 27:
			s.inverse = false
		case n == 39:
			s.color = 0
		case colors[n] != "":
			s.color = n
		default:
			return fmt.Errorf("SGR %d is not known", n)
		}
	}
	return nil
}

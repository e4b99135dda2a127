package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/visible"
)

//go:embed page.html
var pageText string

// headText is the beginning of both pages: what they may load, and their style.
//
//go:embed head.html
var headText string

//go:embed page.css
var style string

//go:embed page.js
var script string

// policy is what the page may load: its own style and script, and nothing else.
func policy() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
}

// hash is how a policy names what is in the page.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// longValue is the length from which a value has the room of two.
const longValue = 40

// shownAtOnce is how many rows of the table of connections are there without the script.
const shownAtOnce = 100

// page is made when it is first needed: each run of the program would wait for it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"ladder": drawLadder, "rates": drawRates, "depth": drawDepth, "latency": drawLatency, "sizes": drawSizes,
		"rows":     rowsJSON,
		"size":     render.Size,
		"number":   diagnose.Number,
		"duration": diagnose.Duration,
		"ns":       ns,
		"few":      func(rows []Row) []Row { return rows[:min(len(rows), shownAtOnce)] },
		"len64":    func(rows []Row) uint64 { return uint64(len(rows)) },
		"count":    func(n int, one, many string) string { return diagnose.Counted(uint64(max(n, 0)), one, many) },
		"more":     func(of, shown int) int { return max(of-shown, 0) },
		"long":     func(s string) bool { return len(s) > longValue },
		"level":    worstLevel,
		"problems": problems,
	}).Parse(headText + pageText))
})

// worstLevel is the worst severity of the diagnoses. What was not read in full is an error: nobody
// knows what the rest holds.
func worstLevel(c *Capture) string {
	if len(c.Failures) > 0 {
		return "error"
	}
	for _, level := range []string{"error", "warning", "note"} {
		for i := range c.Diagnoses {
			if c.Diagnoses[i].Level == level {
				return level
			}
		}
	}
	return "fine"
}

// problems counts the diagnoses in words, and says if there may be more.
func problems(c *Capture) string {
	n := map[string]uint64{}
	for i := range c.Diagnoses {
		n[c.Diagnoses[i].Level]++
	}
	var parts []string
	for _, level := range []string{"error", "warning", "note"} {
		if n[level] > 0 {
			parts = append(parts, diagnose.Counted(n[level], level, level+"s"))
		}
	}
	if len(c.Failures) > 0 {
		parts = append(parts, "not read in full")
	}
	if len(parts) == 0 {
		return "nothing went wrong"
	}
	return strings.Join(parts, ", ")
}

// rowsJSON are the rows of the table as the script reads them: an array for each, with the
// characters that HTML would obey escaped.
func rowsJSON(rows []Row) (template.JS, error) {
	all := make([][]any, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		detailed := 0
		if r.Detailed {
			detailed = 1
		}
		all = append(all, []any{
			r.Conn, r.Initiator, r.Responder, text(r.Carries), r.Startup, r.Ending, r.FPDUs, r.Octets, r.Lasted, r.Slow, r.Retransmitted, r.Gaps,
			r.Errors, r.Warnings, r.Notes, detailed,
		})
	}
	b, err := json.Marshal(all)
	return template.JS(b), err
}

// text shows what is hidden in a text.
func text(s string) string { return string(visible.AppendText(nil, s)) }

// view is what the template is given.
type view struct {
	*Report
	Policy string
	Style  template.CSS
	Script template.JS
}

// Write writes the page.
func Write(w io.Writer, r *Report) error {
	out := &visibleWriter{w: w}
	err := page().Execute(out, view{r, policy(), template.CSS(style), template.JS(script)})
	if err == nil {
		err = out.flush()
	}
	return err
}

// visibleWriter shows what is hidden in the page, wherever it is from: marks of direction and
// controls are escaped as in C. Html/template has escaped what HTML would obey.
type visibleWriter struct {
	w    io.Writer
	rest []byte // the beginning of a rune
	out  []byte
}

// Write implements [io.Writer].
func (v *visibleWriter) Write(b []byte) (int, error) {
	n := len(b)
	if len(v.rest) > 0 {
		b = append(v.rest, b...)
	}
	v.out = v.out[:0]
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 && !utf8.FullRune(b) {
			break
		}
		if r != '\n' && r != '\t' && visible.Hidden(r) {
			v.out = visible.AppendText(v.out, string(r))
		} else {
			v.out = utf8.AppendRune(v.out, r)
		}
		b = b[size:]
	}
	v.rest = bytes.Clone(b)
	_, err := v.w.Write(v.out)
	return n, err
}

// flush writes what is left of a rune that was cut.
func (v *visibleWriter) flush() error {
	if len(v.rest) == 0 {
		return nil
	}
	_, err := v.w.Write([]byte("\ufffd"))
	return err
}

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/merge"
	"github.com/iwdissect/iwdissect/internal/render"
)

//go:embed fleet.html
var fleetText string

// mostNamed is how many points of a diagnosis are named.
const mostNamed = 20

// fleet is made when it is first needed: each run of the program would wait for it.
var fleet = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("fleet").Funcs(template.FuncMap{
		"count":    countOf[int],
		"counted":  countOf[int64],
		"number":   func(n int64) string { return diagnose.Number(unsigned(n)) },
		"size":     func(n int64) string { return render.Size(unsigned(n)) },
		"duration": diagnose.Duration,
		"more":     func(of, shown int) int { return max(of-shown, 0) },
		"named":    func(points []string) []string { return points[:min(len(points), mostNamed)] },
		"found":    found,
		"long":     func(s string) bool { return len(s) > longValue },
		"facts":    fleetFacts,
		"verdict": func(code int) string {
			if code == 0 {
				return "fine"
			}
			return "error"
		},
	}).Parse(headText + fleetText))
})

// Fleet writes the page of what merge puts together. It has no script.
func Fleet(w io.Writer, s *merge.Summary, tool string) error {
	out := &visibleWriter{w: w}
	err := fleet().Execute(out, struct {
		*merge.Summary
		Tool   string
		Policy string
		Style  template.CSS
	}{s, tool, policy(), template.CSS(style)})
	if err == nil {
		err = out.flush()
	}
	return err
}

// found names findings by severity.
func found(c merge.Counts) string {
	parts := []string{
		countOf(c.Errors, "error", "errors"), countOf(c.Warnings, "warning", "warnings"), countOf(c.Notes, "note", "notes"),
	}
	if c.Decided > 0 {
		parts = append(parts, fmt.Sprintf("%d known or suppressed", c.Decided))
	}
	return strings.Join(parts, ", ")
}

// fleetFacts are sums over all points.
func fleetFacts(t merge.Totals) []Fact {
	number := func(n int64) string { return diagnose.Number(unsigned(n)) }
	facts := []Fact{
		{"points", number(int64(t.Points))},
		{"iWARP connections", number(t.Connections)},
		{"frames", diagnose.Number(t.Frames)},
		{"octets", render.Size(t.Octets)},
		{"PDUs", diagnose.Number(t.PDUs)},
		{"FPDUs", number(t.FPDUs)},
		{"bad CRCs", number(t.BadCRCs)},
		{"gaps", number(t.Gaps)},
		{"retransmissions", number(t.Retransmissions)},
		{"stalls", number(t.Stalls)},
		{"in Sends", render.Size(unsigned(t.SendOctets))},
		{"in Writes", render.Size(unsigned(t.WriteOctets))},
		{"in Reads", render.Size(unsigned(t.ReadOctets))},
	}
	if t.ReadLatency != nil {
		facts = append(facts, Fact{"latency of Reads", fmt.Sprintf("%s mean, %s p99 of the worst connection, %s most",
			diagnose.Duration(t.ReadMeanNS), diagnose.Duration(t.ReadP99NS), diagnose.Duration(t.ReadMaxNS))})
	}
	return facts
}

// countOf is a count with its noun.
func countOf[N int | int64](n N, one, many string) string {
	return diagnose.Counted(unsigned(int64(n)), one, many)
}

func unsigned(n int64) uint64 { return uint64(max(n, 0)) }

package render

import (
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// GivenUp says in sentences without an end what was given up of a capture to bound memory.
func GivenUp(t *pipeline.Totals) (out []string) {
	for _, x := range [...]struct {
		n         uint64
		one, many string
	}{
		{t.Evicted, "connection was ended early (--max-connections, --memory)", "connections were ended early (--max-connections, --memory)"},
		{t.Starved, "time a direction lost its place (--memory)", "times a direction lost its place (--memory)"},
		{t.GapsGivenUp, "gap was given up before what is missing came (--reorder-memory, --memory)", "gaps were given up before what is missing came (--reorder-memory, --memory)"},
		{t.RequestsForgotten, "request was forgotten before its answer came (16,384 of a side may wait)", "requests were forgotten before their answers came (16,384 of a side may wait)"},
		{t.RecordsDropped, "connection is not listed (--memory)", "connections are not listed (--memory)"},
		{t.FindingsUnlisted, "finding is not listed (--memory)", "findings are not listed (--memory)"},
	} {
		if x.n > 0 {
			out = append(out, diagnose.Counted(x.n, x.one, x.many))
		}
	}
	return out
}

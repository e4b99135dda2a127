package advice

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// Advice is about behaviour that no RFC demands or forbids, but that is known from
// experience with stacks: it often causes findings, or will lead to them.

// reportAdvice reports the advice of the current rule at a place. Observed is what it is
// based on; failure is what went wrong because of it in the trace, if anything.
func reportAdvice(r *rules.Report, at model.Placed, observed, failure string) {
	r.Report(adviceOf(r, at, observed, failure))
}

// adviceOf is the advice of the current rule at a place. A failure raises a note to a
// warning. The message names the findings that the advice explains.
func adviceOf(r *rules.Report, at model.Placed, observed, failure string) rules.Violation {
	e := r.Entry()
	v := rules.Violation{Place: at.Where(), Severity: e.Severity, Message: e.Message, Observed: observed}
	if failure != "" {
		v.Observed += "; " + failure
		v.Severity = max(v.Severity, catalogue.Warning)
	}
	explained, places := explained(r, &v.Place)
	if v.Explains = explained; len(explained) > 0 {
		v.Message += " This explains " + strings.Join(places, ", ") + "."
	}
	return v
}

// explained returns the rules that the current advice explains, and the first finding of each: one of the
// direction that the advice speaks of, or, if it may be about both sides, another one.
func explained(r *rules.Report, at *model.Place) (ids, places []string) {
	for _, id := range r.Entry().Explains {
		f := foundBy(r, id)
		if at.HasDir && f != nil && f.HasDir {
			if same := foundBy(r, id, at.Dir); same != nil || !r.EitherSide() {
				f = same
			}
		}
		if f != nil {
			ids, places = append(ids, id), append(places, fmt.Sprintf("%s in frame %d", id, f.Frame))
		}
	}
	return ids, places
}

// foundBy returns the first finding of a rule on the connection, those from before it ended included, in a direction if one is given; nil
// if there is none.
func foundBy(r *rules.Report, id string, dir ...trace.Dir) *rules.Finding {
	if f := r.FoundBy(id, dir...); f != nil {
		return f
	}
	return rules.FirstBy(r.Before(), id, dir...)
}

// violated names the first of these rules that a side has violated, "" if there is none.
func violated(r *rules.Report, d trace.Dir, ids ...string) string {
	for _, id := range ids {
		if f := r.FoundBy(id, d); f != nil {
			return fmt.Sprintf("%s violated in frame %d", id, f.Frame)
		}
	}
	return ""
}

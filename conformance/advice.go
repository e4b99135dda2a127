package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// adviceChecks are what is known of stacks that no RFC demands or forbids as such:
// what usually lies behind what was found, or will lead to it.
var adviceChecks = slices.Concat(rtrAdvice, markerAdvice, depthAdvice, privateAdvice, flagAdvice, streamAdvice, compareAdvice)

// advise gives the advice at hand: at places it, observed is what it rests on, and
// failure what went wrong by it in the trace, if anything. With that a note becomes
// a warning. The findings that it explains are named, and more is said if given.
func (c *conn) advise(at Finding, observed, failure string, more ...string) {
	e := c.running.entry
	at.Message, at.Observed, at.Severity = e.Message, observed, e.Severity
	if failure != "" {
		at.Observed += "; " + failure
		at.Severity = max(at.Severity, Warning)
	}
	if explained := c.explained(e.Explains); explained != "" {
		at.Message += " This explains " + explained + "."
	}
	for _, m := range more {
		at.Message += " " + m
	}
	c.fire(at)
}

// adviseOn gives advice on a startup frame.
func (c *conn) adviseOn(f *frame, observed, failure string) { c.advise(f.at(), observed, failure) }

// explained names the first finding of each of the rules.
func (c *conn) explained(ids []string) string {
	var out []string
	for _, id := range ids {
		if f := c.found(id); f != nil {
			out = append(out, fmt.Sprintf("%s in frame %d", id, f.Frame))
		}
	}
	return strings.Join(out, ", ")
}

// breaks names the first of the rules that a side has broken, "" if none was.
func (c *conn) breaks(d trace.Dir, ids ...string) string {
	for _, id := range ids {
		if f := c.found(id, d); f != nil {
			return fmt.Sprintf("%s fires in frame %d", id, f.Frame)
		}
	}
	return ""
}

// atFirst places a finding on the first FPDU of a half.
func (h *half) atFirst() Finding {
	return Finding{Dir: h.dir, HasDir: true, Frame: h.first.frame, PDU: h.first.pdu, HasPDU: true}
}

// frames are the startup frames that were seen, with what their receiver did if it
// left because of them.
func (c *conn) frames(f func(f *frame, left func() string)) {
	if c.request != nil {
		f(c.request, c.dropped)
	}
	if c.reply != nil {
		f(c.reply, c.givenUp)
	}
}

// plain reports whether both startup frames are there, without the word.
func (c *conn) plain() bool {
	enhanced := func(f *frame) bool { return f.S && f.Rev >= 2 }
	return c.accepted() && c.request != nil && c.reply != nil && !enhanced(c.request) && !enhanced(c.reply)
}

// onFrame reports whether a rule was broken by a startup frame.
func (c *conn) onFrame(f *frame) bool { return f != nil && foundOn(c.findings, f) }

// foundOn reports whether one of the findings is a rule that a frame broke.
func foundOn(all []Finding, f *frame) bool {
	return slices.ContainsFunc(all, func(x Finding) bool { return x.HasPDU && x.PDU == f.pdu && !x.Rule.Advice })
}

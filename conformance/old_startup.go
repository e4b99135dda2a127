package conformance

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// What rules in the old form need of the startup and of advice. It goes with them.

// frame fires on a startup frame.
func (c *conn) frame(f *frame, message, observed, expected string) {
	x := f.at()
	x.Message, x.Observed, x.Expected = message, observed, expected
	c.fire(x)
}

// first fires on the first segment of a half.
func (c *conn) first(h *half, s Severity, message, observed, expected string) {
	c.fire(Finding{
		Severity: s, Dir: h.dir, HasDir: true, Frame: h.first.frame, PDU: h.first.pdu, HasPDU: true,
		Message: message, Observed: observed, Expected: expected,
	})
}

// about sets the gates to those that hold for halves during the startup.
func (c *conn) about(halves ...*half) { c.have = c.startupGates(halves...) }

// at places a finding on an FPDU.
func (n *fpduNote) at() Finding {
	return Finding{Dir: n.dir, HasDir: true, Frame: n.frame, PDU: n.pdu, HasPDU: true}
}

// pending is a startup frame of a half that never became whole.
type pending struct {
	Finding
	since int64
}

func (h *half) pending() *pending {
	u := h.unfinished()
	if u == nil {
		return nil
	}
	return &pending{Finding{Dir: u.Dir, HasDir: u.HasDir, Frame: u.Frame, PDU: u.PDU, HasPDU: u.HasPDU, Offset: u.Offset, HasOffset: u.HasOffset, Related: u.Related}, u.since}
}

// advise gives the advice at hand.
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

// found returns what a rule has found on the connection so far.
func (c *conn) found(id string, dir ...trace.Dir) *Finding {
	return (&Case{conn: c}).FoundBy(id, dir...)
}

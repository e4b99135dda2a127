package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Finding is a rule that was broken.
type Finding struct {
	Rule     *conformance.Entry
	Severity conformance.Severity
	Conn     uint64
	Dir      trace.Dir
	HasDir   bool
	Frame    uint64
	PDU      uint64
	HasPDU   bool
	Text     string
	Further  int
}

// findings are those of a capture.
type findings struct {
	list     []Finding
	sorted   int // how many are in order
	count    [conformance.Error + 1]int
	unlisted int
	// levels is the worst of each PDU.
	levels map[uint64]conformance.Severity
}

// mostFindings bounds those that are listed.
const mostFindings = 50_000

// finding takes in what the engine found.
func (c *Capture) finding(f *conformance.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = true
	n := 1 + f.Further()
	c.found.count[f.Severity] += n
	if conn := c.conn(f.Conn); conn != nil {
		conn.Findings[f.Severity] += n
	}
	if len(c.found.list) >= mostFindings {
		c.found.unlisted += n
		return
	}
	if f.HasPDU {
		c.found.levels[f.PDU] = max(c.found.levels[f.PDU], f.Severity)
	}
	text := f.Message
	if f.Observed != "" {
		text = strings.TrimSuffix(text, ".") + ": observed " + f.Observed
	}
	if f.Expected != "" {
		text += ", expected " + f.Expected
	}
	c.found.list = append(c.found.list, Finding{
		Rule: f.Rule, Severity: f.Severity, Conn: f.Conn.Number, Dir: f.Dir, HasDir: f.HasDir, Frame: f.Frame,
		PDU: f.PDU, HasPDU: f.HasPDU, Text: text, Further: f.Further(),
	})
}

// all are the findings by frame.
func (f *findings) all() []Finding {
	if f.sorted < len(f.list) {
		slices.SortStableFunc(f.list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.PDU, b.PDU), cmp.Compare(a.Rule.ID, b.Rule.ID))
		})
		f.sorted = len(f.list)
	}
	return slices.Clone(f.list)
}

// Level is the worst finding about a PDU.
func (c *Capture) Level(pdu uint64) conformance.Severity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.found.levels[pdu]
}

// About are the findings about a PDU.
func (c *Capture) About(pdu uint64) (about []Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found.levels[pdu] == conformance.None {
		return nil
	}
	for i := range c.found.list {
		if f := &c.found.list[i]; f.HasPDU && f.PDU == pdu {
			about = append(about, *f)
		}
	}
	return about
}

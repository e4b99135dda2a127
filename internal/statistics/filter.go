package statistics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/trace"
)

// matcher decides about one frame after the other by a filter, and gathers the values of a
// field in it.
type matcher struct {
	text   string
	filter *display.Filter // nil: every frame matches
	// list are the fields of the filter and the one that is calculated with, which has the
	// slot.
	list []*fields.Field
	slot int
	c    *fields.Collector
}

// newMatcher makes one; nil if there is nothing to decide or to gather.
func newMatcher(filter string, wanted *fields.Field) (*matcher, error) {
	if filter == "" && wanted == nil {
		return nil, nil //nolint:nilnil // everything matches
	}
	m := &matcher{text: filter}
	if filter != "" {
		f, err := display.Compile(filter, fields.Find, fields.Names)
		if err != nil {
			return nil, err
		}
		m.filter, m.list = f, append(m.list, f.Fields()...)
	}
	if m.slot = slices.Index(m.list, wanted); m.slot < 0 && wanted != nil {
		m.slot = len(m.list)
		m.list = append(m.list, wanted)
	}
	return m, nil
}

// fresh makes the same matcher for another capture: a filter is for one goroutine.
func (m *matcher) fresh() *matcher {
	own := *m
	if m.filter != nil {
		own.filter, _ = display.Compile(m.text, fields.Find, fields.Names) // it was compiled before
	}
	own.c = fields.NewCollector(m.list)
	return &own
}

// judges reports whether it has to know of findings.
func (m *matcher) judges() bool { return fields.OfFindings(m.list) }

// match decides about what was gathered.
func (m *matcher) match() bool { return m.filter == nil || m.filter.Match(m.c.Row()) }

// values are those of the field.
func (m *matcher) values() []fields.Value { return m.c.Row().Values(m.slot) }

// field finds a field by its name.
func field(name string) (*fields.Field, error) {
	if f := fields.Find(name); f != nil {
		return f, nil
	}
	if near := cmp.Or(fields.Instead(name), strictyaml.Nearest(name, fields.Names())); near != "" {
		return nil, fmt.Errorf("no field is called %q; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("no field is called %q (iwdissect fields lists all)", name)
}

// Finding takes a finding for the filters, as soon as it is known. One about an earlier frame
// comes too late for it, unless the capture is read twice.
func (r *Run) Finding(f *conformance.Finding) {
	if len(r.matchers) == 0 || f.Frame != r.at {
		return
	}
	known := fields.Finding{Rule: f.Rule.ID, Level: f.Severity.String(), PDU: f.PDU, HasPDU: f.HasPDU}
	for _, m := range r.matchers {
		m.c.Finding(&known)
	}
}

// gathers tells the filters of a PDU.
func (r *Run) gathers(p *trace.PDU) {
	for _, m := range r.matchers {
		m.c.PDU(p)
	}
	if r.places {
		r.late.PDU(p)
	}
}

// noteLate says in a report how many PDUs were decided about with another frame than theirs.
func (r *Run) noteLate(rep *Report) {
	n := r.late.Later + r.late.Never
	if n == 0 {
		return
	}
	note := fmt.Sprintf("The place of %d of the PDUs became known only behind the frame: %d count with the later frame that showed it, %d with none.",
		n, r.late.Later, r.late.Never)
	if r.again {
		note += " With -2 each counts with its frame."
	}
	rep.note(note)
}

// ofPDUs reports whether the matcher at a place asks for what PDUs say.
func (r *Run) ofPDUs(gate int) bool { return gate >= 0 && fields.OfPDUs(r.matchers[gate].list) }

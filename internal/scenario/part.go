package scenario

import (
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// Part is where a scenario of one connection stands in another file, such as a case of probe:
// it has neither a summary nor what the modelled link, capture and connections need.
type Part struct {
	// Name is what errors and comments call it.
	Name string
	// At is where it begins; Entries are its keys with their values.
	At      strictyaml.Pos
	Entries []strictyaml.Entry
	// Regions are names of memory of the server that is known before the timeline.
	Regions []string
}

// PartKeys are the keys of a part.
func PartKeys() []string { return []string{"seed", "both", "client", "server", "timeline", "faults"} }

// ReadPart reads a scenario that is played on a socket out of another file. Its errors are
// those of the report; then it returns nil.
func ReadPart(r *strictyaml.Report, p *Part) *Scenario {
	s := &Scenario{Name: p.Name, File: r.File, root: &node{Pos: p.At, Kind: mapping, Entries: p.Entries}, part: p}
	before := r.Failed()
	c := newCompiler(r, false)
	c.scenario(s)
	for _, u := range c.unfit {
		r.Fail(u.pos, "%s cannot be done on a socket: %s", u.what, u.why)
	}
	if r.Failed() > before {
		return nil
	}
	s.faulty = c.faulty
	return s
}

// foreseen makes the regions of a part known.
func (c *compiler) foreseen(p *Part) {
	if p == nil {
		return
	}
	for _, name := range p.Regions {
		c.timeline.regions[region{c.conns[0].Name, synth.Server, name}] = true
	}
}

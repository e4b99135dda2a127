package scenario

import (
	"maps"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// atOnce follows parts that are done at the same time.
func (o *order) atOnce(parts [][]synth.Step) {
	opened := make([]map[string]synth.Place, len(parts))
	for i, p := range parts {
		opened[i] = map[string]synth.Place{}
		o.opened(p, opened[i])
	}
	after := o.clone()
	for i, p := range parts {
		own := o.clone()
		for j := range parts {
			if j != i {
				maps.Copy(own.meanwhile, opened[j])
			}
		}
		own.run(p)
		for k, t := range own.lines {
			if t != o.lines[k] {
				after.lines[k] = o.merged(k, after.lines[k], t)
			}
		}
		changed(after.begun, o.begun, own.begun)
		changed(after.ended, o.ended, own.ended)
	}
	after.left()
	o.lines, o.begun, o.ended = after.lines, after.begun, after.ended
}

// changed takes over what a part has changed of what there was before.
func changed(after, before, own map[string]synth.Place) {
	for name, at := range own {
		if at != before[name] {
			after[name] = at
		}
	}
	for name := range before {
		if _, still := own[name]; !still {
			delete(after, name)
		}
	}
}

// clone is the order at the same place, for steps that are done at the same time as others.
func (o *order) clone() *order {
	return &order{
		c: o.c, again: o.again, lines: maps.Clone(o.lines),
		begun: maps.Clone(o.begun), ended: maps.Clone(o.ended), meanwhile: maps.Clone(o.meanwhile),
	}
}

// merged is how far a line is after two parts, of which either may be the later one: an association
// is left only if both leave it.
func (o *order) merged(key string, one, other track) track {
	if one == o.lines[key] {
		return other
	}
	if one.over != never && other.over == never {
		one, other = other, one
	}
	other.leaves = one.leaves && other.leaves
	return other
}

// left finds the associations that several parts have closed, of which each left it to the others.
func (o *order) left() {
	for key, t := range o.lines {
		if t.leaves && t.over == never && len(o.meanwhile) == 0 && !o.inUse(key) {
			t.over = t.last
			o.lines[key] = t
		}
	}
}

// opened collects what steps open and start, at any depth.
func (o *order) opened(steps []synth.Step, into map[string]synth.Place) {
	for i := range steps {
		s := &steps[i]
		conn := o.conn(s)
		if s.Verb == synth.Connect || s.Verb == synth.Open {
			into[conn.key()] = s.Place
		}
		if s.Verb == synth.Connect || s.Verb == synth.Start {
			into["start of "+conn.Name] = s.Place
		}
		o.opened(s.Steps, into)
		for _, b := range s.Branches {
			o.opened(b, into)
		}
	}
}

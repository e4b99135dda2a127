package scenario

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// The bounds on a timeline.
const (
	// maxTimes is how often a step may be repeated.
	maxTimes = 100_000
	// maxDone is how many steps there may be with all repetitions, but those
	// of a load, which its size bounds.
	maxDone = 1_000_000
	// maxWaited is how long a timeline may wait, all in all.
	maxWaited = 365 * maxDuration
)

// timeline is what is known of the steps so far.
type timeline struct {
	// messages by name; ordinals count the steps of each verb.
	messages map[string]message
	ordinals map[string]int
	regions  map[region]bool
	done     uint64
	waited   uint64
	// told: that the timeline is too long.
	told bool
}

// message is a step whose messages have a place.
type message struct {
	line int
	// answered: its messages have responses.
	answered bool
}

// region is registered memory.
type region struct {
	conn string
	side synth.Side
	name string
}

// scope is what steps have from those that they are in.
type scope struct {
	on    string
	from  synth.Side
	times uint64
}

// step is one on its way.
type step struct {
	pos
	synth.Step
	scope
	verb string
	def  *verb
	// times that were given, 0 if none.
	repeated int
	name     string
	nameAt   pos
	// only: in the clean trace, or in the faulty one.
	only only
}

type only uint8

const (
	always only = iota
	onlyClean
	onlyFaulty
)

var onlys = map[string]only{"clean": onlyClean, "faulty": onlyFaulty}

// steps reads a list of steps.
func (c *compiler) steps(n *node, in scope) []synth.Step {
	if !c.is(n, sequence) {
		return nil
	}
	if len(n.items) == 0 {
		c.fail(n.pos, "no step")
	}
	var out []synth.Step
	for _, i := range n.items {
		if s, ok := c.step(i, in); ok {
			out = append(out, s)
		}
	}
	return out
}

// step reads a step. It returns false if the trace does not have it.
func (c *compiler) step(n *node, in scope) (synth.Step, bool) {
	if n.kind == scalar {
		line := n
		if n = c.words(line); n == nil {
			return synth.Step{}, false
		}
	}
	if !c.is(n, mapping) {
		return synth.Step{}, false
	}
	s := &step{pos: n.pos, scope: in}
	value := c.verb(n, s)
	if value == nil {
		return synth.Step{}, false
	}
	c.modifiers(n, s)
	s.Conn, s.From, s.Line = s.on, s.from, s.line
	c.call(s)
	c.spend(s, uint64(max(s.repeated, 1)))
	s.def.read(c, s, value)
	c.enough(s, n)
	if s.only != always {
		c.faulty = true
	}
	there := s.only == always || c.clean == (s.only == onlyClean)
	return c.times(s), there
}

// verb finds the one verb of a step and returns its value.
func (c *compiler) verb(n *node, s *step) (value *node) {
	for _, e := range n.entries {
		def, ok := c.verbs[e.key.text]
		switch {
		case !ok:
		case value != nil:
			c.fail(e.key.pos, "a step has one verb, here are %s and %s", s.verb, e.key.text)
			return nil
		default:
			s.verb, s.def, value = e.key.text, def, e.value
		}
	}
	if value != nil {
		return value
	}
	if len(n.entries) == 0 {
		c.fail(n.pos, "a step needs a verb")
		return nil
	}
	e := n.entries[0].key
	for _, x := range n.entries {
		if _, ok := common[x.key.text]; !ok {
			e = x.key
			break
		}
	}
	if _, ok := sides[e.text]; ok {
		c.fail(e.pos, "in a mapping the side is from: %s", e.text)
		return nil
	}
	c.unknown(e.pos, "step", e.text, names(c.verbs))
	return nil
}

// common are the modifiers of all steps.
var common = map[string]bool{"as": true, "from": true, "on": true, "times": true, "only": true}

// modifiers reads those of all steps, and refuses those of other verbs.
func (c *compiler) modifiers(n *node, s *step) {
	for _, e := range n.entries {
		switch e.key.text {
		case s.verb:
		case "as":
			s.nameAt = e.value.pos
			c.name(&s.name)(e.value)
		case "from":
			word(c, &s.from, "side", sides)(e.value)
		case "on":
			if on := c.on(e.value); len(on) == 1 {
				s.on = on[0].Name
			}
		case "times":
			number(c, &s.repeated, 1, maxTimes)(e.value)
			if s.repeated != 0 && s.def.once {
				c.fail(e.key.pos, "%s is done once", s.verb)
			}
		case "only":
			word(c, &s.only, "trace", onlys)(e.value)
		default:
			if !s.def.takes(e.key.text) {
				c.unknown(e.key.pos, "key of "+s.verb, e.key.text, append(names(common), s.def.keys...))
			}
		}
	}
}

// call gives the messages of a step their name.
func (c *compiler) call(s *step) {
	t := &c.timeline
	if !s.def.message {
		if s.name != "" {
			c.fail(s.nameAt, "%s has no messages that could be named", s.verb)
		}
		return
	}
	t.ordinals[s.verb]++
	at := s.nameAt
	if s.name == "" {
		s.name, at = s.verb+itoa(t.ordinals[s.verb]), s.pos
	}
	if other, twice := t.messages[s.name]; twice {
		c.fail(at, "a second step is called %q, the first is in line %d", s.name, other.line)
	} else if _, taken := startupPlaces[s.name]; taken {
		c.fail(at, "%q is the name of what the startup sends or of a Terminate", s.name)
	}
	t.messages[s.name] = message{s.line, s.def.answered}
	s.Name = s.name
}

// spend counts what will be done.
func (c *compiler) spend(s *step, times uint64) {
	if s.times > maxDone || times > maxDone {
		s.times = maxDone + 1
	} else {
		s.times *= times
	}
	t := &c.timeline
	if t.done += s.times; t.done > maxDone {
		t.done = maxDone + 1
		c.tooLong(s.pos, "the timeline has more than %d steps with all repetitions; a load has no such bound", maxDone)
	}
}

func (c *compiler) tooLong(p pos, format string, args ...any) {
	if !c.timeline.told {
		c.timeline.told = true
		c.fail(p, format, args...)
	}
}

// waits counts the time that passes.
func (c *compiler) waits(s *step) {
	t := &c.timeline
	if t.waited += s.times * uint64(s.For); t.waited > uint64(maxWaited) { //nolint:gosec // a million days fit
		c.tooLong(s.pos, "the timeline waits for more than %d days", maxWaited/maxDuration)
	}
}

// times repeats what the player does not repeat by itself.
func (c *compiler) times(s *step) synth.Step {
	switch {
	case s.repeated == 0:
	case s.def.message || s.Verb == synth.Repeat:
		s.Step.Times = s.repeated
	default:
		return synth.Step{Verb: synth.Repeat, Conn: s.Conn, From: s.From, Times: s.repeated, Steps: []synth.Step{s.Step}, Line: s.line}
	}
	return s.Step
}

// words makes a mapping of a step that is one line: side, verb, value, and
// what follows.
func (c *compiler) words(n *node) *node {
	out := &node{pos: n.pos, kind: mapping}
	ws := split(n)
	add := func(at pos, key string, value *node) {
		if out.get(key) != nil {
			c.fail(at, "a second %q", key)
		}
		out.entries = append(out.entries, entry{&node{pos: at, kind: scalar, text: key}, value})
	}
	value := func(w *node, text string) *node { return &node{pos: w.pos, kind: scalar, text: text} }
	if len(ws) > 0 {
		if _, ok := sides[ws[0].text]; ok {
			add(ws[0].pos, "from", ws[0])
			ws = ws[1:]
		}
	}
	if len(ws) == 0 {
		c.fail(n.pos, "a step needs a verb")
		return nil
	}
	verbAt := len(out.entries)
	add(ws[0].pos, ws[0].text, &node{pos: ws[0].pos})
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		times, counted := strings.CutPrefix(w.text, "x")
		_, isNumber := unsigned(times)
		switch {
		case counted && isNumber:
			add(w.pos, "times", value(w, times))
		case w.text == "solicited":
			add(w.pos, "solicited", value(w, "true"))
		case w.text == "with" && i+1 < len(ws) && ws[i+1].text == "invalidate":
			i++
			add(ws[i].pos, "invalidate", value(w, "true"))
		case i == 1 && unicode.IsDigit(rune(w.text[0])):
			out.entries[verbAt].value = w
		default:
			c.fail(w.pos, "%q is not understood in a step of one line", w.text)
			return nil
		}
	}
	return out
}

// split returns the words of a scalar with their places.
func split(n *node) (ws []*node) {
	column := n.column
	if n.quoted {
		column++
	}
	rest := n.text
	for rest != "" {
		trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
		column += utf8.RuneCountInString(rest[:len(rest)-len(trimmed)])
		end := strings.IndexFunc(trimmed, unicode.IsSpace)
		if end < 0 {
			end = len(trimmed)
		}
		if end > 0 {
			ws = append(ws, &node{pos: pos{n.line, column}, kind: scalar, text: trimmed[:end]})
		}
		column += utf8.RuneCountInString(trimmed[:end])
		rest = trimmed[end:]
	}
	return ws
}

// enough checks that a step has what its verb cannot do without.
func (c *compiler) enough(s *step, n *node) {
	for _, key := range s.def.needs {
		if n.get(key) == nil {
			c.fail(s.pos, "%s needs %s", s.verb, key)
		}
	}
	for _, e := range n.entries {
		if s.def.takes(e.key.text) {
			s.def.set(c, s, e.key.text, e.value)
		}
	}
}

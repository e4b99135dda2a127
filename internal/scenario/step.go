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
	// registered are those that steps register, until one takes them away.
	registered []registered
	done       uint64
	waited     uint64
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
	// absent: the trace does not have them.
	absent bool
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
	if !c.Is(n, sequence) {
		return nil
	}
	if len(n.Items) == 0 {
		c.Fail(n.Pos, "no step")
	}
	var out []synth.Step
	for _, i := range n.Items {
		if s, ok := c.step(i, in); ok {
			out = append(out, s)
		}
	}
	return out
}

// step reads a step. It returns false if the trace does not have it.
func (c *compiler) step(n *node, in scope) (synth.Step, bool) {
	if n.Kind == scalar {
		line := n
		if n = c.words(line); n == nil {
			return synth.Step{}, false
		}
	}
	if !c.Is(n, mapping) {
		return synth.Step{}, false
	}
	s := &step{pos: n.Pos, scope: in}
	value := c.verb(n, s)
	if value == nil {
		return synth.Step{}, false
	}
	c.modifiers(n, s)
	s.Conn, s.From = s.on, s.from
	s.Step.Place = synth.Place(s.pos)
	there := s.only == always || c.clean == (s.only == onlyClean)
	s.absent = s.absent || !there
	defer c.within(c.stepOn(s))()
	c.call(s)
	c.spend(s, uint64(max(s.repeated, 1)))
	s.def.read(c, s, value)
	c.enough(s, n)
	if s.only != always {
		c.faulty = true
	}
	return c.times(s), there
}

// verb finds the one verb of a step and returns its value.
func (c *compiler) verb(n *node, s *step) (value *node) {
	for _, e := range n.Entries {
		def, ok := c.verbs[e.Key.Text]
		switch {
		case !ok:
		case value != nil:
			c.Fail(e.Key.Pos, "a step has one verb, here are %s and %s", s.verb, e.Key.Text)
			return nil
		default:
			s.verb, s.def, value = e.Key.Text, def, e.Value
		}
	}
	if value != nil {
		return value
	}
	if len(n.Entries) == 0 {
		c.Fail(n.Pos, "a step needs a verb")
		return nil
	}
	e := n.Entries[0].Key
	for _, x := range n.Entries {
		if _, ok := common[x.Key.Text]; !ok {
			e = x.Key
			break
		}
	}
	if _, ok := sides[e.Text]; ok {
		c.Fail(e.Pos, "in a mapping the side is from: %s", e.Text)
		return nil
	}
	c.Unknown(e.Pos, "step", e.Text, c.possible(names(c.verbs)))
	return nil
}

// common are the modifiers of all steps.
var common = map[string]bool{"as": true, "from": true, "on": true, "times": true, "only": true}

// modifiers reads those of all steps, and refuses those of other verbs.
func (c *compiler) modifiers(n *node, s *step) {
	for _, e := range n.Entries {
		switch e.Key.Text {
		case s.verb:
		case "as":
			s.nameAt = e.Value.Pos
			c.name(&s.name)(e.Value)
		case "from":
			word(c, &s.from, "side", sides)(e.Value)
		case "on":
			if on := c.on(e.Value); len(on) == 1 {
				s.on = on[0].Name
			}
		case "times":
			number(c, &s.repeated, 1, maxTimes)(e.Value)
			if s.repeated != 0 && s.def.once {
				c.Fail(e.Key.Pos, "%s is done once", s.verb)
			}
		case "only":
			word(c, &s.only, "trace", onlys)(e.Value)
		default:
			if !s.def.takes(e.Key.Text) {
				c.Unknown(e.Key.Pos, "key of "+s.verb, e.Key.Text, append(names(common), s.def.keys...))
			}
		}
	}
}

// call gives the messages of a step their name.
func (c *compiler) call(s *step) {
	t := &c.timeline
	if !s.def.message {
		if s.name != "" {
			c.Fail(s.nameAt, "%s has no messages that could be named", s.verb)
		}
		return
	}
	t.ordinals[s.verb]++
	at := s.nameAt
	if s.name == "" {
		s.name, at = s.verb+itoa(t.ordinals[s.verb]), s.pos
	}
	if other, twice := t.messages[s.name]; twice {
		c.Fail(at, "a second step is called %q, the first is in line %d", s.name, other.line)
	} else if _, taken := startupPlaces[s.name]; taken {
		c.Fail(at, "%q is the name of what the startup sends or of a Terminate", s.name)
	}
	t.messages[s.name] = message{s.pos.Line, s.def.answered}
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
		c.Fail(p, format, args...)
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
		return synth.Step{Verb: synth.Repeat, Conn: s.Conn, From: s.From, Times: s.repeated, Steps: []synth.Step{s.Step}, Place: synth.Place(s.pos)}
	}
	return s.Step
}

// words makes a mapping of a step that is one line: side, verb, value, and
// what follows.
func (c *compiler) words(n *node) *node {
	out := &node{Pos: n.Pos, Kind: mapping}
	ws := split(n)
	add := func(at pos, key string, value *node) {
		if out.Get(key) != nil {
			c.Fail(at, "a second %q", key)
		}
		out.Entries = append(out.Entries, entry{Key: &node{Pos: at, Kind: scalar, Text: key}, Value: value})
	}
	value := func(w *node, text string) *node { return &node{Pos: w.Pos, Kind: scalar, Text: text} }
	if len(ws) > 0 {
		if _, ok := sides[ws[0].Text]; ok {
			add(ws[0].Pos, "from", ws[0])
			ws = ws[1:]
		}
	}
	if len(ws) == 0 {
		c.Fail(n.Pos, "a step needs a verb")
		return nil
	}
	verbAt := len(out.Entries)
	add(ws[0].Pos, ws[0].Text, &node{Pos: ws[0].Pos})
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		times, counted := strings.CutPrefix(w.Text, "x")
		_, isNumber := unsigned(times)
		switch {
		case counted && isNumber:
			add(w.Pos, "times", value(w, times))
		case w.Text == "solicited":
			add(w.Pos, "solicited", value(w, "true"))
		case w.Text == "with" && i+1 < len(ws) && ws[i+1].Text == "invalidate":
			i++
			add(ws[i].Pos, "invalidate", value(w, "true"))
		case i == 1 && unicode.IsDigit(rune(w.Text[0])):
			out.Entries[verbAt].Value = w
		default:
			c.Fail(w.Pos, "%q is not understood in a step of one line", w.Text)
			return nil
		}
	}
	return out
}

// split returns the words of a scalar with their places.
func split(n *node) (ws []*node) {
	column := n.Column
	if n.Quoted {
		column++
	}
	rest := n.Text
	for rest != "" {
		trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
		column += utf8.RuneCountInString(rest[:len(rest)-len(trimmed)])
		end := strings.IndexFunc(trimmed, unicode.IsSpace)
		if end < 0 {
			end = len(trimmed)
		}
		if end > 0 {
			ws = append(ws, &node{Pos: pos{Line: n.Line, Column: column}, Kind: scalar, Text: trimmed[:end]})
		}
		column += utf8.RuneCountInString(trimmed[:end])
		rest = trimmed[end:]
	}
	return ws
}

// enough reads what a step has beside its verb, and checks that it has what the verb cannot do without.
func (c *compiler) enough(s *step, n *node) {
	for _, key := range s.def.needs {
		if n.Get(key) == nil {
			c.Fail(s.pos, "%s needs %s", s.verb, key)
		}
	}
	for _, e := range n.Entries {
		if s.def.takes(e.Key.Text) {
			s.def.set(c, s, e.Key.Text, e.Value)
		}
	}
	if s.def.check != nil {
		s.def.check(c, s, n)
	}
}

package probe

import (
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// mostCases is how many cases a file may have.
const mostCases = 1000

// reader reads a file of cases.
type reader struct {
	*strictyaml.Report
	group string
	// usual is what cases have that do not say otherwise.
	usual Case
	cases []*Case
}

// Parse reads a file of cases: a group of them, or a single one. The error joins an
// [strictyaml.Error] for each thing that is wrong.
func Parse(name string, src []byte) ([]*Case, error) {
	r := &reader{Report: &strictyaml.Report{File: name, What: "file of cases"}, usual: Case{Tests: Responder}}
	if root := r.Parse(src); root != nil {
		r.file(root)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r.cases, nil
}

func (r *reader) file(root *strictyaml.Node) {
	if root.Get("case") != nil {
		r.read(root)
		return
	}
	var cases *strictyaml.Node
	if !r.Mapping(root, strictyaml.Keys{
		"group": r.Text(&r.group),
		"about": r.Text(new(string)),
		"tests": set(r, &r.usual.Tests, "role", roles),
		"needs": set(r, &r.usual.Needs, "need", needs),
		"rests": r.rests(&r.usual),
		"cases": func(n *strictyaml.Node) { cases = n },
	}) {
		return
	}
	switch {
	case cases == nil:
		r.Fail(root.Pos, "there are neither cases nor a case")
		return
	case r.Is(cases, strictyaml.Sequence) && len(cases.Items) > mostCases:
		r.Fail(cases.Pos, "a file has at most %d cases, this one has %d", mostCases, len(cases.Items))
		return
	}
	for _, n := range cases.Items {
		r.read(n)
	}
}

var roles = map[string]Role{"responder": Responder, "initiator": Initiator}

var needs = map[string]Need{"memory": NeedMemory, "reads": NeedReads, "crc": NeedCRC, "no-crc": NeedNoCRC, "enhanced": NeedEnhanced}

// set reads a list of words, each of which stands for a bit.
func set[T ~uint8](r *reader, p *T, what string, words map[string]T) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		*p = 0
		r.List(n, func(n *strictyaml.Node) {
			var one T
			strictyaml.Word(r.Report, &one, what, words)(n)
			*p |= one
		})
	}
}

func (r *reader) rests(c *Case) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		c.Rests = nil
		r.texts(&c.Rests)(n)
	}
}

// read reads a case.
func (r *reader) read(n *strictyaml.Node) {
	c := &Case{Group: r.group, Tests: r.usual.Tests, Needs: r.usual.Needs, Rests: r.usual.Rests, File: r.File, Line: n.Line}
	part := &scenario.Part{At: n.Pos, Regions: []string{RegionPeer, RegionEnd}}
	keys := strictyaml.Keys{
		"case":     r.Text(&c.Name),
		"group":    r.Text(&c.Group),
		"sends":    r.Text(&c.Sends),
		"demands":  r.Text(&c.Demands),
		"rules":    r.texts(&c.Rules),
		"spec":     r.Text(&c.Spec),
		"section":  r.Text(&c.Section),
		"tests":    set(r, &c.Tests, "role", roles),
		"needs":    set(r, &c.Needs, "need", needs),
		"rests":    r.rests(c),
		"answers":  r.answers(&c.Answers),
		"declines": r.answers(&c.Declines),
		"shows":    r.filters(&c.Shows),
		"misses":   r.filters(&c.Misses),
		"allows":   r.texts(&c.Allows),
		"cut":      r.cut(c),
	}
	var own []strictyaml.Entry
	for _, key := range scenario.PartKeys() {
		keys[key] = func(*strictyaml.Node) {}
	}
	if !r.Mapping(n, keys) {
		return
	}
	for _, e := range n.Entries {
		for _, key := range scenario.PartKeys() {
			if e.Key.Text == key {
				own = append(own, e)
			}
		}
	}
	r.complete(n, c)
	c.ownStartup = ownStartup(n)
	part.Name, part.Entries = c.Name, own
	if c.scenario = scenario.ReadPart(r.Report, part); c.scenario != nil {
		r.cases = append(r.cases, c)
	}
}

// ownStartup reports whether a case says which startup the probe does.
func ownStartup(n *strictyaml.Node) bool {
	for _, side := range []string{"both", "client"} {
		host := n.Get(side)
		if host == nil {
			continue
		}
		if m := host.Get("mpa"); m != nil {
			return m.Get("revision") != nil || m.Get("dialect") != nil || m.Get("rtr") != nil || m.Get("peer_to_peer") != nil
		}
	}
	return false
}

// complete checks what a case cannot do without, and fills in what follows from its rules.
func (r *reader) complete(n *strictyaml.Node, c *Case) {
	if !isName(c.Name) {
		r.Fail(n.Pos, "a case needs a name: small letters, digits and -, beginning with a letter, at most 64")
	}
	for _, key := range []string{"sends", "demands", "rules", "answers"} {
		if n.Get(key) == nil {
			r.Fail(n.Pos, "a case needs %s", key)
		}
	}
	for _, t := range []string{c.Sends, c.Demands, c.Group, c.Spec, c.Section} {
		if strings.ContainsFunc(t, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			r.Fail(n.Pos, "control characters in the text of a case")
		}
	}
	if len(c.Rules) == 0 {
		return
	}
	e, known := conformance.Catalogue().Find(c.Rules[0])
	switch {
	case known && c.Spec == "":
		c.Spec, c.Section = e.Spec, e.Section
	case c.Spec == "":
		r.Fail(n.Pos, "%s is no rule of check: spec and section have to say where it stands", c.Rules[0])
	}
}

// isName reports whether a case may be called so: it becomes the name of a file.
func isName(s string) bool {
	for i, r := range s {
		if letter := r >= 'a' && r <= 'z'; !letter && (i == 0 || (r < '0' || r > '9') && r != '-') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// texts reads a list of words.
func (r *reader) texts(p *[]string) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		r.List(n, func(n *strictyaml.Node) {
			if r.Is(n, strictyaml.Scalar) {
				*p = append(*p, n.Text)
			}
		})
	}
}

// filters reads display filters.
func (r *reader) filters(p *[]string) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		r.List(n, func(n *strictyaml.Node) {
			if !r.Is(n, strictyaml.Scalar) {
				return
			}
			f, err := display.Compile(n.Text, fields.Find, fields.Names)
			if err != nil {
				msg, _, _ := strings.Cut(err.Error(), "\n")
				r.Fail(n.Pos, "this is no display filter: %s", msg)
				return
			}
			for _, x := range f.Fields() {
				if x.When == fields.Late {
					r.Fail(n.Pos, "%s is known later than the PDU", x.Name)
				}
			}
			*p = append(*p, n.Text)
		})
	}
}

func (r *reader) cut(c *Case) strictyaml.Setter {
	size := func(p *int) strictyaml.Setter {
		return func(n *strictyaml.Node) { *p = r.number(n, 1, 1<<16) }
	}
	return func(n *strictyaml.Node) {
		r.Mapping(n, strictyaml.Keys{"each": size(&c.Cut.Each), "end": size(&c.Cut.End)})
	}
}

// number reads a number from lo to hi.
func (r *reader) number(n *strictyaml.Node, lo, hi int) (v int) {
	if !r.Is(n, strictyaml.Scalar) {
		return 0
	}
	for _, d := range n.Text {
		if d < '0' || d > '9' || v > hi {
			v = -1
			break
		}
		v = 10*v + int(d-'0')
	}
	if v < lo || v > hi {
		r.Fail(n.Pos, "expected a number from %d to %d, not %q", lo, hi, n.Text)
		return 0
	}
	return v
}

var answerWords = map[string]Kind{"goes-on": GoesOn, "follows": Follows, "silence": Silence, "no-common-rtr": NoCommonRTR}

// answers reads answers: words of their own, or what expect takes of ends.
func (r *reader) answers(p *[]Answer) strictyaml.Setter {
	return func(n *strictyaml.Node) {
		*p = (*p)[:0]
		r.List(n, func(n *strictyaml.Node) {
			if !r.Is(n, strictyaml.Scalar) {
				return
			}
			if k, ok := answerWords[n.Text]; ok {
				*p = append(*p, Answer{Kind: k})
				return
			}
			if a, ok := r.ending(n); ok {
				*p = append(*p, a)
			}
		})
	}
}

// ending reads how the peer is to end the connection.
func (r *reader) ending(n *strictyaml.Node) (a Answer, ok bool) {
	x := scenario.ReadExpected(r.Report, n)
	if x == nil {
		return a, false
	}
	switch x.What {
	case synth.ExpectTerminate:
		return Answer{Kind: Terminates, Code: [3]int{x.Layer, x.EType, x.Code}, Known: x.Known}, true
	case synth.ExpectReject:
		return Answer{Kind: Rejects}, true
	case synth.ExpectClose:
		return Answer{Kind: Closes}, true
	case synth.ExpectSend, synth.ExpectImmediate, synth.ExpectWrite, synth.ExpectPrivate, synth.ExpectReset, synth.ExpectEnd:
	}
	r.Fail(n.Pos, "an answer is goes-on, follows, silence, no-common-rtr, close, reject, terminate or terminate CODE, not %q", n.Text)
	return a, false
}

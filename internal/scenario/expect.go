package scenario

import (
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// expectations are the words that expect begins with.
var expectations = map[string]synth.Expectation{
	"send": synth.ExpectSend, "immediate": synth.ExpectImmediate, "write": synth.ExpectWrite, "private": synth.ExpectPrivate,
	"terminate": synth.ExpectTerminate, "reject": synth.ExpectReject, "close": synth.ExpectClose, "reset": synth.ExpectReset,
	"end": synth.ExpectEnd,
}

// advertLayouts are how an advertisement of memory can be laid out.
var advertLayouts = map[string]string{"rping": "rping", "iwprobe": "iwprobe"}

// expect reads what the other side is to do: a word, and a size or a code behind some.
func (c *compiler) expect(s *step, n *node) {
	s.Verb = synth.Expect
	c.expected(&s.Expect, n)
}

// ReadExpected reads what a step expect has, out of another file; nil if it is wrong.
func ReadExpected(r *strictyaml.Report, n *strictyaml.Node) *synth.Expected {
	before := r.Failed()
	var e synth.Expected
	if newCompiler(r, false).expected(&e, n); r.Failed() > before {
		return nil
	}
	return &e
}

func (c *compiler) expected(e *synth.Expected, n *node) {
	if !c.Is(n, scalar) {
		return
	}
	ws := strings.Fields(n.Text)
	if len(ws) == 0 {
		c.Fail(n.Pos, "expect what?")
		return
	}
	what := &node{Pos: n.Pos, Kind: scalar, Text: ws[0]}
	word(c, &e.What, "thing to expect", expectations)(what)
	rest := &node{Pos: n.Pos, Kind: scalar, Text: strings.Join(ws[1:], " ")}
	switch {
	case len(ws) == 1:
	case len(ws) > 2:
		c.Fail(n.Pos, "expect takes one word behind %s, not %q", ws[0], rest.Text)
	case e.What == synth.ExpectTerminate:
		c.expectedCode(e, rest)
	case e.What == synth.ExpectSend, e.What == synth.ExpectWrite:
		e.HasSize = true
		size(c, &e.Size, 0, maxMessage)(rest)
	default:
		c.Fail(n.Pos, "expect %s takes nothing behind it", ws[0])
	}
}

var (
	termLayers = map[string]uint8{"rdmap": rdmap.LayerRDMAP, "ddp": rdmap.LayerDDP, "llp": rdmap.LayerLLP, "mpa": rdmap.LayerLLP}
	termTypes  = map[string][2]uint8{
		"protection": {rdmap.LayerRDMAP, rdmap.ETypeRemoteProtection}, "operation": {rdmap.LayerRDMAP, rdmap.ETypeRemoteOperation},
		"tagged": {rdmap.LayerDDP, rdmap.ETypeTagged}, "untagged": {rdmap.LayerDDP, rdmap.ETypeUntagged},
	}
)

// expectedCode reads layer, type and code of a Terminate, as many as there are, in words or
// in hexadecimal: ddp, ddp/tagged, 1/1/02.
func (c *compiler) expectedCode(e *synth.Expected, n *node) {
	parts := strings.Split(n.Text, "/")
	into := []*int{&e.Layer, &e.EType, &e.Code}
	if len(parts) > len(into) {
		c.Fail(n.Pos, "expected layer/type/code such as ddp/tagged or 1/1/02, not %q", n.Text)
		return
	}
	e.Known = len(parts)
	for i, p := range parts {
		if v, ok := termLayers[p]; i == 0 && ok {
			e.Layer = int(v)
			continue
		}
		if v, ok := termTypes[p]; i == 1 && ok && int(v[0]) == e.Layer {
			e.EType = int(v[1])
			continue
		}
		v, err := strconv.ParseUint(p, 16, 8)
		if err != nil || i < 2 && v > 0xf {
			c.Fail(n.Pos, "%q is no layer, type or code of a Terminate at its place in %q", p, n.Text)
			return
		}
		*into[i] = int(v)
	}
}

// bind reads which region of the other side an advertisement names.
func (c *compiler) bind(s *step, n *node) {
	b := synth.Binding{}
	if !c.Mapping(n, keys{"region": c.name(&b.Region), "layout": word(c, &b.Layout, "layout", advertLayouts)}) {
		return
	}
	if b.Region == "" || b.Layout == "" {
		c.Fail(n.Pos, "bind needs region and layout")
		return
	}
	s.Expect.Binds = []synth.Binding{b}
	c.timeline.regions[c.regionOf(s, 1-s.from, b.Region)] = true
}

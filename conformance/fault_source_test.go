package conformance_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// faultSource is the scenario of a rule, from which its fault is taken. What it says
// beside the fault is what the fault needs: it goes along.
type faultSource struct {
	rule     string
	scenario *scenario.Scenario
	// script is with the fault and without; usual is that of a scenario which
	// says nothing, so that what a fault source sets can be told.
	script [2]*synth.Script
	usual  *synth.Script
	sctp   bool
	// moves: the fault is one of a single message that the scenario posts, so that
	// it may as well be of another one; message is that one.
	moves   bool
	message synth.Step
	// either: the fault is one of DDP or above, which both transports carry.
	either bool
}

// with and without the fault.
const (
	faulty = iota
	faultless
)

// newFaultSource returns nil and why if there is no way to put the fault elsewhere.
func newFaultSource(tb testing.TB, s *scenario.Scenario) (d *faultSource, why string) {
	tb.Helper()
	d = &faultSource{rule: s.Name, scenario: s, script: [2]*synth.Script{s.Script(false), s.Script(true)}}
	c := &d.script[faulty].Connections
	switch {
	case testOf(s.Name).Bound != "":
		return nil, testOf(s.Name).Bound
	case len(*c) > 1:
		return nil, "its scenario has several connections"
	case large(d.script[faulty].Timeline):
		return nil, "its scenario is too large"
	}
	d.sctp = (*c)[0].Association != ""
	source := "summary: nothing\ntimeline: [connect]\n"
	if d.sctp {
		source += "transport: sctp\n"
	}
	nothing, err := scenario.Parse("nothing", []byte(source))
	if err != nil {
		tb.Fatal(err)
	}
	d.usual = nothing.Script(true)
	d.message, d.moves = d.single()
	d.either = !d.sctp && d.ofSegments()
	return d, ""
}

// large reports whether a timeline takes more work than all others.
func large(steps []synth.Step) (is bool) {
	walk(steps, func(s *synth.Step) { is = is || s.Times > 1000 })
	return is
}

// walk visits all steps.
func walk(steps []synth.Step, visit func(*synth.Step)) {
	for i := range steps {
		visit(&steps[i])
		walk(steps[i].Steps, visit)
		for _, b := range steps[i].Branches {
			walk(b, visit)
		}
	}
}

// single is the message that the fault is about, if the timeline with the fault
// is the one without, there is one such message, and nothing else is changed but
// what the sides do not care about.
func (d *faultSource) single() (m synth.Step, ok bool) {
	a, b := d.script[faulty], d.script[faultless]
	if !reflect.DeepEqual(a.Timeline, b.Timeline) || d.ownStartup() || d.needs(rules.KeepsSteps) {
		return m, false
	}
	name := ""
	for _, at := range targets(a) {
		n, _, _ := strings.Cut(at.Message, ".")
		if name != "" && n != name {
			return m, false
		}
		name = n
	}
	for side := range 2 {
		x, y := a.Connections[0].Hosts[side], b.Connections[0].Hosts[side]
		for _, h := range [...]*synth.Host{&x, &y} {
			h.RNIC.Ignore, h.RNIC.Faults = 0, nil
		}
		if !reflect.DeepEqual(x, y) {
			return m, false
		}
	}
	walk(a.Timeline, func(s *synth.Step) {
		if s.Verb == synth.Post && s.Name == name && s.Local.STag == nil && s.Remote.STag == nil {
			m, ok = *s, true
		}
	})
	return m, ok
}

// targets are what the faults of a script are about.
func targets(s *synth.Script) (all []pdu.Selector) {
	for side := range 2 {
		for _, f := range s.Connections[0].Hosts[side].RNIC.Faults {
			all = append(all, f.At)
		}
		for _, w := range s.Connections[0].Wire[side] {
			all = append(all, w.At)
		}
	}
	return all
}

// ofSegments reports whether the fault is one of DDP segments, whatever carries
// them.
func (d *faultSource) ofSegments() bool {
	if !d.about("DDP-", "RDMAP-", "RDMAX-") {
		return false
	}
	for side := range 2 {
		c := &d.script[faulty].Connections[0]
		if len(c.Wire[side]) > 0 || slices.ContainsFunc(c.Hosts[side].RNIC.Faults, func(f pdu.Fault) bool {
			return f.CRC.Mode != pdu.CRCRight || f.NoCRC || f.Markers != nil || f.Pad != nil || f.Join || f.Stop > 0 || f.Before != nil || f.After != nil
		}) {
			return false
		}
	}
	return true
}

// ownStartup reports whether the fault source speaks of the startup: then the sides
// speak as it says, and not as they would otherwise.
func (d *faultSource) ownStartup() bool {
	for _, s := range d.script {
		for side := range 2 {
			h, u := &s.Connections[0].Hosts[side].RNIC, &d.usual.Connections[0].Hosts[side].RNIC
			a, b := h.Startup, u.Startup
			for _, c := range [...]*startup.Config{&a, &b} {
				c.Markers, c.CRC = false, false
			}
			if !reflect.DeepEqual(a, b) || s.Connections[0].Initiator != d.usual.Connections[0].Initiator {
				return true
			}
			if h.Ignore&(rnic.IgnorePhase|rnic.IgnoreStartup|rnic.IgnoreReject|rnic.IgnoreRTR) != 0 {
				return true
			}
		}
		if slices.ContainsFunc(targets(s), func(at pdu.Selector) bool {
			return at.Message == "request" || at.Message == "reply" || at.Message == "rtr"
		}) {
			return true
		}
	}
	return slices.ContainsFunc(startupRules[:], func(p string) bool { return strings.HasPrefix(d.rule, p) })
}

// startupRules are the beginnings of the ids of rules on the startup, or on what
// was agreed in it.
var startupRules = [...]string{
	"MPA-START", "MPA-CONN", "MPA-KEY", "MPA-PHASE", "MPA-R", "MPA-PD", "MPA-DUAL", "MPA2-", "RNIC-IOP", "TCP-FIN-STARTUP",
	"SCTP-DDP-CTL", "SCTP-DDP-ENH", "SCTP-DDP-SEQ", "SCTP-DDP-ADAPT", "SCTP-DDP-STREAMS", "ADV-MARKERS-ENHANCED",
}

// testOf is what a rule says about its tests.
func testOf(id string) rules.Test { return conformance.AboutTest(id) }

func (d *faultSource) needs(t rules.Terms) bool { return testOf(d.rule).Needs&t != 0 }

func (d *faultSource) about(parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(d.rule, p) })
}

// ofAssociation reports whether the fault source sets something that all streams of an
// association have in common, or wants it for itself.
func (d *faultSource) ofAssociation() bool {
	if d.needs(rules.OnlyStream) {
		return true
	}
	for side := range 2 {
		u := &d.usual.Connections[0].Hosts[side].SCTP
		if d.sctp && !(reflect.DeepEqual(u, &d.script[faulty].Connections[0].Hosts[side].SCTP) &&
			reflect.DeepEqual(u, &d.script[faultless].Connections[0].Hosts[side].SCTP)) {
			return true
		}
	}
	return false
}

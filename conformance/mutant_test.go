package conformance_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
)

// mutant returns a random legal script with the fault of the fault source, or the same
// without it. It is nil where the script of the seed has no place for it.
func (d *faultSource) mutant(seed uint64, which int) *synth.Script {
	rnd := rand.New(rand.NewPCG(seed, 5))
	moves := d.moves && rnd.IntN(2) == 0
	s := scripts.Random(seed)
	if d.sctp || moves && d.either && rnd.IntN(2) == 0 {
		s = scripts.RandomSCTP(seed)
		d.settle(s)
	}
	into := &s.Connections[rnd.IntN(len(s.Connections))]
	if d.ofAssociation() {
		into = alone(s, into)
	}
	if moves {
		return d.move(rnd, s, into, which)
	}
	d.graft(rnd, s, into, which)
	return s
}

// settle keeps chunks in order where a side does not report errors: it accepts them as
// they come.
func (d *faultSource) settle(s *synth.Script) {
	own := &d.script[faulty].Connections[0].Hosts
	if (own[0].RNIC.Ignore|own[1].RNIC.Ignore)&rnic.IgnoreErrors == 0 {
		return
	}
	for side := range 2 {
		for _, l := range [...]*link.Line{&s.Link.Before[side], &s.Link.After[side]} {
			*l = link.Line{Delay: l.Delay}
		}
		for i := range s.Connections {
			s.Connections[i].Hosts[side].SCTP.Shuffle = false
		}
	}
}

// alone removes the other streams of its association from a connection, which then has the
// first stream.
func alone(s *synth.Script, into *synth.Connection) *synth.Connection {
	into.SID = 0
	p := slices.IndexFunc(s.Timeline, func(st synth.Step) bool { return st.Verb == synth.Parallel })
	gone := map[string]bool{}
	var conns []synth.Connection
	var branches [][]synth.Step
	at := 0
	for i, c := range s.Connections {
		if c.Association == into.Association && c.Name != into.Name {
			gone[c.Name] = true
			continue
		}
		if c.Name == into.Name {
			at = len(conns)
		}
		conns, branches = append(conns, c), append(branches, s.Timeline[p].Branches[i])
	}
	for i := range s.Timeline {
		if gone[s.Timeline[i].Conn] {
			s.Timeline[i].Conn = into.Name // what opens and closes the association
		}
	}
	s.Connections, s.Timeline[p].Branches = conns, branches
	return &conns[at]
}

// roles are the sides of the script by those of the fault source.
func (d *faultSource) roles(into *synth.Connection, swap bool) (r [2]synth.Side) {
	r[synth.Client] = into.Initiator
	if swap {
		r[synth.Client] = 1 - into.Initiator
	}
	r[synth.Server] = 1 - r[synth.Client]
	return r
}

// dress gives a connection the settings and the faults of the fault source.
func (d *faultSource) dress(s *synth.Script, into *synth.Connection, roles [2]synth.Side, which int) {
	own, usual := &d.script[which].Connections[0], &d.usual.Connections[0]
	overlay(&s.Link, &d.usual.Link, &d.script[which].Link)
	overlay(&s.Capture, &d.usual.Capture, &d.script[which].Capture)
	for side, to := range roles {
		h, from := &into.Hosts[to], &own.Hosts[side]
		if st := &h.RNIC.Startup; d.ownStartup() {
			crc, markers := st.CRC, st.Markers
			*st = from.RNIC.Startup
			if st.Rev > 0 {
				st.CRC, st.Markers = crc, markers
			}
		}
		if d.needs(rules.SameCRC) || d.about("CRC", "-C-") {
			h.RNIC.Startup.CRC = from.RNIC.Startup.CRC
		}
		if d.needs(rules.SameMarkers) || d.about("-M-", "MARKER") {
			h.RNIC.Startup.Markers = from.RNIC.Startup.Markers
		}
		overlay(h, &usual.Hosts[side], from)
		h.RNIC.Faults = slices.Clone(h.RNIC.Faults)
		into.Wire[to] = slices.Clone(own.Wire[side])
	}
}

// overlay sets what differs between usual and own in to.
func overlay[T any](to, usual, own *T) {
	overlayValue(reflect.ValueOf(to).Elem(), reflect.ValueOf(usual).Elem(), reflect.ValueOf(own).Elem())
}

func overlayValue(to, usual, own reflect.Value) {
	if to.Kind() == reflect.Struct && to.Type().PkgPath() != "net/netip" {
		for i := range to.NumField() {
			switch to.Type().Field(i).Name {
			case "Comment", "Seed", "Epoch", "TSBase":
			default:
				overlayValue(to.Field(i), usual.Field(i), own.Field(i))
			}
		}
		return
	}
	if to.CanSet() && !reflect.DeepEqual(usual.Interface(), own.Interface()) {
		to.Set(own)
	}
}

// move has the fault happen to another message: one of the script itself.
func (d *faultSource) move(rnd *rand.Rand, s *synth.Script, into *synth.Connection, which int) *synth.Script {
	var like []synth.Step
	walk(s.Timeline, func(st *synth.Step) {
		if st.Verb == synth.Post && st.Conn == into.Name && d.alike(into, st) {
			like = append(like, *st)
		}
	})
	if len(like) == 0 {
		return nil
	}
	to := like[rnd.IntN(len(like))]
	number := 1 + rnd.IntN(max(to.Times, 1))
	d.dress(s, into, d.roles(into, (d.message.From == synth.Client) != (to.From == into.Initiator)), which)
	several := to.Work.Size > uint64(least(into, to.From))
	moved := func(at *pdu.Selector) {
		at.Message = strings.Replace(at.Message, d.message.Name, to.Name, 1)
		at.Number = number
		if at.Segment == 0 && several {
			at.Segment = 1
		}
	}
	for side := range into.Hosts {
		for i := range into.Hosts[side].RNIC.Faults {
			moved(&into.Hosts[side].RNIC.Faults[i].At)
		}
		for i := range into.Wire[side] {
			moved(&into.Wire[side][i].At)
		}
	}
	return s
}

// alike reports whether a step is like the one that the fault is about: the same
// operation, of one segment or of several, of nothing or of something.
func (d *faultSource) alike(c *synth.Connection, st *synth.Step) bool {
	a, b := &d.message.Work, &st.Work
	return a.Op == b.Op && (a.Size == 0) == (b.Size == 0) && (d.message.Invalidate == nil) == (st.Invalidate == nil) &&
		(a.Size > oneSegment) == (b.Size > uint64(least(c, st.From))) && (!d.needs(rules.NoSmaller) || b.Size >= a.Size)
}

// oneSegment is what a message of one segment has in a scenario, at most.
const oneSegment = 1400

// least is the size of a message that goes into one segment, or a little less.
func least(c *synth.Connection, from synth.Side) int {
	h := &c.Hosts[from]
	if h.RNIC.MULPDU > 0 {
		return h.RNIC.MULPDU - 20
	}
	if c.Association != "" {
		return h.SCTP.MaxPacket - 60
	}
	return min(h.TCP.MSS, c.Hosts[1-from].TCP.MSS) - 60
}

// graft has the steps of the fault source done among those of the script.
func (d *faultSource) graft(rnd *rand.Rand, s *synth.Script, into *synth.Connection, which int) {
	// A fresh one: its steps are changed.
	opening, body, tail := parts(d.scenario.Script(which == faultless).Timeline)
	before, after := d.company(opening, tail)
	swap := before && !d.ownStartup() && !d.about("-M-R") && rnd.IntN(2) == 0
	roles := d.roles(into, swap)
	d.dress(s, into, roles, which)
	d.tailor(into, body, roles, which)
	for _, part := range [...][]synth.Step{opening, body, tail} {
		walk(part, func(st *synth.Step) { st.Conn, st.From = into.Name, roles[st.From] })
	}
	i := slices.IndexFunc(s.Connections, func(c synth.Connection) bool { return c.Name == into.Name })
	p := slices.IndexFunc(s.Timeline, func(st synth.Step) bool { return st.Verb == synth.Parallel })
	var work []synth.Step
	for _, st := range s.Timeline[p].Branches[i] {
		if st.Verb == synth.Post || st.Verb == synth.Together {
			work = append(work, st)
		}
	}
	at := 0
	if before {
		at = rnd.IntN(len(work) + 1)
	}
	branch := slices.Concat(work[:at], body)
	if after {
		branch = append(branch, work[at:]...)
	}
	if d.sctp {
		opening = slices.DeleteFunc(opening, func(st synth.Step) bool { return st.Verb == synth.Open })
		for i := range opening {
			if opening[i].Verb == synth.Connect {
				opening[i].Verb = synth.Start
			}
		}
		tail = slices.DeleteFunc(tail, func(st synth.Step) bool { return st.Verb == synth.Close })
		s.Timeline[p].Branches[i] = slices.Concat(opening, branch, tail)
		return
	}
	s.Timeline[p].Branches[i] = append(branch, tail...)
	// Its Connect and the first work behind it.
	c := slices.IndexFunc(s.Timeline, func(st synth.Step) bool { return st.Verb == synth.Connect && st.Conn == into.Name })
	end := c + 2
	if before {
		end--
	}
	s.Timeline = slices.Replace(s.Timeline, c, end, opening...)
}

// tailor has the messages of the fault source cut into segments as in its scenario, and
// allows as many requests at a time as there.
func (d *faultSource) tailor(into *synth.Connection, body []synth.Step, roles [2]synth.Side, which int) {
	for side, to := range roles {
		h, usual, own := &into.Hosts[to], &d.usual.Connections[0].Hosts[side], &d.script[which].Connections[0].Hosts[side]
		if h.TCP.MSS > usual.TCP.MSS || d.needs(rules.SameSizes) {
			h.TCP.MSS = usual.TCP.MSS
		}
		for i := range body {
			if body[i].Verb == synth.Together {
				h.RNIC.Startup.IRD, h.RNIC.Startup.ORD = own.RNIC.Startup.IRD, own.RNIC.Startup.ORD
			}
		}
	}
}

// company tells whether there may be other work before and after the steps of
// the fault source.
func (d *faultSource) company(opening, tail []synth.Step) (before, after bool) {
	s := d.script[faulty]
	before = len(opening) == 1 && !d.needs(rules.ComesFirst)
	after = len(tail) > 0 && tail[len(tail)-1].Verb == synth.Close && !d.needs(rules.ComesLast)
	for side := range 2 {
		ignore := s.Connections[0].Hosts[side].RNIC.Ignore
		before = before && ignore&(rnic.IgnoreRequests|rnic.IgnoreStartup|rnic.IgnoreRTR) == 0
		after = after && ignore&(rnic.IgnoreRequests|rnic.IgnoreTerminate|rnic.IgnoreClose|rnic.IgnoreReject) == 0
	}
	for _, script := range d.script {
		walk(script.Timeline[:len(script.Timeline)-len(tail)], func(st *synth.Step) {
			switch st.Verb {
			case synth.Post:
				after = after && st.Work.Op != rnic.OpTerminate
			case synth.Wait, synth.Reset, synth.Packet, synth.Close, synth.End:
				after = false
			default:
			}
		})
	}
	return before, after
}

// parts are what a timeline does up to the start of the connection, between, and
// to end it.
func parts(steps []synth.Step) (opening, body, tail []synth.Step) {
	from, to := 0, len(steps)
	for i := range steps {
		walk(steps[i:i+1], func(st *synth.Step) {
			if st.Verb == synth.Connect || st.Verb == synth.Open || st.Verb == synth.Start {
				from = i + 1
			}
		})
	}
	for to > from && (steps[to-1].Verb == synth.Close || steps[to-1].Verb == synth.End || steps[to-1].Verb == synth.Reset) {
		to--
	}
	return slices.Clone(steps[:from]), slices.Clone(steps[from:to]), slices.Clone(steps[to:])
}

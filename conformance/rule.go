package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Rule is all there is to say about how an entry of the catalogue is judged. What
// it demands, and how severe a violation is, stands in the catalogue.
type Rule struct {
	// ID of the entry in the catalogue.
	ID string
	// Needs is the evidence without which it is not judged. Scope adds what a single
	// event needs besides.
	Needs Gate
	// Transport restricts the rule to TCP or to SCTP.
	Transport transport
	// Field is the record's name of the field that the rule speaks of: the one in the
	// PDU of a finding that holds the observed value. A rule on several fields, or on
	// something that is missing, has none; a violation may name another.
	Field string

	// What happens on a connection, and what the rule says of it. Most rules look at
	// one kind of event.
	Startup   *On[*frame]     // a startup frame, or the session control that stands for one
	FPDU      *On[*fpdu]      // an FPDU
	Segment   *On[*segment]   // a DDP segment
	Exchange  *On[*segment]   // a segment of a request or of its answer
	Message   *On[*message]   // a message that is complete, or was given up
	Terminate *On[*terminate] // a Terminate
	Control   *On[*control]   // a session control chunk of SCTP
	Loose     *On[*loose]     // octets in no startup frame and in no FPDU
	Chunk     *On[*segment]   // a chunk of SCTP with a DDP segment

	// At the end of the connection.
	End          *On[*conn]  // once for the connection
	EndFrame     *On[*frame] // for its Request and its Reply, those that were captured
	EndPair      *On[*frame] // for the Request and the Reply that answers it, see [conn.pair]
	EndDirection *On[*half]  // for each direction
	// At the end too, once it is known which findings stand.
	Advice          *On[*conn]
	AdviceFrame     *On[*frame] // for its Request and its Reply, those that were captured
	AdviceDirection *On[*half]
	// At the end of the capture.
	Capture     *On[*past] // once for each connection
	CaptureSide *On[*side] // for each side of an SCTP association

	// Noise: the rule is asked about octets that are no RDMA message too.
	Noise bool
	// Tagged and On narrow the segments that the rule is asked about, to tagged or
	// untagged ones and to opcodes.
	Tagged mpa.Tri
	On     opcodes
	// ByShape: what it says of an FPDU, a segment or a message depends on nothing but
	// what [fpdu.shape], [segment.shape] and [message.shape] hold, so that it is asked
	// once for each shape.
	ByShape bool
	// AtStartup: its End is judged as soon as the startup is over, up to the first
	// segment of the initiator: nobody who watches has to wait for the end.
	AtStartup bool
	// Late: it reports PDUs before the one at hand. Closes: it is asked about a
	// segment, and reports the message that ends with it.
	Late, Closes bool
	// Reacts: it judges what one side does after something else, if it ever does.
	Reacts bool
	// Anywhere: it judges chunks of the whole association, or chunks outside of any
	// session: a chunk that is missing may be one of them.
	Anywhere bool
	// First: it judges the startup and the first FPDU of the initiator.
	First bool
	// Tells: it says itself which evidence it lacks of what comes after the startup.
	Tells bool
}

// On is how a rule judges one kind of event.
type On[E any] struct {
	// Applies reports whether the rule speaks of the event, and what evidence
	// that takes. It changes nothing. nil: it speaks of every one.
	Applies func(c *Case, e E) Scope
	// Judge is called if the rule applies and the evidence is there; it reports
	// violations. nil: nothing that is captured can violate the rule here.
	Judge func(r *Report, e E)
}

// Scope is whether a rule speaks of an event, and on what evidence.
type Scope struct {
	applies             bool
	only                bool // nothing but what is given is there
	needs, given, lacks Gate
}

// OutOfScope: the rule does not speak of the event. InScope: it does.
var (
	OutOfScope = Scope{}
	InScope    = Scope{applies: true}
)

// InScopeIf returns InScope if a condition holds, else OutOfScope.
func InScopeIf(holds bool) Scope { return Scope{applies: holds} }

// Needing returns the scope for an event that needs more evidence than [Rule.Needs].
func (s Scope) Needing(g Gate) Scope { s.needs |= g; return s }

// Given returns the scope for an event that has evidence of its own, whatever is
// known of its direction.
func (s Scope) Given(g Gate) Scope { s.given |= g; return s }

// GivenOnly returns the scope for an event for which exactly this evidence is there,
// whatever is known of its direction.
func (s Scope) GivenOnly(g Gate) Scope { s.given, s.only = g, true; return s }

// Lacking returns the scope of an event that the rule speaks of, and that cannot be
// judged since this evidence is missing.
func Lacking(g Gate) Scope { return Scope{applies: true, lacks: g} }

// Without returns the scope for an event of which this evidence is missing, whatever is
// known of its direction. Then it cannot be judged.
func (s Scope) Without(g Gate) Scope { s.lacks |= g; return s }

// Case is what a rule may look at: the facts about the connection, and what was found
// on it so far. It is borrowed.
type Case struct {
	*conn
	rule *rule
	have Gate
}

// Has reports whether evidence is there.
func (c *Case) Has(g Gate) bool { return c.have&g == g }

// Evidence is what is there for the event at hand.
func (c *Case) Evidence() Gate { return c.have }

// Found are the findings on the connection so far, in the order in which they were
// reported, those of the rule itself included. They are borrowed.
func (c *Case) Found() []Finding { return c.findings }

// FoundBy returns the first finding of a rule on the connection so far, in a direction
// if one is named; nil: there is none. It is borrowed.
func (c *Case) FoundBy(id string, dir ...trace.Dir) *Finding {
	for i := range c.findings {
		if f := &c.findings[i]; f.Rule.ID == id && (len(dir) == 0 || f.HasDir && f.Dir == dir[0]) {
			return f
		}
	}
	return nil
}

// Entry is that of the rule at hand.
func (c *Case) Entry() *Entry { return c.rule.entry }

// Reported reports whether the rule at hand has reported something in a direction.
func (c *Case) Reported(h *half) bool {
	for i := range c.findings {
		if f := &c.findings[i]; f.Rule == c.rule.entry && f.HasDir && f.Dir == h.dir {
			return true
		}
	}
	return false
}

// Count is how often the rule at hand was violated on the connection so far.
func (c *Case) Count() int { return int(c.rules.fired(c.rule.index)) }

// Blamed reports whether another rule than the one at hand has reported a PDU: the
// rule that is named, or, where none is, any one but those listed, above a note.
func (c *Case) Blamed(pdu uint64, rule string, but ...string) bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool { return c.blames(&f, pdu, rule, but...) })
}

// blamed reports whether any of the findings that is no advice is on a PDU.
func blamed(all []Finding, pdu uint64) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.HasPDU && f.PDU == pdu && !f.Rule.Advice })
}

// blames reports whether a finding is one that [Case.Blamed] looks for.
func (c *Case) blames(f *Finding, pdu uint64, rule string, but ...string) bool {
	if !f.HasPDU || f.PDU != pdu || f.Rule == c.rule.entry {
		return false
	}
	return f.Rule.ID == rule || rule == "" && f.Severity > Note && !slices.Contains(but, f.Rule.ID)
}

// Field is the record's name of the field that the rule at hand speaks of.
func (c *Case) Field() string { return fields[c.rule.id] }

// Now is the time up to which the capture is known, in nanoseconds since 1970.
func (c *Case) Now() int64 { return max(c.t.LastTime, c.engine.latest) }

// FramingLost reports whether a rule has reported that, in a direction, a length, a pad
// or a missing CRC field leads to a place where no FPDU begins.
func (c *Case) FramingLost(h *half) bool {
	for i := range c.findings {
		f := &c.findings[i]
		if !f.HasDir || f.Dir != h.dir {
			continue
		}
		switch f.Rule.ID {
		case "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-C-FIELD-01", "MPA-FPDU-FMT-01":
			return true
		}
	}
	return false
}

// AllFPDUs is the scope, at the end, of rules on all FPDUs or segments of a direction
// that has some. It takes the evidence of that direction alone.
func (c *Case) AllFPDUs(h *half) Scope {
	if h.count == 0 {
		return OutOfScope
	}
	scope := InScope.Given(c.gates(h) | c.endGates())
	if c.FramingLost(h) {
		return scope.Without(Sync)
	}
	return scope
}

// Ended are the connections of the capture that are over.
func (c *Case) Ended() *book { return &c.engine.book }

// Report is a case that is being judged.
type Report struct{ Case }

// Violation is what a rule reports, and where.
type Violation struct {
	Place
	// Severity is that of the entry if it is None.
	Severity Severity
	// Message says it in a sentence; Observed and Expected are the values.
	Message, Observed, Expected string
	// Field that holds the observed value, if it is not that of the rule.
	Field string
	// Soon: what explains it, if anything does, comes with the next FPDU of its
	// direction at the latest.
	Soon bool
}

// Place is where something is that a finding speaks of.
type Place struct {
	Dir       trace.Dir
	HasDir    bool
	Frame     uint64
	PDU       uint64
	HasPDU    bool
	Offset    int64
	HasOffset bool
	Related   []uint64 // PDUs that it is to be seen with

	msn       uint32 // of its message
	hasMSN    bool
	end, time int64  // of the PDU in the TCP stream, and its time
	nth       uint64 // its ordinal in its direction
}

// placed is something that has a place.
type placed interface{ where() Place }

func (p Place) where() Place { return p }

// Report reports a violation.
func (r *Report) Report(v Violation) { r.fire(v.finding()) }

// finding is the violation as the engine keeps it.
func (v *Violation) finding() Finding {
	return Finding{
		Severity: v.Severity, Message: v.Message, Observed: v.Observed, Expected: v.Expected, Field: v.Field, shortly: v.Soon,
		Dir: v.Dir, HasDir: v.HasDir, Frame: v.Frame, PDU: v.PDU, HasPDU: v.HasPDU, Offset: v.Offset, HasOffset: v.HasOffset, Related: v.Related,
		msn: v.msn, hasMSN: v.hasMSN, end: v.end, time: v.time, nth: v.nth,
	}
}

// On reports a violation by an event.
func (r *Report) On(at placed, message, observed, expected string) {
	r.Report(Violation{Place: at.where(), Message: message, Observed: observed, Expected: expected})
}

// OnAs is On with another severity than that of the entry.
func (r *Report) OnAs(s Severity, at placed, message, observed, expected string) {
	r.Report(Violation{Place: at.where(), Severity: s, Message: message, Observed: observed, Expected: expected})
}

// Unproven says that the rule cannot be judged after all, for lack of this evidence.
func (r *Report) Unproven(g Gate) { r.rules.lack(r.rule.index, g.first()) }

// ask asks a rule about an event.
func (o *On[E]) ask(c *conn, e E) {
	r := c.running
	k := &c.engine.report
	k.Case = Case{c, r, c.have}
	s := InScope
	if o.Applies != nil {
		s = o.Applies(&k.Case, e)
	}
	if !s.applies {
		return
	}
	if s.only {
		k.have = 0
	}
	k.have = (k.have | s.given) &^ s.lacks
	if lack := (r.needs | s.needs | s.lacks) &^ k.have; lack != 0 {
		c.rules.lack(r.index, lack.first())
		return
	}
	c.rules.judge(r.index)
	if o.Judge != nil {
		o.Judge(k, e)
	}
}

// check is the rule as the engine asks it.
func (r *Rule) check() check {
	k := check{
		id: r.ID, needs: r.Needs, transport: r.Transport, noise: r.Noise, tagged: r.Tagged, on: r.On, shape: r.ByShape, late: r.Late,
		closes: r.Closes, reacts: r.Reacts, anywhere: r.Anywhere, first: r.First, tells: r.Tells,
		startup: asks(r.Startup), fpdu: asks(r.FPDU), segment: asks(r.Segment), exchange: asks(r.Exchange), message: asks(r.Message),
		terminate: asks(r.Terminate), control: asks(r.Control), loose: asks(r.Loose), chunk: asks(r.Chunk),
	}
	k.end = atEnd(r.End, r.EndFrame, r.EndPair, r.EndDirection)
	k.advice = atEnd(r.Advice, r.AdviceFrame, nil, r.AdviceDirection)
	if r.Capture != nil {
		k.capture = func(_ *book, p *past) { r.Capture.ask(p.c, p) }
	}
	if r.CaptureSide != nil {
		k.capture = func(_ *book, p *past) {
			for s := range p.sides {
				r.CaptureSide.ask(p.c, s)
			}
		}
	}
	return k
}

func asks[E any](o *On[E]) func(*conn, E) {
	if o == nil {
		return nil
	}
	return o.ask
}

func atEnd(once *On[*conn], frames, pair *On[*frame], halves *On[*half]) func(*conn) {
	if once == nil && frames == nil && pair == nil && halves == nil {
		return nil
	}
	return func(c *conn) {
		if once != nil {
			once.ask(c, c)
		}
		if frames != nil {
			for _, f := range [...]*frame{c.request, c.reply} {
				if f != nil {
					frames.ask(c, f)
				}
			}
		}
		if pair != nil {
			q, r := c.pair()
			for _, f := range [...]*frame{q, r} {
				if f != nil {
					pair.ask(c, f)
				}
			}
		}
		if halves != nil {
			for i := range c.half {
				halves.ask(c, &c.half[i])
			}
		}
	}
}

// literals are the checks of rules that are written as one literal each.
func literals(rules []Rule) []check {
	all := make([]check, len(rules))
	for i := range rules {
		all[i] = rules[i].check()
	}
	return all
}

// placeOf is the place of a finding.
func placeOf(f Finding) Place {
	return Place{
		Dir: f.Dir, HasDir: f.HasDir, Frame: f.Frame, PDU: f.PDU, HasPDU: f.HasPDU, Offset: f.Offset, HasOffset: f.HasOffset, Related: f.Related,
		msn: f.msn, hasMSN: f.hasMSN, end: f.end, time: f.time, nth: f.nth,
	}
}

func (f *frame) where() Place   { return placeOf(f.at()) }
func (s *segment) where() Place { return placeOf(s.at()) }
func (e *fpdu) where() Place    { return placeOf(e.at()) }
func (s *loose) where() Place   { return placeOf(s.at()) }
func (w *word) where() Place    { return placeOf(w.at) }

// in is the place of a PDU of a direction.
func (x *site) in(d trace.Dir) Place { return placeOf(x.at(d)) }

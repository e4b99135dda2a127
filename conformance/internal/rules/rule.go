package rules

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Rule is all there is to say about how an entry of the catalogue is judged. What
// it demands, and how severe a violation is, stands in the catalogue.
type Rule struct {
	// ID of the entry in the catalogue.
	ID string
	// Needs is the evidence that the rule needs. Scope adds what a single event needs in
	// addition.
	Needs catalogue.Gate
	// Transport restricts the rule to TCP or to SCTP.
	Transport transport
	// Field is the name, in records, of the field that the rule judges: the one in the PDU
	// of a finding that holds the observed value. It is empty for a rule on several fields,
	// or on something that is missing; a violation may name another field.
	Field string
	// YieldsTo are the rules that take precedence: a finding of one of them on the same
	// thing explains this one, which is then withdrawn.
	YieldsTo []string

	// How the rule judges each kind of event. Most rules judge one kind only.
	Startup   *On[*model.Frame]     // a startup frame, or the session control in its place
	FPDU      *On[*model.FPDU]      // an FPDU
	Segment   *On[*model.Segment]   // a DDP segment
	Exchange  *On[*model.Segment]   // a segment of a request or of its answer
	Message   *On[*model.Message]   // a message that is complete, or was given up
	Terminate *On[*model.Terminate] // a Terminate
	Control   *On[*model.Control]   // a session control chunk of SCTP
	Loose     *On[*model.Loose]     // octets in no startup frame and in no FPDU
	Chunk     *On[*model.Segment]   // a chunk of SCTP with a DDP segment

	// At the end of the connection.
	End          *On[*model.Conn]      // once for the connection
	EndFrame     *On[*model.Frame]     // for its Request and its Reply, those that were captured
	EndPair      *On[*model.Frame]     // for the Request and the Reply that answers it, see [model.Conn.Pair]
	EndDirection *On[*model.Direction] // for each direction
	// Also at the end, after it is decided which findings stand.
	Advice          *On[*model.Conn]
	AdviceFrame     *On[*model.Frame] // for its Request and its Reply, those that were captured
	AdviceDirection *On[*model.Direction]
	// At the end of the capture.
	Capture     *On[*model.EndedConnection] // once for each connection
	CaptureSide *On[*model.Side]            // for each side of an SCTP association

	// If: at the end, and for its advice, the rule speaks of connections only that have all of
	// these; it is not asked about others.
	If model.Traits
	// Noise: the rule also judges octets that are not an RDMA message.
	Noise bool
	// Tagged and On restrict the segments that the rule judges, to tagged or untagged ones
	// and to opcodes; On also those of requests and answers.
	Tagged mpa.Tri
	On     model.Opcodes
	// ByShape: the judgement of an FPDU, a segment or a message depends only on its shape
	// (see [model.Shape]), so that the rule judges each shape once.
	ByShape bool
	// ByTouch: the rule judges a segment only if it has to do with memory of the peer in a
	// way that the model calls one that matters.
	ByTouch bool
	// AtStartup: End is judged as soon as the startup is over, up to the first segment of
	// the initiator, so that a live view need not wait for the end.
	AtStartup bool
	// Weighs: the rule considers what other rules have found on the connection, so it judges
	// an event after those that do not.
	Weighs bool
	// Late: it reports PDUs before the current one. Closes: it judges a segment, and reports
	// the message that ends with it.
	Late, Closes bool
	// Reacts: it judges what one side does after something else, if it ever does.
	Reacts bool
	// Anywhere: it judges chunks of the whole association, or chunks outside of any
	// session: a chunk that is missing may be one of them.
	Anywhere bool
	// FirstPackets: it judges the startup, which is in the first packets of both sides.
	FirstPackets bool
	// First: it judges the startup and the first FPDU of the initiator.
	First bool
	// OfRequest: it judges the MPA Request, and nothing else.
	OfRequest bool
	// EitherSide: advice that may explain what the other side did, too.
	EitherSide bool
	// Tells: it declares itself which evidence is missing from what follows the startup.
	Tells bool
	// Settles: at the end it judges only what segments left open, and declares itself which evidence is missing for that.
	Settles bool

	// Test is what its tests have to know.
	Test Test
}

// transport restricts a rule to one of them.
type transport uint8

// The transports; 0 means either.
const (
	OnTCP transport = iota + 1
	OnSCTP
)

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
//
// It has four members: with more of them it would not be handed over in registers, for each rule and event.
type Scope struct {
	scope               scope
	needs, given, lacks catalogue.Gate
}

// scope says whether a rule speaks of an event.
type scope uint8

const (
	applies scope = 1 << iota
	only          // nothing but what is given is there
)

// OutOfScope: the rule does not speak of the event. InScope: it does.
var (
	OutOfScope = Scope{}
	InScope    = Scope{scope: applies}
)

// InScopeIf returns InScope if a condition holds, else OutOfScope.
func InScopeIf(holds bool) (s Scope) {
	if holds {
		s.scope = applies
	}
	return s
}

// Needing returns the scope for an event that needs more evidence than [Rule.Needs].
func (s Scope) Needing(g catalogue.Gate) Scope { s.needs |= g; return s }

// Given returns the scope for an event that has its own evidence, regardless of what is
// known of its direction.
func (s Scope) Given(g catalogue.Gate) Scope { s.given |= g; return s }

// GivenOnly returns the scope for an event with exactly this evidence, regardless of what
// is known of its direction.
func (s Scope) GivenOnly(g catalogue.Gate) Scope { s.given, s.scope = g, s.scope|only; return s }

// Lacking returns the scope of an event that the rule speaks of, and that cannot be
// judged since this evidence is missing.
func Lacking(g catalogue.Gate) Scope { return Scope{scope: applies, lacks: g} }

// Without returns the scope for an event that lacks this evidence, regardless of what is
// known of its direction. Then it cannot be judged.
func (s Scope) Without(g catalogue.Gate) Scope { s.lacks |= g; return s }

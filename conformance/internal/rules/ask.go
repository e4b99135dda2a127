package rules

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
)

// Ask has a rule judge an event of the case. Before it judges, the recorder is notified
// that the rule applies, or that evidence is missing.
func (o *On[E]) Ask(k *Report, r *Rule, entry *catalogue.Entry, e E) {
	k.rule, k.entry = r, entry
	have := k.have
	s := InScope
	if o.Applies != nil {
		s = o.Applies(&k.Case, e)
	}
	if s.scope&applies == 0 {
		return
	}
	if s.scope&only != 0 {
		k.have = 0
	}
	lacks := s.lacks | k.lacks
	k.have = (k.have | s.given) &^ lacks
	if lack := (r.Needs | s.needs | lacks) &^ k.have; lack != 0 {
		k.desk.Unproven(lack)
	} else {
		k.desk.Judged()
		if o.Judge != nil {
			o.Judge(k, e)
		}
	}
	k.have = have
}

// AskAtEnd asks a rule at the end of the connection, or as soon as its startup is over.
func (r *Rule) AskAtEnd(k *Report, entry *catalogue.Entry) {
	if r.FirstPackets && k.Conn.FirstDamaged() {
		k.lacks = catalogue.Sum
	}
	askEach(k, r, entry, r.End, r.EndFrame, r.EndDirection)
	if r.EndPair != nil {
		askPair(k, r, entry)
	}
	k.lacks = 0
}

// askPair asks a rule about the Request and the Reply that answers it.
func askPair(k *Report, r *Rule, entry *catalogue.Entry) {
	request, reply := k.Pair()
	for _, f := range [...]*model.Frame{request, reply} {
		if f != nil {
			r.EndPair.Ask(k, r, entry, f)
		}
	}
}

// AskAdvice asks a rule for its advice, after it is decided which findings stand.
func (r *Rule) AskAdvice(k *Report, entry *catalogue.Entry) {
	askEach(k, r, entry, r.Advice, r.AdviceFrame, r.AdviceDirection)
}

// AskAtCaptureEnd asks a rule about a connection beside the others of the capture.
func (r *Rule) AskAtCaptureEnd(k *Report, entry *catalogue.Entry, p *model.EndedConnection) {
	if r.Capture != nil {
		r.Capture.Ask(k, r, entry, p)
	}
	if r.CaptureSide == nil {
		return
	}
	for s := range p.Sides {
		r.CaptureSide.Ask(k, r, entry, s)
	}
}

// askEach asks a rule about the connection, its startup frames and its directions.
func askEach(k *Report, r *Rule, entry *catalogue.Entry, once *On[*model.Conn], frames *On[*model.Frame], directions *On[*model.Direction]) {
	if once != nil {
		once.Ask(k, r, entry, k.Conn)
	}
	if frames != nil {
		for _, f := range [...]*model.Frame{k.Request, k.Reply} {
			if f != nil {
				frames.Ask(k, r, entry, f)
			}
		}
	}
	if directions != nil {
		for i := range k.Directions {
			directions.Ask(k, r, entry, &k.Directions[i])
		}
	}
}

// AtEnd reports whether the rule judges at the end of the connection.
func (r *Rule) AtEnd() bool {
	return r.End != nil || r.EndFrame != nil || r.EndPair != nil || r.EndDirection != nil
}

// Advises reports whether the rule gives advice.
func (r *Rule) Advises() bool {
	return r.Advice != nil || r.AdviceFrame != nil || r.AdviceDirection != nil
}

// Compares reports whether the rule judges at the end of the capture.
func (r *Rule) Compares() bool { return r.Capture != nil || r.CaptureSide != nil }

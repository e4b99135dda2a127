package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// lists are the rules by the kind of event that they judge.
type lists struct {
	fpdu, message byShape
	// segment are those about segments, by T and opcode; malformed those about ULPDUs that
	// are not segments.
	segment                                            [2][rdmap.Opcodes]byShape
	malformed                                          []*indexedRule
	exchange                                           [rdmap.Opcodes][]*indexedRule
	startup, terminate, control, chunk, loose, capture []*indexedRule
	// agreed are those that judge once the startup is over, end those at the end, advice those
	// that give advice.
	agreed, end, advice byTraits
}

// byTraits are the rules that may speak of a connection, by the traits that it has.
type byTraits [1 << model.AllTraits][]*indexedRule

func (l *byTraits) add(r *indexedRule) {
	for has := range l {
		if int(r.If)&^has == 0 {
			l[has] = append(l[has], r)
		}
	}
}

// byShape are rules about an event: those that look at more than its shape, those of them
// that judge segments which do nothing that matters to memory of the peer, and those that
// look at the shape alone.
type byShape struct{ every, calm, shape []*indexedRule }

func (s *byShape) add(r *indexedRule) {
	if r.ByShape {
		s.shape = append(s.shape, r)
		return
	}
	s.every = append(s.every, r)
	if !r.ByTouch {
		s.calm = append(s.calm, r)
	}
}

// add adds a rule to the lists of the events that it judges.
func (l *lists) add(r *indexedRule) {
	add := func(list *[]*indexedRule, has bool) {
		if has {
			*list = append(*list, r)
		}
	}
	add(&l.startup, r.Startup != nil)
	if r.FPDU != nil {
		l.fpdu.add(r)
	}
	if r.Message != nil {
		l.message.add(r)
	}
	if r.Segment != nil {
		l.addSegment(r)
	}
	for op := range l.exchange {
		add(&l.exchange[op], r.Exchange != nil && r.isOn(op))
	}
	add(&l.terminate, r.Terminate != nil)
	add(&l.control, r.Control != nil)
	add(&l.chunk, r.Chunk != nil)
	add(&l.loose, r.Loose != nil)
	switch {
	case r.AtEnd() && r.AtStartup:
		l.agreed.add(r)
	case r.AtEnd():
		l.end.add(r)
	}
	if r.Advises() {
		l.advice.add(r)
	}
	add(&l.capture, r.Compares())
}

// addSegment adds a rule about segments to the lists of those that it judges.
func (l *lists) addSegment(r *indexedRule) {
	if r.On == 0 && r.Tagged == mpa.Unknown {
		l.malformed = append(l.malformed, r)
	}
	for t := range l.segment {
		if r.Tagged != mpa.Unknown && r.Tagged != mpa.TriOf(t == 1) {
			continue
		}
		for op := range l.segment[t] {
			if r.isOn(op) {
				l.segment[t][op].add(r)
			}
		}
	}
}

// isOn reports whether a rule judges segments with an opcode.
func (r *indexedRule) isOn(op int) bool { return r.On == 0 || r.On>>op&1 != 0 }

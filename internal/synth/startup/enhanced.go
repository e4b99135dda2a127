package startup

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// enhancedRev is the least revision that has the word.
const enhancedRev = 2

// allRTR are all types of the ready-to-receive indication.
const allRTR = mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead

// The error codes of RFC 6581 section 8 for which an initiator has cause here;
// 5, a local catastrophe, has none in a state machine.
const (
	codeInvalidReply    = 4
	codeInsufficientIRD = 6
	codeNoMatchingRTR   = 7
)

// enhanced reports whether the end knows the word.
func (c *Config) enhanced() bool {
	return c.Rev >= enhancedRev && (c.Dialect == Enhanced || c.Dialect == Draft01)
}

func (c *Config) layout() mpa.Layout {
	if c.Dialect == Draft01 {
		return mpa.LayoutDraft01
	}
	return mpa.LayoutRFC6581
}

// word is the enhanced data with the flags as the dialect has them. A depth that
// does not fit is left open: any other value would be a lie.
func (c *Config) word(peer bool, types mpa.RTRSet, ird, ord uint16) mpa.Enhanced {
	send, write, read := types.Has(mpa.RTRSend), types.Has(mpa.RTRWrite), types.Has(mpa.RTRRead)
	e := mpa.Enhanced{IRD: min(ird, mpa.DepthNotNegotiated), ORD: min(ord, mpa.DepthNotNegotiated)}
	switch {
	case c.Dialect == Draft01:
		e.A, e.B, e.C = send, write, read
	case peer:
		e.A, e.B, e.C, e.D = true, send, write, read
	}
	return e
}

// ask is the word of an initiator. By draft -01 the IRD asks for one at the
// responder; an initiator asks there for as much as it holds itself.
func (c *Config) ask() mpa.Enhanced { return c.word(c.PeerToPeer, c.RTR, c.IRD, c.ORD) }

// answer is the word of a responder (RFC 6581 section 9).
func (m *Machine) answer(q mpa.Enhanced) mpa.Enhanced {
	c := &m.cfg
	offered := mpa.RTRTypes(q, c.layout())
	types := c.RTR
	if types == 0 && c.Dialect == Enhanced {
		types = allRTR // it has to support one at least (section 9.2)
	}
	if offered&types != 0 {
		types &= offered
	}
	if c.Dialect == Enhanced && !q.A {
		types = 0 // client and server
	}
	ird, ord := c.grant(q)
	m.res.IRD, m.res.ORD = depth(ird, c.IRD), depth(ord, c.ORD)
	if types.Has(mpa.RTRRead) {
		// Room for the indication, even if no other Read was asked for.
		ird, m.res.IRD = max(ird, 1), max(m.res.IRD, 1)
	}
	m.res.RTRs = types
	if c.Dialect == Draft01 && offered != 0 && types == 0 {
		m.res.RTRs = mpa.RTRSend // no flag asks for a Send there
	}
	return c.word(q.A, types, ird, ord)
}

// grant gives the depths of a responder. It holds no more requests than the
// initiator means to have outstanding, and has no more outstanding than that
// one holds. What was left open is answered so in the field that it crosses to
// (RFC 6581 section 9.1), in draft -01 in the same one.
//
// Nothing tells the own IRD of an initiator of draft -01. What it asks for is
// the best guess.
func (c *Config) grant(q mpa.Enhanced) (ird, ord uint16) {
	limitIRD, openIRD, openORD := q.ORD, q.ORD, q.IRD
	if c.Dialect == Draft01 {
		limitIRD, openIRD, openORD = q.IRD, q.IRD, q.ORD
	}
	ird, ord = min(c.IRD, limitIRD), min(c.ORD, q.IRD)
	if openIRD == mpa.DepthNotNegotiated {
		ird = mpa.DepthNotNegotiated
	}
	if openORD == mpa.DepthNotNegotiated {
		ord = mpa.DepthNotNegotiated
	}
	return ird, ord
}

// depth is the one in force: what was said, or the own limit where it was left
// open.
func depth(said, own uint16) uint16 {
	if said == mpa.DepthNotNegotiated {
		return own
	}
	return said
}

// accept takes what a Reply says beyond RFC 5044. Where it does not fit, a
// Terminate is due (RFC 6581 section 8).
func (m *Machine) accept(r mpa.Startup) {
	c := &m.cfg
	word, _, has := r.Word()
	switch {
	case !c.enhanced():
	case has && r.Rev >= enhancedRev:
		m.depths(word)
		m.choose(word, mpa.RTRTypes(word, c.layout()))
	case c.Dialect == Draft01:
		if r.Rev >= enhancedRev {
			// Without the word a Reply of draft -01 takes any type (section 8).
			word.IRD = mpa.DepthNotNegotiated
			m.choose(word, allRTR)
		}
	case c.Strict:
		// An enhanced Request has to get an enhanced Reply (RFC 6581 section 10).
		// What else to do the RFC does not say; the siw driver of Linux answers a
		// bad Reply with this code.
		m.fail(codeInvalidReply)
	}
}

// depths takes those of a Reply: an initiator may lower its ORD, but not hold
// more than it has (RFC 6581 section 9.1).
func (m *Machine) depths(r mpa.Enhanced) {
	c := &m.cfg
	if r.IRD != mpa.DepthNotNegotiated {
		m.res.ORD = min(c.ORD, r.IRD)
	}
	if c.Dialect == Enhanced && r.ORD != mpa.DepthNotNegotiated && r.ORD > min(c.IRD, mpa.DepthNotNegotiated) {
		m.fail(codeInsufficientIRD)
	}
}

// choose picks the indication from the types that the Reply names (RFC 6581
// section 9.2). The RFC has no order. A Read comes first: its response proves
// both directions, and it takes no buffer of the receiver, as a Send does. If
// the responder holds no Read another type is better.
//
// A Reply without A is one of the client-server model, in which nothing is
// indicated, even if the Request had A.
func (m *Machine) choose(r mpa.Enhanced, types mpa.RTRSet) {
	c := &m.cfg
	able, due := c.RTR, c.PeerToPeer && r.A
	if c.Dialect == Draft01 {
		// No flag asks for a Send, which every initiator is able to do. Whoever
		// offers nothing leaves it to the upper layer.
		if due = able != 0; due && types == 0 {
			types = mpa.RTRSend
		}
		able |= mpa.RTRSend
	}
	m.res.RTRs = types
	if !due {
		return
	}
	common := types & able
	if r.IRD == 0 && common != mpa.RTRRead {
		common &^= mpa.RTRRead
	}
	for _, t := range [...]mpa.RTRSet{mpa.RTRRead, mpa.RTRWrite, mpa.RTRSend} {
		if common.Has(t) {
			m.res.RTR = t
			return
		}
	}
	m.fail(codeNoMatchingRTR) // draft -01 has no code of its own
}

// fail notes that a Terminate is due. The first reason stays.
func (m *Machine) fail(code uint8) {
	if m.term == nil {
		m.term = &rdmap.TermCode{Layer: rdmap.LayerLLP, EType: rdmap.ETypeMPA, Code: code}
	}
}

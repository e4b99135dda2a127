package rules

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
)

// Findings on a connection so far, for the rules that judge how the other side reacts to
// them.

// mustValidate are the rules that a receiver has to hold each segment to (RFC 5041
// section 7.1, RFC 5040 section 7).
var mustValidate = []string{
	"DDP-UNTAG-QN-02", "DDP-UNTAG-MSN-", "DDP-UNTAG-MO-", "DDP-TO-02", "DDP-HDR-01", "DDP-DV-01", opcodes, "RDMAP-RV-01",
	"DDP-UNTAG-QN-01", "RDMAP-QN-01", "RDMAP-TFLAG-01", "RDMAX-AREQ-AOP-01",
}

// unseen are the rules on what a receiver ignores or cannot notice, those for which
// the sender of the PDU is not responsible, and those on answers to what the receiver did wrong itself.
var unseen = []string{
	"DDP-RSVD-01", "RDMAP-RSV-01", "RDMAP-INVSTAG-01", "RDMAX-INVSTAG-01", "RDMAX-AREQ-RSVD-01", "RDMAP-TERM-", "MPA-FPDU-PAD-01", "MPA-TERM-",
	"MPA-ULPDU-", "MPA-CRC-KEEP-", "RDMAP-READ-PAIR-01", "RDMAX-AREQ-ANSWER-01", "RDMAP-READ-ORDER-02", "RDMAX-ORDER-03", "RDMAX-AREQ-ALIGN-", "RDMAX-AREQ-AOP-02",
}

// IsOf reports whether a finding is of a rule, or of rules with an id that begins
// so.
func IsOf(f *Finding, ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(f.Rule.ID, id) })
}

// Flagged reports whether a PDU violates one of the rules.
func (c *Case) Flagged(pdu uint64, ids ...string) bool {
	return AnyFinding(c.Found(), func(f *Finding) bool { return f.HasPDU && f.PDU == pdu && IsOf(f, ids...) })
}

// Awaits reports whether the segment that a Terminate quotes has the MSN that its
// queue awaited.
func (c *Case) Awaits(t *model.Terminate) bool {
	return len(t.Sent) > 0 && c.Gates(t.Peer)&catalogue.MsgSync != 0 &&
		!c.Flagged(t.Sent[0].PDU, "DDP-UNTAG-MSN-", "DDP-DUP-01", "DDP-L-02", "DDP-L-03", "DDP-UNTAG-QN-01", "RDMAP-QN-01", "RDMAP-TFLAG-01", "RDMAP-TERM-QN-01") // not the MSNs of its queue
}

// Refusable reports whether a PDU violates a rule of DDP or RDMAP for which its receiver has
// to refuse it.
func (c *Case) Refusable(pdu uint64) bool {
	return AnyFinding(c.Found(), func(f *Finding) bool {
		return f.HasPDU && f.PDU == pdu && f.Refusable()
	})
}

// Refusable reports whether a finding is about what its receiver has to refuse, by a rule of DDP or RDMAP.
func (f *Finding) Refusable() bool {
	return f.Severity == catalogue.Error && slices.Contains([]string{"ddp", "rdmap", "rdmap-ext"}, f.Rule.Layer) && !IsOf(f, unseen...)
}

// opcodes is the rule that an opcode is assigned. A receiver has to refuse one for experiments as well if it has no part in them.
const opcodes = "RDMAP-OPCODE-01"

// laterOpcodes is the rule that RFC 7306 is not used with revision 0, which has no such opcodes.
const laterOpcodes = "RNIC-IOP-RDMAC-ATOMIC-01"

// RefusableBySome reports whether there are receivers that have to refuse what a finding is about.
func (f *Finding) RefusableBySome() bool {
	return f.HasPDU && (f.Refusable() || f.Rule.ID == opcodes || f.Rule.ID == laterOpcodes || f.Severity == catalogue.Error && IsOf(f, misfits...))
}

// misfits are the rules on chunks over SCTP behind which their receiver ends the session (RFC 5043 sections 6.1 and 10), or which it cannot read.
var misfits = []string{"SCTP-DDP-SEQ-01", "SCTP-DDP-SEQ-03", "SCTP-DDP-SSN-0", "SCTP-DDP-SEG-01", "SCTP-DDP-CTL-0"}

// Received are the findings on what a direction has sent and the other side has
// acknowledged, the earliest one first.
func (c *Case) Received(h *model.Direction, of func(*Finding) bool) (all []*Finding) {
	for i := range c.Found() {
		f := &c.Found()[i]
		if f.HasPDU && f.HasDir && f.Dir == h.Dir && f.End > 0 && f.End <= c.Trace.Flow[h.Dir].Acked && of(f) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *Finding) int { return int(a.End - b.End) })
	return all
}

// stands reports whether a finding yields to none of the current findings.
func (c *Case) stands(f *Finding) bool {
	return !AnyFinding(c.Found(), func(g *Finding) bool { return f.YieldsTo(g) })
}

// Noticeable is the first fault of a direction that its receiver must notice, nil if there
// is none.
func (c *Case) Noticeable(h *model.Direction) *Finding {
	fs := c.Received(h, func(f *Finding) bool { return f.Severity == catalogue.Error && IsOf(f, mustValidate...) })
	if i := slices.IndexFunc(fs, c.stands); i >= 0 {
		return fs[i]
	}
	return nil
}

// Unexplained is the latest fault of a side after which the other one closed, with no
// Terminate from either side, and that close; nil if there is none.
func (c *Case) Unexplained(layers ...string) (*Finding, model.Closing) {
	k, ok := c.Closed()
	if !ok || k.Crossed {
		return nil, k
	}
	h := &c.Directions[model.Other(k.Dir)]
	if h.Terminates+h.Peer.Terminates > 0 {
		return nil, k
	}
	fs := c.Received(h, func(f *Finding) bool {
		return f.Severity == catalogue.Error && slices.Contains(layers, f.Rule.Layer) && !IsOf(f, unseen...) && (k.Acked >= f.End || k.Acked < 0 && k.Frame > f.Frame)
	})
	slices.Reverse(fs)
	if i := slices.IndexFunc(fs, c.stands); i >= 0 {
		return fs[i], k
	}
	return nil, k
}

// Waited is the time from one packet to another, 0 if it is not known because one of them has no time.
func Waited(from, to int64) int64 {
	if from == 0 || to == 0 {
		return 0
	}
	return to - from
}

// Quiet is the time up to which neither side had closed the connection.
func (c *Case) Quiet() int64 {
	if k, ok := c.Closed(); ok {
		return k.Time
	}
	return c.Now()
}

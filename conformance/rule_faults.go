package conformance

import (
	"slices"
	"strings"
)

// What was found on a connection so far, as rules look at it that judge how the other
// side takes it.

// mustValidate are the rules that a receiver has to hold each segment to (RFC 5041
// section 7.1, RFC 5040 section 7).
var mustValidate = []string{
	"DDP-UNTAG-QN-02", "DDP-UNTAG-MSN-", "DDP-UNTAG-MO-", "DDP-TO-02", "DDP-HDR-01", "DDP-DV-01", "RDMAP-OPCODE-01", "RDMAP-RV-01",
	"RDMAP-QN-01", "RDMAP-TFLAG-01", "RDMAX-AREQ-AOP-01",
}

// unseen are the rules on what a receiver ignores or cannot know, and those on
// what the sender of the PDU is not to blame for.
var unseen = []string{
	"DDP-RSVD-01", "RDMAP-RSV-01", "RDMAP-INVSTAG-01", "RDMAX-INVSTAG-01", "RDMAX-AREQ-RSVD-01", "RDMAP-TERM-", "MPA-FPDU-PAD-01", "MPA-TERM-",
	"MPA-ULPDU-", "MPA-CRC-KEEP-", "RDMAP-READ-PAIR-01", "RDMAX-AREQ-ANSWER-01", "RDMAP-READ-ORDER-02", "RDMAX-ORDER-03", "RDMAX-AREQ-ALIGN-",
}

// isOf reports whether a finding is of a rule, or of rules with an id that begins
// so.
func isOf(f *ruleFinding, ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(f.Rule.ID, id) })
}

// flagged reports whether a PDU breaks one of the rules.
func (c *Case) flagged(pdu uint64, ids ...string) bool {
	return slices.ContainsFunc(c.Found(), func(f ruleFinding) bool { return f.HasPDU && f.PDU == pdu && isOf(&f, ids...) })
}

// awaits reports whether the segment that a Terminate quotes has the MSN that its
// queue awaited.
func (c *Case) awaits(t *terminate) bool {
	return len(t.sent) > 0 && c.gates(t.peer)&MsgSync != 0 &&
		!c.flagged(t.sent[0].pdu, "DDP-UNTAG-MSN-", "DDP-DUP-01", "RDMAP-QN-01", "RDMAP-TFLAG-01", "RDMAP-TERM-QN-01") // not the MSNs of its queue
}

// received are the findings on what a half has sent and the other side has
// acknowledged, the earliest one first.
func (c *Case) received(h *half, of func(*ruleFinding) bool) (all []*ruleFinding) {
	for i := range c.Found() {
		f := &c.Found()[i]
		if f.HasPDU && f.HasDir && f.Dir == h.dir && f.end > 0 && f.end <= c.t.Flow[h.dir].Acked && of(f) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *ruleFinding) int { return int(a.end - b.end) })
	return all
}

// stands reports whether a finding gives way to none of those at hand.
func (c *Case) stands(f *ruleFinding) bool {
	return !slices.ContainsFunc(c.Found(), func(g ruleFinding) bool { return f.YieldsTo(&g) })
}

// noticeable is the first fault of a half that its receiver has to notice, nil if
// there is none.
func (c *Case) noticeable(h *half) *ruleFinding {
	fs := c.received(h, func(f *ruleFinding) bool { return f.Severity == Error && isOf(f, mustValidate...) })
	if i := slices.IndexFunc(fs, c.stands); i >= 0 {
		return fs[i]
	}
	return nil
}

// unexplained is the latest fault of a side whereupon the other one closed without a
// Terminate of either, and that close; nil if there is none.
func (c *Case) unexplained(layers ...string) (*ruleFinding, closing) {
	k, ok := c.closed()
	if !ok || k.crossed {
		return nil, k
	}
	h := &c.half[other(k.dir)]
	if h.terminates+h.peer.terminates > 0 {
		return nil, k
	}
	fs := c.received(h, func(f *ruleFinding) bool {
		return f.Severity == Error && slices.Contains(layers, f.Rule.Layer) && !isOf(f, unseen...) && (k.Acked >= f.end || k.Acked < 0 && k.Frame > f.Frame)
	})
	slices.Reverse(fs)
	if i := slices.IndexFunc(fs, c.stands); i >= 0 {
		return fs[i], k
	}
	return nil, k
}

// quiet is until when nobody had closed the connection.
func (c *Case) quiet() int64 {
	if k, ok := c.closed(); ok {
		return k.Time
	}
	return c.Now()
}

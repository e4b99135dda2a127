package conformance

import (
	"fmt"
	"slices"
	"time"
)

// How long a side may stay silent, or keep a connection open, in nanoseconds, and
// how many segments it may swallow.
const (
	teardownTime  = int64(60 * time.Second)
	toleratedTime = int64(60 * time.Second)
	swallowed     = 100
)

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

// faults are the findings on what a half has sent and the other side has
// acknowledged, the earliest one first.
func (c *conn) faults(h *half, of func(*Finding) bool) (all []*Finding) {
	for i := range c.findings {
		f := &c.findings[i]
		if f.HasPDU && f.HasDir && f.Dir == h.dir && f.end > 0 && f.end <= c.t.Flow[h.dir].Acked && of(f) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *Finding) int { return int(a.end - b.end) })
	return all
}

// faultChecks are about what a side does once the other one was at fault, or a
// Terminate was sent (RFC 5040 sections 6 and 7, RFC 5041 section 7).
var faultChecks = []check{
	{id: "DDP-ERR-MISSED-01", needs: Bidir | Sync, transport: onTCP, reacts: true, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			f, tolerated := c.missed(h)
			if f == nil || !c.applies() || !tolerated {
				continue
			}
			if h.peer.knows >= f.end || h.count >= f.nth+swallowed || c.lasts(f) >= toleratedTime {
				x := *f
				x.Severity, x.Message = None, "the receiver goes on as if nothing were wrong with it"
				x.Observed, x.Expected = "no Terminate for what breaks "+f.Rule.ID, "a Terminate"
				c.fire(x)
			}
		}
	}},
	{id: "RDMAX-IMM-CHECK-01", needs: Bidir, transport: onTCP, reacts: true, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			fs := c.faults(h, func(f *Finding) bool { return isOf(f, "RDMAX-IMM-LEN-01") })
			if len(fs) == 0 || !c.applies() {
				continue
			}
			f := fs[0]
			goesOn := h.peer.knows >= f.end || h.count > f.nth && c.t.Flow[h.dir].Acked > f.end
			if !c.complete(h.peer) {
				c.lacks(Contig)
				continue
			}
			if h.peer.terminates == 0 && !c.endedBy(h.peer) && goesOn {
				x := *f
				x.Severity, x.Message, x.Observed, x.Expected = None, "the receiver takes Immediate Data of another length than 8", "no Terminate", "a Terminate"
				c.fire(x)
			}
		}
	}},
	{id: "DDP-LLP-CONN-01", needs: Bidir, transport: onTCP, reacts: true, end: func(c *conn) {
		from, by := int64(0), (*word)(nil)
		for i := range c.half {
			h := &c.half[i]
			if h.word != nil && (h.peer.word != nil || h.word.end <= c.t.Flow[h.dir].Acked) && (by == nil || h.word.time < from) {
				from, by = h.word.time, h.word
			}
		}
		if by == nil || !c.applies() {
			return
		}
		until := c.quiet()
		if waits := c.t.Flow[0].Waiting || c.t.Flow[1].Waiting; until-from > teardownTime && !waits {
			f := by.at
			f.Message, f.Observed = "nobody closes the connection behind the Terminate", time.Duration(until-from).Round(time.Second).String()
			f.Expected = fmt.Sprintf("a FIN or a RST within %v", time.Duration(teardownTime))
			c.fire(f)
		}
	}},
	{id: "RDMAP-TERM-CLOSE-01", needs: Bidir | End, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			fl := &c.t.Flow[i]
			if h.word == nil || !c.applies() || fl.RST == nil || fl.FIN != nil || h.word.end <= fl.Acked {
				continue
			}
			if fl.RST.At > fl.Sent {
				c.lacks(Contig) // a FIN, or octets, that were not captured
				continue
			}
			f := h.word.at
			f.Message = "the connection is reset before the Terminate was acknowledged"
			f.Observed, f.Expected = fmt.Sprintf("RST in frame %d", fl.RST.Frame), "a FIN, so that it is delivered"
			c.fire(f)
		}
	}},
	{id: "RDMAP-TERM-SENT-01", needs: Bidir | End, transport: onTCP, end: func(c *conn) {
		f, k := c.silent("ddp", "rdmap", "rdmap-ext")
		if f == nil || !c.applies() {
			return
		}
		c.fire(Finding{
			Dir: k.dir, HasDir: true, Frame: k.Frame, Message: "a side closes without a Terminate after what the other one did wrong",
			Observed: fmt.Sprintf("%s in frame %d, %s in frame %d", f.Rule.ID, f.Frame, k, k.Frame), Expected: "a Terminate",
		})
	}},
}

// missed returns the first fault of a half that its receiver has to notice, and
// whether it neither answered with a Terminate nor was the first to close.
func (c *conn) missed(h *half) (f *Finding, tolerated bool) {
	fs := c.faults(h, func(f *Finding) bool { return f.Severity == Error && isOf(f, mustValidate...) })
	i := slices.IndexFunc(fs, c.stands)
	if i < 0 {
		return nil, false
	}
	if !c.complete(h.peer) {
		c.lacks(Contig)
		return nil, false
	}
	return fs[i], h.peer.terminates == 0 && !c.endedBy(h.peer)
}

// complete reports whether nothing that a half has sent can be missing, up to its
// close: there may have been a Terminate.
func (c *conn) complete(h *half) bool {
	fl := &c.t.Flow[h.dir]
	end := fl.Sent
	if fl.FIN != nil {
		if fl.FIN.At > end {
			return false
		}
		end++
	}
	apart := slices.ContainsFunc(h.looses, func(s loose) bool { return s.from >= h.started() && (len(h.frames) > 0 || !c.t.SYN) })
	return !h.gap && !h.unsure && !apart && !fl.Waiting && !hides(fl) && (fl.RST == nil || fl.RST.At <= end)
}

// endedBy reports whether a side was the first to close.
func (c *conn) endedBy(h *half) bool {
	k, ok := c.closed()
	return ok && k.dir == h.dir
}

// quiet is until when nobody had closed the connection.
func (c *conn) quiet() int64 {
	if k, ok := c.closed(); ok {
		return k.Time
	}
	return max(c.t.LastTime, c.engine.latest)
}

// lasts is for how long nobody closed the connection after a finding.
func (c *conn) lasts(f *Finding) int64 { return c.quiet() - f.time }

// silent returns what a side did wrong, the latest such thing, whereupon the
// other one closed, without a Terminate of either.
func (c *conn) silent(layers ...string) (*Finding, closing) {
	k, ok := c.closed()
	if !ok || k.crossed {
		return nil, k
	}
	h := &c.half[other(k.dir)]
	if h.terminates+h.peer.terminates > 0 {
		return nil, k
	}
	fs := c.faults(h, func(f *Finding) bool {
		return f.Severity == Error && slices.Contains(layers, f.Rule.Layer) && !isOf(f, unseen...) && (k.Acked >= f.end || k.Acked < 0 && k.Frame > f.Frame)
	})
	slices.Reverse(fs)
	i := slices.IndexFunc(fs, c.stands)
	if i < 0 {
		return nil, k
	}
	if !c.complete(h.peer) {
		c.lacks(Contig)
		return nil, k
	}
	return fs[i], k
}

// stands reports whether a finding gives way to none of those at hand.
func (c *conn) stands(f *Finding) bool {
	return !slices.ContainsFunc(c.findings, func(g Finding) bool { return f.yieldsTo(&g) })
}

// String says how the connection was closed.
func (k closing) String() string {
	if k.reset {
		return "RST"
	}
	return "FIN"
}

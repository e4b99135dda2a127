package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// recent are the last few chunks of a direction, with their TSNs.
type recent struct {
	at   int
	last [maxRecent]struct {
		pdu uint64
		tsn int64
		has bool
	}
}

// maxRecent is how many chunks may lie between an error and what is a reaction to
// it.
const maxRecent = 8

func (r *recent) add(p *trace.PDU) {
	x := &r.last[r.at%maxRecent]
	x.pdu, x.tsn, x.has = p.Number, p.Chunk.Arrival.TSN, true
	r.at++
}

// heard reports whether a PDU is among them whose TSN is below.
func (r *recent) heard(pdu uint64, below int64) bool {
	for _, x := range r.last {
		if x.has && x.pdu == pdu {
			return x.tsn < below
		}
	}
	return false
}

// wrongControl says what is wrong with the place of a session control chunk in its
// session; observed is "" if nothing is.
func wrongControl(e *control) (message, observed, expected string) {
	f := e.function
	asks := initiates(f)
	answers := f >= sctpddp.Accept && f <= sctpddp.EnhancedReject && !asks && f != sctpddp.Terminate
	switch {
	case !e.ok || e.k.Order == trace.Duplicate:
		return "", "", ""
	case e.ended():
		return "a session control behind the Terminate of the same side", f.String(), "nothing"
	case e.p.Dir == trace.I2R && e.chunks == 0 && !asks:
		return "the session does not begin with an Initiate", f.String(), "Initiate"
	case asks && e.chunks > 0:
		return "an Initiate within a session", f.String(), "none"
	case answers && (e.chunks > 0 || e.p.Dir == trace.I2R):
		return "an answer to an Initiate where there is none", f.String(), "none"
	}
	return "", "", ""
}

// wrongSegment does the same for a DDP segment.
func wrongSegment(c *conn, s *segment) (message, observed, expected string) {
	switch {
	case s.p.Chunk.Order == trace.Duplicate:
	case s.ended():
		return "a segment behind the Terminate of the session of the same side", s.op.String(), "nothing"
	case s.chunks == 0 && s.dir == trace.R2I && c.t.SYN:
		return "the passive side begins with a segment", "a DDP segment", "Accept, Reject or Terminate"
	}
	return "", "", ""
}

func initiates(f sctpddp.Function) bool {
	return f == sctpddp.Initiate || f == sctpddp.EnhancedInitiate
}

// ended reports whether the side has sent the Terminate of the session.
func (h *half) ended() bool {
	for _, x := range h.controls {
		if x.function == sctpddp.Terminate {
			return true
		}
	}
	return false
}

// offends notes a chunk that fits no pattern of a session, if that is certain.
func (h *half) offends(p *trace.PDU, have Gate) {
	if sure := Start | Contig; !h.offended && p.Chunk.Arrival.Complete && have&sure == sure {
		h.offended, h.offence = true, p.Chunk.Arrival.TSN
	}
}

// streamChecks are about sessions and the streams that they use (RFC 5043 sections
// 6 and 10): what may be sent when, as acknowledgements show.
var streamChecks = []check{
	{id: "SCTP-DDP-STREAMS-02", transport: onSCTP, end: func(c *conn) {
		switch {
		case !c.t.Side[trace.R2I].HasFunction:
		case c.t.SYN:
			c.applies()
		case !c.t.HasAskedOn:
			c.lacks(Start)
		case c.applies():
			c.fire(Finding{
				Dir: trace.R2I, HasDir: true, Frame: c.t.FirstFrame, Message: "the answer comes on another stream than the Initiate",
				Observed: fmt.Sprintf("stream %d", c.t.SID), Expected: fmt.Sprintf("stream %d", c.t.AskedOn),
			})
		}
	}},
	{id: "SCTP-DDP-SEQ-06", transport: onSCTP, chunk: func(c *conn, s *segment) {
		k := &s.p.Chunk.Arrival
		if s.dir != trace.I2R || !c.t.SYN {
			return
		}
		if w := &k.Pending; c.overtakes(k, initiates(w.Function)) && c.once(s.half) {
			f := s.at()
			if w.Frame == k.Frame {
				f.Severity = Warning
			}
			f.Message, f.Observed = "a segment that may arrive before the Initiate", fmt.Sprintf("nothing acknowledges the Initiate of frame %d", w.Frame)
			f.Expected = "its SACK or its answer first"
			c.fire(f)
		}
	}},
	{id: "SCTP-DDP-SEQ-07", transport: onSCTP, control: func(c *conn, e *control) {
		k := &e.k.Arrival
		if e.chunks == 0 || e.k.Order == trace.Duplicate || len(e.controls) == 0 {
			return
		}
		if w := &k.Pending; c.overtakes(k, true) {
			c.ctl(e, "session control that may arrive before the one before it",
				fmt.Sprintf("nothing acknowledges the %s of frame %d", w.Function, w.Frame), "its SACK first")
		}
	}},
	{id: "SCTP-DDP-SEQ-08", transport: onSCTP, control: func(c *conn, e *control) {
		k := &e.k.Arrival
		if !initiates(e.function) || e.chunks > 0 || e.p.Dir != trace.I2R {
			return
		}
		if w := &k.Pending; c.overtakes(k, true) {
			c.ctl(e, "a session begins on a stream on which chunks of the one before are under way",
				fmt.Sprintf("nothing acknowledges that of frame %d", w.Frame), "all of them acknowledged")
		}
	}},
	{id: "SCTP-DDP-SEQ-09", transport: onSCTP, reacts: true, chunk: func(c *conn, s *segment) {
		if !s.peer.offended || s.p.Chunk.Order == trace.Duplicate {
			return
		}
		switch a := &s.p.Chunk.Arrival; {
		case a.Heard < 0:
			c.lacks(Causal)
		case heard(a, s.peer.offence) == having && c.applies() && c.once(s.half):
			c.at(s, "a segment although a chunk that fits no pattern of a session had come", "the session goes on", "a Terminate")
		}
	}},
	{id: "SCTP-DDP-SSN-03", transport: onSCTP, end: func(c *conn) {
		for d := range c.t.Flow {
			switch f := &c.t.Flow[d]; {
			case f.Crowded && f.Unnumbered == 0:
				c.lacks(Causal)
			case c.applies() && f.Unnumbered != 0:
				c.fire(Finding{
					Dir: trace.Dir(d), HasDir: true, Frame: f.Unnumbered, Message: "too many chunks of a stream are under way to tell their DDP-SSNs apart",
					Observed: "32768 or more", Expected: "at most 32767",
				})
			}
		}
	}},
	{id: "SCTP-DDP-TERM-02", needs: Sync | Contig, transport: onSCTP, end: func(c *conn) {
		d := c.t.EndedBy
		h := &c.half[d]
		if c.t.Ending != trace.Terminated || !c.accepted() || h.terminates > 0 {
			return
		}
		for _, e := range h.controls {
			if e.function != sctpddp.Terminate || !c.applies() {
				continue
			}
			for i := range c.findings {
				if f := &c.findings[i]; f.isError(other(d)) && e.before.heard(f.PDU, e.heard) {
					x := e.place
					x.Message, x.Observed = "the session ends behind an error without a Terminate of RDMAP", f.Rule.ID+" in frame "+fmt.Sprint(f.Frame)
					x.Expected = "a Terminate that tells the error"
					c.fire(x)
					return
				}
			}
		}
	}},
}

// overtakes reports whether a chunk may arrive before one that had to come first,
// and tells the verdict where it does not: concerns says that the rule is about
// what is pending.
func (c *conn) overtakes(k *trace.Arrival, concerns bool) bool {
	switch {
	case !k.HasPending || !concerns:
		c.applies()
	case !k.Pending.Certain:
		c.lacks(Causal)
	default:
		return c.applies()
	}
	return false
}

// isError reports whether a finding is an error of DDP or RDMAP in a direction.
func (f *Finding) isError(d trace.Dir) bool {
	switch f.Rule.Layer {
	case "ddp", "rdmap", "rdmap-ext":
		return f.Severity == Error && f.HasDir && f.Dir == d && f.HasPDU
	}
	return false
}

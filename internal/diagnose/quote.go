package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// terminates names the error of each Terminate, and the PDU that it is about.
func (p *problems) terminates(c *trace.Connection) {
	for d, t := range c.Terminates {
		if t == nil {
			continue
		}
		s := fmt.Sprintf("Terminate from the %s in frame %d: %s%s", trace.Dir(d).Sender(), t.Frame, t.Code.Name(), reading(t))
		if about := Quoted(&t.Quote, trace.Dir(1-d).Sender()); about != "" {
			s += "; it quotes " + about
		}
		p.add(s)
	}
}

// reading tells how the control word is read, where that is not as the RFC lays it out.
func reading(t *trace.Terminate) string {
	switch {
	case t.Swapped && t.Why != "":
		return " (control word with its halves swapped: " + t.Why + ")"
	case t.Swapped:
		return " (control word with its halves swapped)"
	case t.Why != "":
		return " (control word not swapped: " + t.Why + ")"
	}
	return ""
}

// Quoted names the PDU that a Terminate quotes, which sender sent; it is empty if the
// Terminate quotes none.
func Quoted(q *trace.Quote, sender string) string {
	switch q.Match {
	case trace.NoQuote:
		return ""
	case trace.QuoteCut:
		return "a header with missing octets"
	default:
	}
	what := operation(q)
	switch q.Match {
	case trace.NotCaptured:
		return "the " + what + ", which was not captured before it"
	case trace.Forgotten:
		return "the " + what + ", which was sent too long ago to be found"
	case trace.Unfinished:
		return "the " + what + ", of which the " + sender + " sent only a part"
	case trace.NeverSent:
		return "the " + what + ", which the " + sender + " did not send"
	default:
	}
	s := fmt.Sprintf("the %s in frame %d", what, q.Frame)
	if m := &q.Message; m.Segments > 1 {
		s += fmt.Sprintf(", part of a message of %s in frames %d to %d", octets(uint64(max(m.Octets, 0))), m.FirstFrame, m.LastFrame)
	}
	switch n := q.Candidates - 1; {
	case n == 1:
		s += "; another one has the same header"
	case n > 1:
		s += fmt.Sprintf("; %d others have the same header", n)
	case q.Match == trace.MatchedRead:
		s += ", with another DDP header than it was sent with"
	}
	if how := otherwise(q); how != "" {
		s += "; it quotes it " + how
	}
	return s
}

// operation names what is quoted, with its place.
func operation(q *trace.Quote) string {
	h := &q.Header
	switch {
	case q.HasRead && q.Opcode == rdmap.OpReadRequest:
		r := q.Read
		if q.HasSent {
			r = q.Sent
		}
		return fmt.Sprintf("%v for %s from STag 0x%08x, TO 0x%x", q.Opcode, octets(uint64(r.Size)), r.SrcSTag, r.SrcTO)
	case h.Tagged:
		return fmt.Sprintf("%v to STag 0x%08x, TO 0x%x", q.Opcode, h.STag, h.TO)
	}
	return fmt.Sprintf("%v with MSN %d", q.Opcode, h.MSN)
}

// otherwise says how a Terminate quotes a Read Request, where that is not as it was sent.
func otherwise(q *trace.Quote) string {
	was, is := &q.Sent, &q.Read
	switch {
	case !q.HasRead || !q.HasSent || *was == *is:
		return ""
	case q.QuotesRest():
		return fmt.Sprintf("as what was left of it, %s from TO 0x%x", octets(uint64(is.Size)), is.SrcTO)
	}
	var with []string
	tell := func(differs bool, format string, v uint64) {
		if differs {
			with = append(with, fmt.Sprintf(format, v))
		}
	}
	tell(was.Size != is.Size, "%d octets", uint64(is.Size))
	tell(was.SrcSTag != is.SrcSTag, "source STag 0x%08x", uint64(is.SrcSTag))
	tell(was.SrcTO != is.SrcTO, "source TO 0x%x", is.SrcTO)
	tell(was.SinkSTag != is.SinkSTag, "sink STag 0x%08x", uint64(is.SinkSTag))
	tell(was.SinkTO != is.SinkTO, "sink TO 0x%x", is.SinkTO)
	return "with " + list(with) + " instead"
}

// refused tells of requests that get no answer, and of the Terminate that refuses one.
func (p *problems) refused(f *trace.Flow, d trace.Dir) {
	switch {
	case f.Rare().Refused == 0:
		p.count(d, f.Rare().Unanswered, "request without a captured answer", "requests without a captured answer", 0)
	case f.Rare().Refused == f.Rare().Unanswered:
		p.addf("%v: %s without an answer: refused by the Terminate in frame %d", d, Counted(f.Rare().Unanswered, "request", "requests"), f.Rare().RefusedFrame)
	default:
		p.addf("%v: %s without an answer: %d refused by the Terminate in frame %d", d, Counted(f.Rare().Unanswered, "request", "requests"), f.Rare().Refused, f.Rare().RefusedFrame)
	}
}

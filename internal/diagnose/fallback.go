package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// A responder that does not know revision 2 has to close in place of an answer to such a Request, and the initiator may then try
// revision 1 (RFC 6581 section 10). Where that worked, nothing is wrong. So what is to be said of the first attempt waits for the second one.

const (
	// revisionFallback is the rule that finds the second attempt.
	revisionFallback = "ADV-REV-FALLBACK"
	// fallbackTime is how soon it follows, in nanoseconds.
	fallbackTime = int64(5 * time.Second)
	// attemptTime is how long a first attempt waits: the second one may begin late, and its Reply takes its time.
	attemptTime = fallbackTime + int64(late)
	// maxAttempts bounds the first attempts that wait, and the second ones that are kept for them.
	maxAttempts = 1000
)

// sides are the host that initiates, and the listener that answers.
type sides struct {
	initiator netip.Addr
	responder netip.AddrPort
}

// attempt is a first attempt: what is said of it, and the number of the connection that was the second one, if there was one.
type attempt struct {
	Diagnosis
	from      *trace.Connection
	worked    bool
	second    uint64
	explained bool
}

// attempts are the first attempts that wait, in the order in which they ended.
type attempts struct {
	list []*attempt
	at   map[sides][]*attempt // those without a second one
	// accepted are the latest connections that were accepted with revision 1: a first attempt may be over later than that.
	accepted map[sides]secondAttempt
}

// secondAttempt is a connection that may be the second one.
type secondAttempt struct {
	number, first, request uint64 // the connection, its first frame and that of its Request
	time                   int64  // of the first frame
}

func sidesOf(c *trace.Connection) sides {
	return sides{c.Side[trace.I2R].Addr.Addr(), c.Side[trace.R2I].Addr}
}

// mayFallBack reports whether the responder closed in place of an answer to a Request of revision 2.
func (a *about) mayFallBack() bool {
	ini := &a.Side[trace.I2R]
	return a.Transport == trace.TCP && ini.HasStartup && ini.Startup.Rev == 2 && a.EndedBy == trace.R2I && (a.Ending == trace.FIN || a.Ending == trace.RST)
}

// hold keeps a diagnosis until the second attempt is known. It reports whether there was room.
func (t *attempts) hold(d *Diagnosis) bool {
	if len(t.list) >= maxAttempts {
		return false
	}
	d.tell()
	if t.at == nil {
		t.at = map[sides][]*attempt{}
	}
	x, at := &attempt{Diagnosis: *d, from: d.Conn}, sidesOf(d.Conn)
	t.list = append(t.list, x)
	if second, ok := t.accepted[at]; !ok || !x.take(&second) {
		t.at[at] = append(t.at[at], x)
	}
	return true
}

// ended looks for the first attempts of a connection that has ended, if it was accepted.
func (t *attempts) ended(c *trace.Connection) {
	if c.Outcome == trace.Accepted {
		t.second(c)
	}
}

// second looks for the first attempts of a connection that was accepted, if that was with revision 1.
func (t *attempts) second(c *trace.Connection) {
	if ini := &c.Side[trace.I2R]; c.Transport != trace.TCP || !ini.HasStartup || ini.Startup.Rev != 1 {
		return
	}
	at, second := sidesOf(c), secondAttempt{c.Number, c.FirstFrame, c.Side[trace.I2R].StartupFrame, c.FirstTime}
	if t.accepted == nil {
		t.accepted = map[sides]secondAttempt{}
	}
	if len(t.accepted) >= maxAttempts {
		clear(t.accepted)
	}
	t.accepted[at] = second
	if len(t.at[at]) == 0 {
		return
	}
	t.at[at] = slices.DeleteFunc(t.at[at], func(x *attempt) bool { return x.take(&second) })
	if len(t.at[at]) == 0 {
		delete(t.at, at)
	}
}

// reply looks for the first attempts of a connection whose Reply this is. The outcome of the connection is not known yet.
func (t *attempts) reply(p *trace.PDU) {
	if p.Startup != nil && !p.Startup.R {
		t.second(p.Conn)
	}
}

// settled returns the first attempts, in the order in which they ended, that have a second one, or are too old for one at the time now.
// They wait no more.
func (t *attempts) settled(now int64) (some []*attempt) {
	t.list = slices.DeleteFunc(t.list, func(x *attempt) bool {
		if !x.worked && x.from.LastTime != 0 && now-x.from.LastTime <= attemptTime {
			return false
		}
		some = append(some, x)
		if at := sidesOf(x.from); !x.worked {
			if t.at[at] = slices.DeleteFunc(t.at[at], func(y *attempt) bool { return x == y }); len(t.at[at]) == 0 {
				delete(t.at, at)
			}
		}
		return true
	})
	return some
}

// take has a first attempt say that the second one worked, if the connection is that. It reports whether it is.
func (x *attempt) take(c *secondAttempt) bool {
	if x.from.FirstFrame >= c.first || x.from.LastTime == 0 || c.time == 0 || c.time-x.from.LastTime > fallbackTime {
		return false
	}
	x.worked, x.second, x.Severity, x.Title = true, c.number, conformance.Note, "closed on revision 2, revision 1 worked"
	x.Text = fmt.Sprintf("The responder %s the connection (frame %d) when it got the MPA Request of revision 2 in frame %d, as RFC 6581 section 10 asks of a responder that does not know that revision. Revision 1 then worked (conn %d, frame %d).",
		x.ending(), x.from.EndFrame, x.from.Side[trace.I2R].StartupFrame, c.number, c.request)
	x.Also = []string{"Revision 1 negotiates neither IRD and ORD nor an RTR: the upper layers have to agree on the depth of Reads themselves."}
	x.Advice, x.same = "", "fell back"
	return true
}

// ending says what the responder did.
func (x *attempt) ending() string { return (&about{Connection: x.from}).ended() }

// explains has the finding that a connection is the second attempt told with the first one.
func (t *attempts) explains(a *about) {
	for _, x := range t.list {
		if x.worked && x.second == a.Number && !x.explained && len(a.explain(revisionFallback)) > 0 {
			x.explained, x.Rules = true, append(x.Rules, revisionFallback)
			a.taken = a.taken[:0]
		}
	}
}

// release adds what was held.
func (s *Summary) release() {
	list := s.attempts.list
	s.attempts.list, s.attempts.at = nil, nil
	s.addAttempts(list)
}

func (s *Summary) addAttempts(list []*attempt) {
	for _, x := range list {
		if s.Keep == nil || s.Keep(&x.Diagnosis) {
			s.Add(x.Diagnosis)
		}
	}
}

// Reply takes an MPA Reply: its connection may go on for long, and be what a diagnosis of another one waits for.
func (s *Summary) Reply(p *trace.PDU) { s.attempts.reply(p) }

// Settle adds what waited for another connection, and waits no more at the time now: it is known, or was waited for long enough.
func (s *Summary) Settle(now int64) {
	if len(s.attempts.list) > 0 {
		s.addAttempts(s.attempts.settled(now))
	}
}

// Pending keeps diagnoses of connections that wait for another connection, where they are shown one by one. The zero value is ready for use.
type Pending struct{ attempts attempts }

// Hold keeps what has to wait, and returns the other ones.
func (p *Pending) Hold(ds []Diagnosis) []Diagnosis {
	return slices.DeleteFunc(ds, func(d Diagnosis) bool { return d.mayFallBack && p.attempts.hold(&d) })
}

// Reply is the same as [Summary.Reply].
func (p *Pending) Reply(reply *trace.PDU) { p.attempts.reply(reply) }

// Ended takes a connection that has ended, of which there may have been no PDUs to take.
func (p *Pending) Ended(c *trace.Connection) { p.attempts.ended(c) }

// Settled returns those that wait no more at the time now.
func (p *Pending) Settled(now int64) (ds []Diagnosis) {
	if len(p.attempts.list) == 0 {
		return nil
	}
	for _, x := range p.attempts.settled(now) {
		ds = append(ds, x.Diagnosis)
	}
	return ds
}

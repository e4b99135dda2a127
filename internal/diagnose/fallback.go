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
	// maxAttempts bounds the first attempts that wait.
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
	x := &attempt{Diagnosis: *d, from: d.Conn}
	t.list = append(t.list, x)
	t.at[sidesOf(d.Conn)] = append(t.at[sidesOf(d.Conn)], x)
	return true
}

// second looks for the first attempts of a connection that was accepted with revision 1.
func (t *attempts) second(c *trace.Connection) {
	if len(t.at) == 0 || c.Transport != trace.TCP || c.Outcome != trace.Accepted || c.Side[trace.I2R].Startup.Rev != 1 {
		return
	}
	at := sidesOf(c)
	t.at[at] = slices.DeleteFunc(t.at[at], func(x *attempt) bool {
		if x.from.FirstFrame >= c.FirstFrame || x.from.LastTime == 0 || c.FirstTime == 0 || c.FirstTime-x.from.LastTime > fallbackTime {
			return false
		}
		x.worksWith(c)
		return true
	})
	if len(t.at[at]) == 0 {
		delete(t.at, at)
	}
}

// worksWith has a first attempt say that the second one worked.
func (x *attempt) worksWith(c *trace.Connection) {
	x.worked, x.second, x.Severity, x.Title = true, c.Number, conformance.Note, "closed on revision 2, revision 1 worked"
	x.Text = fmt.Sprintf("The responder %s the connection (frame %d) on the MPA Request of revision 2 in frame %d, as RFC 6581 section 10 asks of one that does not know it; revision 1 then worked (conn %d, frame %d).",
		x.ending(), x.from.EndFrame, x.from.Side[trace.I2R].StartupFrame, c.Number, c.Side[trace.I2R].StartupFrame)
	x.Also = []string{"Revision 1 negotiates neither IRD and ORD nor an RTR: the upper layers have to agree on the depth of Reads themselves."}
	x.Advice, x.same = "", "fell back"
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
	s.attempts = attempts{}
	for _, x := range list {
		if s.Keep == nil || s.Keep(&x.Diagnosis) {
			s.Add(x.Diagnosis)
		}
	}
}

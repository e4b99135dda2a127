package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// pattern is a legal sequence of a DDP stream session.
type pattern struct {
	name, session, server string
	outcome               trace.Outcome
	ending                trace.Ending
	// functions of the two sides, in order.
	active, passive []string
	accepted        bool
}

// patterns are those of RFC 5043 sections 6.2 to 6.4, and the same of RFC 6581
// section 7.
var patterns = []pattern{
	{
		"accepted", "enhanced: false", "", trace.Accepted, trace.Terminated,
		[]string{"Initiate", "Terminate"},
		[]string{"Accept", "Terminate"},
		true,
	},
	{
		"ended by one side", "enhanced: false", "mute: true", trace.Accepted, trace.Terminated,
		[]string{"Initiate", "Terminate"},
		[]string{"Accept"},
		true,
	},
	{"rejected", "enhanced: false", "reject: true", trace.Rejected, trace.Declined, []string{"Initiate"}, []string{"Reject"}, false},
	{"refused", "enhanced: false", "refuse: true", trace.Refused, trace.Terminated, []string{"Initiate"}, []string{"Terminate"}, false},
	{
		"enhanced, accepted", "enhanced: true", "", trace.Accepted, trace.Terminated,
		[]string{"Enhanced Initiate", "Terminate"},
		[]string{"Enhanced Accept", "Terminate"},
		true,
	},
	{
		"enhanced, ended by one side", "enhanced: true", "mute: true", trace.Accepted, trace.Terminated,
		[]string{"Enhanced Initiate", "Terminate"},
		[]string{"Enhanced Accept"},
		true,
	},
	{
		"enhanced, rejected", "enhanced: true", "reject: true", trace.Rejected, trace.Declined,
		[]string{"Enhanced Initiate"},
		[]string{"Enhanced Reject"},
		false,
	},
	{
		"enhanced, refused", "enhanced: true", "refuse: true", trace.Refused, trace.Terminated,
		[]string{"Enhanced Initiate"},
		[]string{"Terminate"},
		false,
	},
}

// variant is how a pattern is carried.
type variant struct {
	v6, bundled, fragmented, shuffled, late bool
	loss                                    string
	streams                                 int
}

// variants are all combinations.
func variants() (out []variant) {
	both := []bool{false, true}
	for _, v6 := range both {
		for _, bundled := range both {
			for _, fragmented := range both {
				for _, shuffled := range both {
					for _, loss := range []string{"", "before", "after"} {
						for _, streams := range []int{1, 3} {
							for _, late := range both {
								out = append(out, variant{v6, bundled, fragmented, shuffled, late, loss, streams})
							}
						}
					}
				}
			}
		}
	}
	return out
}

// yaml is the scenario of a pattern as a variant carries it.
func (p *pattern) yaml(v *variant, seed int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "summary: %s\nseed: %d\ntransport: sctp\n", p.name, seed)
	fmt.Fprintf(&b, "both:\n  sctp: {bundle: %t, shuffle: %t}\n  session: {%s, private: \"hi\"}\n", v.bundled, v.shuffled, p.session)
	if v.fragmented {
		b.WriteString("  mulpdu: 4000\n")
	}
	if v.v6 {
		b.WriteString("client: {address: \"[fd00::1]:5002\"}\n")
	}
	if p.server != "" {
		fmt.Fprintf(&b, "server:\n  session: {%s}\n", p.server)
	}
	if v.loss != "" {
		fmt.Fprintf(&b, "link: {%s: {loss: 5%%, reorder: 5%%, duplicate: 3%%}}\n", v.loss)
	}
	fmt.Fprintf(&b, "connections: %d\ntimeline:\n  - open\n  - parallel:\n", v.streams)
	for i := range v.streams {
		work := ""
		if p.accepted {
			work = ", write 9000, server send 100, read 3000 x3, fetch_add, end"
		}
		fmt.Fprintf(&b, "      c%d: [start%s]\n", i+1, work)
	}
	b.WriteString("  - close\n")
	return b.String()
}

// dissected makes the trace and dissects it, without its first frames.
func dissected(t *testing.T, source string, skip int) *tracerun.Result {
	t.Helper()
	s, err := scenario.Parse("test", []byte(source))
	if err != nil {
		t.Fatalf("%s\n%v", source, err)
	}
	var file bytes.Buffer
	st, err := synth.Run(&file, s.Script(false))
	if err != nil || st.Stalled > 0 {
		t.Fatalf("%s\n%v, %d steps did not end", source, err, st.Stalled)
	}
	fs, err := tracetest.ReadFile(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return tracerun.Run(t, pipeline.Options{}, fs[min(skip, len(fs)):])
}

// functionsOf are the session controls of a side, and how many segments it
// sent. Its DDP-SSNs have to count up from 0.
func functionsOf(t *testing.T, what string, r *tracerun.Result, conn uint64, d trace.Dir) (fs []string, segments int) {
	t.Helper()
	for i, p := range r.Of(conn, d) {
		if int(p.Chunk.SSN) != i || p.Chunk.Order != trace.InOrder {
			t.Errorf("%s: %s", what, tracetest.Line(p))
		}
		if p.Kind == trace.KindSCTPControl {
			fs = append(fs, p.Chunk.Control.Function.String())
		} else {
			segments++
		}
	}
	return fs, segments
}

// TestSessions: each pattern in each variant is dissected as what it is; of a
// capture that starts late all that is there, and nothing that is not. The plain
// run takes every fifth variant of a pattern, each pattern another fifth, and a campaign every second.
func TestSessions(t *testing.T) {
	for i := range patterns {
		p := &patterns[i]
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for n, v := range variants() {
				if (n+i)%tracetest.Count(5, 2, 1) > 0 {
					continue
				}
				what := fmt.Sprintf("%s, %+v", p.name, v)
				source := p.yaml(&v, n+1)
				whole := dissected(t, source, 0)
				checkWhole(t, what, p, &v, whole)
				if v.late {
					for _, skip := range []int{1, 5, 7, 12} {
						checkLate(t, fmt.Sprintf("%s, without %d frames", what, skip), p, whole, dissected(t, source, skip), uint64(skip))
					}
				}
			}
		})
	}
}

func checkWhole(t *testing.T, what string, p *pattern, v *variant, r *tracerun.Result) {
	t.Helper()
	if len(r.Conns) != v.streams || len(r.Gaps) != 0 {
		t.Errorf("%s: %d sessions, %d gaps", what, len(r.Conns), len(r.Gaps))
	}
	for _, c := range r.Conns {
		if c.Outcome != p.outcome || c.Ending != p.ending || !c.RolesKnown || !c.SYN || !c.HasStartupLatency {
			t.Errorf("%s: stream %d: %v, %v, roles %t, start %t", what, c.SID, c.Outcome, c.Ending, c.RolesKnown, c.SYN)
		}
		active, sent := functionsOf(t, what, r, c.Number, trace.I2R)
		passive, answered := functionsOf(t, what, r, c.Number, trace.R2I)
		if !slices.Equal(active, p.active) || !slices.Equal(passive, p.passive) {
			t.Errorf("%s: stream %d: %v, %v", what, c.SID, active, passive)
		}
		if p.accepted != (sent > 0) || p.accepted != (answered > 0) {
			t.Errorf("%s: stream %d: %d and %d segments", what, c.SID, sent, answered)
		}
		if fl := c.Flow[trace.I2R]; p.accepted && (fl.Requests != 4 || fl.Answered != 4) || fl.Rare().Unanswered+c.Flow[trace.R2I].Rare().Unmatched != 0 {
			t.Errorf("%s: stream %d: %d of %d requests answered", what, c.SID, fl.Answered, fl.Requests)
		}
	}
}

// checkLate: whatever is found was there, with the same TSNs and octets; no
// session has an outcome that it had not.
func checkLate(t *testing.T, what string, p *pattern, whole, late *tracerun.Result, skipped uint64) {
	t.Helper()
	key := func(p *trace.PDU) string {
		return fmt.Sprintf("%v %d %v %x", p.Conn.Side[p.Dir].Addr.Port(), p.Chunk.SID, p.Chunk.TSNs, p.Chunk.Octets)
	}
	there := map[string]*trace.PDU{}
	for _, p := range whole.PDUs {
		there[key(p)] = p
	}
	for _, q := range late.PDUs {
		w := there[key(q)]
		if w == nil {
			if q.Chunk.Whole {
				t.Errorf("%s: %s was not there", what, tracetest.Line(q))
			}
			continue
		}
		delete(there, key(q))
		if q.Conn.RolesKnown && q.Dir != w.Dir {
			t.Errorf("%s: %v where it was %v: %s", what, q.Dir, w.Dir, tracetest.Line(q))
		}
	}
	for _, w := range there {
		if slices.Min(w.Frames) > skipped {
			t.Errorf("%s: missing %s, frames %v", what, tracetest.Line(w), w.Frames)
		}
	}
	for _, c := range late.Conns {
		if c.Outcome != p.outcome && c.Outcome != trace.Incomplete && c.Outcome != trace.NoneSeen {
			t.Errorf("%s: %v", what, c.Outcome)
		}
	}
}

package conformance_test

import (
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// usualCut are the mutants of each rule that docs/mutation-cut.md speaks of.
const usualCut = 3

var mutantsCut = flag.Int("mutants-cut", 0, "how many mutants of each rule are captured in part; 0: 3 in the campaign, else 1")

// place distinguishes connections of several captures of the same traffic.
type place struct {
	ends [2]netip.AddrPort
	sid  uint16
}

func placeOf(c *trace.Connection) place {
	p := place{[2]netip.AddrPort{c.Side[0].Addr, c.Side[1].Addr}, c.SID}
	if p.ends[1].Compare(p.ends[0]) < 0 {
		p.ends[0], p.ends[1] = p.ends[1], p.ends[0]
	}
	return p
}

// evidence is where the violation of a rule is in a capture.
type evidence struct {
	place
	// frames hold it; first and last of them.
	frames      map[uint64]bool
	first, last uint64
	dir         trace.Dir
	hasDir      bool
}

// evidence of the findings on a rule: nil if they are on several connections, or if others
// have the same addresses, so that verdicts cannot be attributed.
func (m *mutation) evidence(rule string) *evidence {
	e := &evidence{frames: map[uint64]bool{}}
	var on *trace.Connection
	for i := range m.findings {
		f := &m.findings[i]
		if f.Rule.ID != rule {
			continue
		}
		if on != nil && on.Number != f.Conn.Number {
			return nil
		}
		on, e.dir, e.hasDir = f.Conn, f.Dir, f.HasDir
		e.frames[f.Frame] = true
		if f.HasPDU {
			for _, n := range m.frames[f.PDU] {
				e.frames[n] = true
			}
		}
	}
	if on == nil {
		return nil
	}
	e.place = placeOf(on)
	if slices.ContainsFunc(m.conns, func(c connJudged) bool { return c.Number != on.Number && placeOf(c.Connection) == e.place }) {
		return nil
	}
	order := slices.Sorted(maps.Keys(e.frames))
	e.first, e.last = order[0], order[len(order)-1]
	return e
}

// cuts are captures of the same traffic in which something is missing.
func (m *mutation) cuts(e *evidence) map[string][]capture.Frame {
	keep := func(which func(n uint64) bool) (out []capture.Frame) {
		for i := range m.capture {
			if which(m.capture[i].Number) {
				out = append(out, m.capture[i])
			}
		}
		return out
	}
	out := map[string][]capture.Frame{
		"late start, behind it": keep(func(n uint64) bool { return n > e.last }),
		"late start, before it": keep(func(n uint64) bool { return n > e.first/2 && n > handshake || e.frames[n] }),
		"gap over it":           keep(func(n uint64) bool { return !e.frames[n] }),
		"gaps elsewhere":        keep(func(n uint64) bool { return e.frames[n] || n%7 != 3 }),
		"end right behind it":   keep(func(n uint64) bool { return n <= e.last }),
	}
	from := m.senders[e.first]
	out["its direction alone"] = keep(func(n uint64) bool { return m.senders[n] == from })
	out["the other direction alone"] = keep(func(n uint64) bool { return m.senders[n] != from })
	for _, length := range [...]int{70, 110, 200} {
		out[fmt.Sprintf("snap length %d", length)] = snapped(m.capture, length)
	}
	return out
}

// unknowable are cut mutants that are dissected differently, and why.
var unknowable = map[string]string{
	"MPA-RTR07-BITS-01, gap over it": "no one tells that a third startup frame was there, so that FPDUs and markers seem to begin in front of it",
	"MPA-RTR07-KEY-01, gap over it":  "the same",
	"MPA-RTR07-PD-01, gap over it":   "the same",
	"SCTP-CRC-01, gap over it":       "its receiver drops the packet, and its chunks come again in another one: nothing tells that there was a first one",
	"MPA-START-08C, gap over it":     "no one tells that octets were there that the sender does not count when it places markers",
	"TCP-RETX-01, gap over it":       "no one tells that octets were sent again",
	"TCP-CLOSE-DATA-01, gap over it": "no one tells that octets were behind the FIN",
}

// handshake is how many frames open a TCP connection.
const handshake = 3

// snapped are frames of which only the first octets were captured.
func snapped(all []capture.Frame, length int) []capture.Frame {
	all = slices.Clone(all)
	for i := range all {
		f := &all[i]
		f.Data = f.Data[:min(len(f.Data), length)]
	}
	return all
}

// TestMutation_Cut: where evidence is missing, no rule that was violated on the connection
// passes, and none that was kept fails. A plain go test tries some of the rules.
func TestMutation_Cut(t *testing.T) {
	wanted := mutants(*mutantsCut, usualCut)
	outcome := map[string]map[string]int{}
	all := scenario.Builtin()
	if *mutantsCut == 0 && !*update {
		all = tracetest.Some(all, 4)
	}
	for _, s := range all {
		if !slices.Contains(conformance.Checked(), s.Name) {
			continue
		}
		d, _ := newFaultSource(t, s)
		if d == nil {
			continue
		}
		for seed, n := uint64(0), 0; n < wanted && seed < uint64(wanted*triesPerMutant); seed++ {
			m := d.mutate(t, seed)
			if m == nil {
				continue
			}
			e := m.evidence(d.rule)
			if e == nil {
				continue
			}
			n++
			cuts := m.cuts(e)
			for _, what := range slices.Sorted(maps.Keys(cuts)) {
				if unknowable[d.rule+", "+what] != "" {
					continue
				}
				if outcome[what] == nil {
					outcome[what] = map[string]int{}
				}
				outcome[what][d.cut(t, m, e, what, cuts[what])]++
			}
		}
	}
	if wanted == usualCut {
		checkPage(t, cutFile, cutPage(outcome))
	}
}

// cut judges a capture in which something is missing, and describes what is wrong with the
// verdict on the rule.
func (d *faultSource) cut(t *testing.T, m *mutation, e *evidence, what string, frames []capture.Frame) string {
	t.Helper()
	j := judgedWith(t, optionsOf(d.rule), frames)
	whole := append(ids(m.findings, ""), m.before...)
	for i := range j.findings {
		f := &j.findings[i]
		if id := f.Rule.ID; f.Severity > conformance.Note && !slices.Contains(whole, id) && !explains(id, whole) {
			t.Errorf("%s/%d, %s: %s", d.rule, m.seed, what, text(j.findings[i:i+1]))
		}
	}
	v := j.verdict(d.rule, e.place)
	if v == conformance.Pass {
		if explains(d.rule, ids(j.findings, "")) {
			return "elsewhere"
		}
		t.Errorf("%s/%d, %s: pass", d.rule, m.seed, what)
	}
	return v.String()
}

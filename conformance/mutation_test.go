package conformance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

var (
	mutantsWanted = flag.Int("mutants", 0, "how many mutants of each rule are made; 0: 8 in the campaign, else 1")
	mutantShown   = flag.String("mutant", "", "the one mutant RULE/SEED to make: what is found is printed, and its trace is written to the file of -mutant-trace")
	mutantCut     = flag.String("mutant-cut", "", "which part of it was captured, as docs/mutation-cut.md calls it")
	mutantTrace   = flag.String("mutant-trace", "", "where the trace of -mutant goes")
)

const (
	// usualMutants are those that docs/mutation.md speaks of.
	usualMutants = 8
	// triesPerMutant bounds the search for scripts in which a fault has a place.
	triesPerMutant = 25
)

// mutation is a mutant that was judged.
type mutation struct {
	seed uint64
	// capture is its trace, clean that of the same script without the fault.
	capture, clean []capture.Frame
	*witness
	// before are the rules that the script violates without the fault.
	before []string
	// news are the other rules that it violates with it.
	news []string
}

// witness is a judge that remembers in which frames a PDU came, and who sent a
// frame.
type witness struct {
	judge
	frames  map[uint64][]uint64
	senders map[uint64]netip.AddrPort
}

// PDU implements [trace.Sink].
func (w *witness) PDU(p *trace.PDU) {
	w.frames[p.Number] = slices.Clone(p.Frames)
	w.judge.PDU(p)
}

// Frame implements [pipeline.Sink].
func (w *witness) Frame(f *pipeline.Frame) {
	if f.Packet != nil {
		w.senders[f.Number] = netip.AddrPortFrom(f.Packet.Src.Netip(), f.Packet.SrcPort)
	}
}

// witnessed is [judged] with a witness.
func witnessed(tb testing.TB, opt pipeline.Options, frames []capture.Frame) *witness {
	tb.Helper()
	w := &witness{frames: map[uint64][]uint64{}, senders: map[uint64]netip.AddrPort{}}
	w.hear(tb, opt, w, frames)
	return w
}

// mutate makes the mutant of a seed; nil if the script of the seed has no place for the
// fault, if the fault has no effect, or if the rule is violated without it.
func (d *faultSource) mutate(tb testing.TB, seed uint64) *mutation {
	tb.Helper()
	s := d.mutant(seed, faulty)
	if s == nil {
		return nil
	}
	with, without := traceOf(tb, s), traceOf(tb, d.mutant(seed, faultless))
	if bytes.Equal(with, without) {
		return nil
	}
	m := &mutation{seed: seed, capture: framesIn(tb, with), clean: framesIn(tb, without)}
	m.before = ids(judgedWith(tb, optionsOf(d.rule), m.clean).findings, "")
	if slices.Contains(m.before, d.rule) {
		return nil
	}
	m.witness = witnessed(tb, optionsOf(d.rule), m.capture)
	for _, id := range ids(m.findings, d.rule) {
		if !slices.Contains(m.before, id) {
			m.news = append(m.news, id)
		}
	}
	if *mutantTrace != "" {
		if err := os.WriteFile(*mutantTrace, with, 0o600); err != nil {
			tb.Error(err)
		}
	}
	return m
}

// verdict is the worst that was reached on a rule on the connections at a place,
// or on all.
func (j *judge) verdict(rule string, at ...place) conformance.Verdict {
	var t conformance.Tally
	for _, c := range j.conns {
		if len(at) == 0 || slices.Contains(at, placeOf(c.Connection)) {
			t.Add(c.verdicts)
		}
	}
	for _, v := range t.Judgements() {
		if v.Rule.ID == rule {
			return v.Verdict
		}
	}
	return conformance.NotApplicable
}

// yields is how many mutants of a rule there were, and what became of them.
type yields struct {
	Mutants, Found, Elsewhere, NotJudged, Missed int
	// own lists the rules without mutants, and why.
	own string
	// With are the other rules that were found beside it, Instead those that were
	// found in place of it: the seeds of their mutants.
	With, Instead map[string][]uint64
	missed        []uint64
}

// TestMutation: the fault of a rule is found wherever it is committed. The
// scripts are random and legal; docs/mutation.md holds what comes of it in the
// campaign. The plain run makes one mutant of each rule.
func TestMutation(t *testing.T) {
	wanted := mutants(*mutantsWanted, usualMutants)
	all := map[string]*yields{}
	only, seed, one := strings.Cut(*mutantShown, "/")
	for _, s := range scenario.Builtin() {
		if !slices.Contains(conformance.Checked(), s.Name) || one && s.Name != only {
			continue
		}
		d, why := newFaultSource(t, s)
		if d == nil {
			all[s.Name] = &yields{own: why}
			continue
		}
		if one {
			show(t, d, seed)
			return
		}
		all[s.Name] = d.harvest(t, wanted)
	}
	if one {
		t.Fatalf("no mutants of %s", only)
	}
	checkYields(t, all, wanted >= usualMutants)
	if wanted <= usualMutants {
		checkBeside(t, all, wanted == usualMutants)
	}
	if wanted == usualMutants {
		checkPage(t, tableFile, mutationPage(all))
	}
}

// mutants is how many mutants of each rule a test generates: the number of its flag, if
// given; in the campaign, and when the page is written, the number that the page names;
// otherwise one.
func mutants(asked, usual int) int {
	switch {
	case asked > 0:
		return asked
	case tracetest.Campaign() || *update:
		return usual
	}
	return 1
}

// show prints what is found on a mutant.
func show(t *testing.T, d *faultSource, seed string) {
	t.Helper()
	n := uint64(0)
	if _, err := fmt.Sscan(seed, &n); err != nil {
		t.Fatal(err)
	}
	m := d.mutate(t, n)
	if m == nil {
		t.Fatal("there is no such mutant")
	}
	t.Logf("verdict %v; without the fault %v; found\n\t%s", m.verdict(d.rule), m.before, text(m.findings))
	if *mutantCut == "" {
		return
	}
	e := m.evidence(d.rule)
	if e == nil {
		t.Fatal("it is found on no connection, or on several")
	}
	frames := m.cuts(e)[*mutantCut]
	j := judgedWith(t, optionsOf(d.rule), frames)
	t.Logf("%s: verdict %v; found\n\t%s", *mutantCut, j.verdict(d.rule, e.place), text(j.findings))
	if *mutantTrace != "" {
		keepTrace(t, frames)
	}
}

// keepTrace writes frames to the file of -mutant-trace.
func keepTrace(t *testing.T, frames []capture.Frame) {
	t.Helper()
	var b bytes.Buffer
	w, err := pcapng.NewWriter(&b, pcapng.WriterOptions{Link: frames[0].Link, Nano: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		f := &frames[i]
		if err := w.WritePacket(&pcapng.Record{Data: f.Data, Time: f.Time, OrigLen: f.OrigLen, Link: f.Link}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*mutantTrace, b.Bytes(), 0o600); err != nil {
		t.Error(err)
	}
}

// harvest judges mutants of a rule.
func (d *faultSource) harvest(tb testing.TB, wanted int) *yields {
	tb.Helper()
	y := &yields{With: map[string][]uint64{}, Instead: map[string][]uint64{}}
	for seed := uint64(0); y.Mutants < wanted && seed < uint64(wanted*triesPerMutant); seed++ {
		m := d.mutate(tb, seed)
		if m == nil {
			continue
		}
		y.Mutants++
		beside := y.With
		switch verdict := m.verdict(d.rule); {
		case slices.Contains(ids(m.findings, ""), d.rule):
			y.Found++
		case explains(d.rule, m.news):
			y.Elsewhere++
			beside = y.Instead
		case verdict == conformance.NotJudged:
			y.NotJudged++
			beside = y.Instead
		default:
			y.Missed++
			y.missed = append(y.missed, seed)
			beside = y.Instead
		}
		for _, id := range m.news {
			beside[id] = append(beside[id], seed)
		}
	}
	return y
}

// explains reports whether one of several rules may be found in place of a rule: one
// yields to the other, or the fault violates either.
func explains(rule string, some []string) bool {
	yields := func(a, b string) bool {
		entry, _ := conformance.Catalogue().Find(a)
		return slices.Contains(conformance.YieldsTo(entry.ID), b)
	}
	return slices.ContainsFunc(some, func(id string) bool {
		return yields(rule, id) || yields(id, rule) || slices.Contains(testOf(rule).Related, id)
	})
}

// checkYields demands that there are mutants of each rule, that those which were
// missed were to be, and of enough mutants that the rule is found on one.
func checkYields(t *testing.T, all map[string]*yields, enough bool) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		y := all[id]
		switch {
		case y.own != "":
		case y.Mutants == 0:
			t.Errorf("%s: no legal script has a place for its fault", id)
		case y.Missed > 0 && testOf(id).NotDetected == "":
			t.Errorf("%s: %d of %d mutants are missed, those of the seeds %v: set Needs, Bound, Related or NotDetected of its Test (conformance/internal/rules/test.go); -v -mutant %s/SEED shows one", id, y.Missed, y.Mutants, y.missed, id)
		case y.Found == 0 && enough:
			t.Errorf("%s: none of %d mutants is found", id, y.Mutants)
		}
	}
}

const besideFile = "testdata/mutation.json"

// beside are the rules that are found on the mutants of a rule in addition to it, or in
// its place. Each was examined: it is violated together with the rule, or it is the effect
// of the fault at that place.
type beside struct {
	With    []string `json:"with,omitempty"`
	Instead []string `json:"instead,omitempty"`
}

// checkBeside demands that what else is found is what is written down: nothing more,
// and if these are all the mutants, nothing less.
func checkBeside(t *testing.T, all map[string]*yields, whole bool) {
	t.Helper()
	now, known := map[string]beside{}, map[string]beside{}
	for id, y := range all {
		b := beside{slices.Sorted(maps.Keys(y.With)), slices.Sorted(maps.Keys(y.Instead))}
		if len(b.With)+len(b.Instead) > 0 {
			now[id] = b
		}
	}
	if *update {
		write(t, besideFile, now)
		return
	}
	b, err := os.ReadFile(besideFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &known); err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if k, n := known[id], now[id]; !listed(k.With, n.With, whole) || !listed(k.Instead, n.Instead, whole) {
			t.Errorf("%s: besides it %v, listed are %v; in its place %v, listed are %v; seeds %v %v",
				id, n.With, k.With, n.Instead, k.Instead, all[id].With, all[id].Instead)
		}
	}
}

// listed reports whether rules are on a list, and if whole, whether they are all
// that is.
func listed(list, some []string, whole bool) bool {
	if whole {
		return slices.Equal(list, some)
	}
	return !slices.ContainsFunc(some, func(id string) bool { return !slices.Contains(list, id) })
}

package render

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/trace"
)

// TestWorst: errors weigh most, then warnings, what broke, retransmissions, gaps; of
// equals the first is shown. The order is that of the numbers.
func TestWorst(t *testing.T) {
	t.Parallel()
	found := new(Found)
	var all []*trace.Connection
	for i := range uint64(12) {
		c := conn(i, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
		all = append(all, c)
		var fs []conformance.Finding
		add := func(level conformance.Severity, n int) {
			for range n {
				fs = append(fs, conformance.Finding{Rule: entry("RULE-" + level.String()), Severity: level, Conn: c})
			}
		}
		switch i {
		case 11:
			add(conformance.Error, 1)
		case 10:
			add(conformance.Warning, 5)
		case 9:
			c.Terminates[1] = new(trace.Terminate)
		case 8:
			c.Flow[1].Rarely().Retransmitted = 2
		case 7:
			c.Flow[0].Rarely().Gaps = 1000
		case 1:
			add(conformance.Note, 50)
		}
		found.Connection(c, fs, nil)
	}
	worst := func(most int, found *Found) (numbers []uint64) {
		s := &Summary{Connections: ended.Of(all...), Found: found, Most: most}
		for _, c := range s.overview().shown {
			numbers = append(numbers, c.Number)
		}
		return numbers
	}
	got := worst(6, found)
	if want := []uint64{0, 7, 8, 9, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("the worst are %d, want %d", got, want)
	}
	if got := worst(1, found); len(got) != 1 || got[0] != 11 {
		t.Errorf("the worst is %v", got)
	}
	all[2].Ending = trace.RST
	all[2].Terminates[0] = new(trace.Terminate)
	if got := worst(1, nil); got[0] != 2 {
		t.Errorf("without findings the worst is %d", got[0])
	}
}

// TestTables_Further: the tables say how many connections they do not list, and sum up
// all of them.
func TestTables_Further(t *testing.T) {
	t.Parallel()
	var all []*trace.Connection
	for i := range uint64(10_000) {
		c := conn(i, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
		c.Flow[0].Ops = make([]trace.Ops, int(rdmap.OpSend)+1)
		c.Flow[0].Ops[rdmap.OpSend] = trace.Ops{Segments: 1, Messages: 1, Octets: 10 + i, Least: 10 + i, Most: 10 + i, Whole: 10 + i}
		c.Flow[0].Octets, c.Flow[0].FPDUs, c.Flow[0].CRCGood = 10+i, 1, 1
		c.ReadLatency = new(trace.Latency)
		c.ReadLatency.Add(int64(1000 * (1 + i)))
		c.HasStartupLatency, c.StartupLatency = true, 1000
		all = append(all, c)
	}
	all[9000].Ending = trace.RST
	var b strings.Builder
	s := &Summary{File: "t.pcap", Format: "pcap", Most: 50, Connections: ended.Of(all...)}
	if err := Tables(&b, s); err != nil {
		t.Fatal(err)
	}
	got := squeeze(b.String())
	for _, want := range []string{
		"\n9950 further connections are not shown (--all shows all). The tables list the worst 50 in order of their numbers: those with the most " +
			"resets and Terminates, retransmissions, gaps. Rows \"all\" sum up all.\n",
		"\n48 10.0.0.1:40000 > 10.0.0.2:5001 ", "\n9000 10.0.0.1:40000 > 10.0.0.2:5001 ",
		"\nall i2r Send 10,000 10,000 50.1 MB 10 B 5009 B 10,009 B\n",
		"\nall startup 10,000 1µs 1µs 1µs 1µs 1µs -\n",
		"\nall read 10,000 1µs 5.001ms ~5.112ms ~9.961ms 10ms -\n",
		"\nall i2r 10,000 10,000 ok 0 bad - 0 50.1 MB 0 0 0 0\n",
		"\nTotal: 10,000 FPDUs (CRC 10,000 ok, 0 bad, 0 off, 0 unverifiable), ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got[strings.Index(got, "\nLatency"):])
		}
	}
	for _, not := range []string{"\n49 10.0.0.1", "\n8999 10.0.0.1"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is shown", not)
		}
	}
}

// squeeze makes one blank of several.
func squeeze(s string) string {
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}

// TestTables_One: what sums up one connection would repeat it.
func TestTables_One(t *testing.T) {
	t.Parallel()
	c := conn(0, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	c.HasStartupLatency = true
	var b strings.Builder
	if err := Tables(&b, &Summary{Connections: ended.Of(c)}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\nall ") {
		t.Errorf("one connection is summed up:\n%s", &b)
	}
}

// TestMerged: the sum of two histograms is that of all their values, and leaves them
// as they are.
func TestMerged(t *testing.T) {
	t.Parallel()
	var a, b, both trace.Latency
	for i := range int64(2000) {
		v := i * i * 37
		both.Add(v)
		if i%3 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	before := a.Quantile(0.5)
	sum := merged(merged(merged(nil, &a), &b), nil)
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		if got, want := sum.Quantile(q), both.Quantile(q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
	if sum.Count != both.Count || sum.Sum != both.Sum || sum.Min != both.Min || sum.Max != both.Max || a.Quantile(0.5) != before {
		t.Errorf("count %d, sum %d, %d to %d", sum.Count, sum.Sum, sum.Min, sum.Max)
	}
}

// TestFound_Directions: a rule that both sides break is two rows.
func TestFound_Directions(t *testing.T) {
	t.Parallel()
	rule := entry("RULE-01")
	c := conn(0, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	at := func(d trace.Dir, has bool, frame uint64) conformance.Finding {
		return conformance.Finding{Rule: rule, Severity: conformance.Error, Conn: c, Dir: d, HasDir: has, Frame: frame, Message: "it is wrong"}
	}
	s := &Summary{Found: new(Found), Bad: func(v string) string { return v }}
	s.Found.Connection(c, []conformance.Finding{at(0, true, 5), at(1, true, 6), at(0, true, 7), at(0, false, 8)}, nil)
	var b strings.Builder
	if err := s.findings(&b); err != nil {
		t.Fatal(err)
	}
	const want = "\n0 i2r error RULE-01 2 5 it is wrong\n0 r2i error RULE-01 1 6 it is wrong\n0 - error RULE-01 1 8 it is wrong\n"
	if got := squeeze(b.String()); !strings.Contains(got, want) {
		t.Errorf("\n%s", got)
	}
}

// TestDepths: IRD and ORD stand by side, and what follows from them has a name.
func TestDepths(t *testing.T) {
	t.Parallel()
	c := &trace.Connection{Outcome: trace.Accepted}
	c.Side[0].Addr, c.Side[1].Addr = netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.2:2")
	check := func(want string) {
		t.Helper()
		if got := fmt.Sprint(depths(c), "; ", readDepth(c)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check("-; -")
	c.Side[0].HasEnhanced, c.Side[0].Enhanced = true, mpa.Enhanced{IRD: 4, ORD: 8}
	check("4/8 > -; -")
	c.Side[1].HasEnhanced, c.Side[1].Enhanced = true, mpa.Enhanced{IRD: 8, ORD: 3}
	check("4/8 > 8/3; i2r 8, r2i 3")
}

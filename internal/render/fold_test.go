package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// reported is what the text report says of findings, without the verdict line.
func reported(t *testing.T, opt TextOptions, fs []Finding) string {
	t.Helper()
	var b strings.Builder
	r := NewTextReport(&b, opt)
	if err := r.Capture(&Checked{File: "t.pcap", Findings: fs}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(b.String(), "\n\n--all lists")
	if !ok {
		text, _, _ = strings.Cut(b.String(), "\n\n0 errors")
	}
	return text
}

func entry(id string) *conformance.Entry {
	return &conformance.Entry{ID: id, Spec: "RFC 1", Section: "2", Statement: "The demand of " + id + "."}
}

func found(rule *conformance.Entry, level conformance.Severity, c *trace.Connection, frame uint64, observed string) Finding {
	return Finding{Finding: conformance.Finding{
		Rule: rule, Severity: level, Conn: c, Dir: trace.R2I, HasDir: true, Frame: frame, Message: "it is wrong", Observed: observed, Expected: "0",
	}}
}

// TestText_Severity: what weighs most stands first, whatever its connection and frame.
func TestText_Severity(t *testing.T) {
	t.Parallel()
	a := conn(0, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	b := conn(1, trace.TCP, 0, "[fe80::1]:40001", "[fe80::2]:5001")
	got := reported(t, TextOptions{}, []Finding{
		found(entry("NOTE-01"), conformance.Note, a, 1, "1"),
		found(entry("WARNING-01"), conformance.Warning, a, 2, "1"),
		found(entry("ERROR-02"), conformance.Error, b, 3, "1"),
		found(entry("ERROR-01"), conformance.Error, a, 4, "1"),
	})
	last := -1
	for _, want := range []string{
		"connection 0, tcp, initiator 10.0.0.1:40000, responder 10.0.0.2:5001\nconnection 1, tcp, initiator [fe80::1]:40001, responder [fe80::2]:5001\n",
		"  error    ERROR-02  frame 3 r2i, conn 1\n", "  error    ERROR-01  frame 4 r2i, conn 0\n",
		"  warning  WARNING-01  frame 2 r2i, conn 0\n", "  note     NOTE-01  frame 1 r2i, conn 0\n",
	} {
		at := strings.Index(got, want)
		if at <= last {
			t.Errorf("%q is missing or comes too early in\n%s", want, got)
		}
		last = at
	}
}

// TestText_Folded: many findings of a rule are one block, with its demand once. All of
// them are listed if that is asked for.
func TestText_Folded(t *testing.T) {
	t.Parallel()
	rule := entry("RULE-01")
	c := conn(3, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	fs := make([]Finding, 900)
	for i := range fs {
		fs[i] = found(rule, conformance.Error, c, uint64(10+i), "7")
	}
	want := strings.Join([]string{
		"t.pcap", "", "connection 3, tcp, initiator 10.0.0.1:40000, responder 10.0.0.2:5001", "",
		"  error    RULE-01  900 findings on conn 3",
		"           it is wrong",
		"           observed 7; expected 0",
		"           conn 3 r2i frames 10, 11, 12 and 897 more",
		"           RFC 1 2: The demand of RULE-01.",
	}, "\n")
	if got := reported(t, TextOptions{}, fs); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	all := reported(t, TextOptions{All: true}, fs)
	for i := range fs {
		if place := fmt.Sprintf("           frame %d r2i, conn 3: it is wrong: observed 7, expected 0", 10+i); !strings.Contains(all, place) {
			t.Fatalf("%q is not listed", place)
		}
	}
	if n := strings.Count(all, "The demand"); n != 1 {
		t.Errorf("the demand stands there %d times", n)
	}
}

// TestText_Connections: the same on many connections is one block, which names the
// ends of the first: they are too many to be introduced.
func TestText_Connections(t *testing.T) {
	t.Parallel()
	rule, other := entry("RULE-01"), entry("RULE-02")
	var fs []Finding
	for i := range uint64(17) {
		c := conn(3+i, trace.TCP, 0, fmt.Sprintf("10.0.0.1:%d", 40000+i), "10.0.0.2:5001")
		fs = append(fs, found(rule, conformance.Warning, c, 41+i, fmt.Sprint(i)))
	}
	fs = append(fs, found(other, conformance.Note, fs[4].Conn, 99, "1"))
	want := strings.Join([]string{
		"t.pcap", "",
		"  warning  RULE-01  17 findings on 17 connections, first conn 3 (10.0.0.1:40000 > 10.0.0.2:5001) frame 41",
		"           it is wrong",
		"           observed 0; expected 0 (in frame 41)",
		"           connections 3, 4, 5, 6, 7, 8, 9, 10 and 9 more",
		"           RFC 1 2: The demand of RULE-01.",
		"  note     RULE-02  frame 99 r2i, conn 7 (10.0.0.1:40004 > 10.0.0.2:5001)",
		"           it is wrong",
		"           observed 1; expected 0",
		"           RFC 1 2: The demand of RULE-02.",
	}, "\n")
	if got := reported(t, TextOptions{}, fs); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// TestText_Kinds: findings of a rule that say something else are told apart, and those
// beyond the first kinds are counted.
func TestText_Kinds(t *testing.T) {
	t.Parallel()
	rule := entry("RULE-01")
	c := conn(0, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	fs := make([]Finding, 6)
	for i := range fs {
		fs[i] = found(rule, conformance.Error, c, uint64(10+i), "7")
		fs[i].Message = fmt.Sprintf("fault %d", max(i, 1))
	}
	want := strings.Join([]string{
		"  error    RULE-01  6 findings on conn 0",
		"           fault 1", "           observed 7; expected 0", "           conn 0 r2i frames 10 and 11", "           RFC 1 2: The demand of RULE-01.",
		"           fault 2", "           observed 7; expected 0", "           frame 12 r2i, conn 0",
		"           fault 3", "           observed 7; expected 0", "           frame 13 r2i, conn 0",
		"           and 2 findings in other words",
	}, "\n")
	if got := reported(t, TextOptions{}, fs); !strings.HasSuffix(got, want) {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// TestText_Explains: advice that explains other findings says the same in each frame.
func TestText_Explains(t *testing.T) {
	t.Parallel()
	rule := entry("ADV-01")
	rule.Message, rule.Explains = "Do otherwise.", []string{"RULE-01"}
	c := conn(0, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	fs := make([]Finding, 5)
	for i := range fs {
		fs[i] = found(rule, conformance.Note, c, uint64(10+i), "7")
		fs[i].Message = fmt.Sprintf("Do otherwise. This explains RULE-01 in frame %d.", 10+i)
	}
	const want = "           Do otherwise. This explains RULE-01 in frame 10.\n           observed 7; expected 0\n" +
		"           conn 0 r2i frames 10, 11, 12 and 2 more\n           RFC 1 2: The demand of ADV-01."
	if got := reported(t, TextOptions{}, fs); !strings.HasSuffix(got, want) {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// TestText_Known: what the baseline has is one line, unless all are asked for; what is
// suppressed is not listed.
func TestText_Known(t *testing.T) {
	t.Parallel()
	c := conn(0, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001")
	a, b := entry("A-01"), entry("B-01")
	fs := []Finding{
		found(a, conformance.Error, c, 1, "1"), found(b, conformance.Error, c, 2, "1"), found(a, conformance.Error, c, 3, "1"),
		found(entry("C-01"), conformance.Error, c, 4, "1"),
	}
	for i := range 3 {
		fs[i].Known = true
	}
	fs[3].Suppressed = true
	const want = "t.pcap\n\n  known    3 findings of the baseline: A-01 2, B-01 1"
	if got := reported(t, TextOptions{}, fs); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if got := reported(t, TextOptions{All: true}, fs); !strings.Contains(got, "  error    B-01  frame 2 r2i, conn 0  known\n") || strings.Contains(got, "C-01") {
		t.Errorf("all are\n%s", got)
	}
}

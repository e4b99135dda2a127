package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// TestDetails_Bounded: a long connection with a fault in each of its messages keeps as
// much as the bounds say.
func TestDetails_Bounded(t *testing.T) {
	path := written(t, `
summary: Many PDUs with a reserved bit.
both: {mpa: {ird: 4, ord: 4}}
timeline:
  - connect
  - send 400 x3000
  - read 2KiB x500
  - close
faults:
  - {at: send1, set: {iwarp_ddp.rsvd: 3}}
`)
	c := captured(t, 0, path, 1)
	if len(c.Details) != 1 {
		t.Fatalf("%d details", len(c.Details))
	}
	d := c.Details[0]
	if n := len(d.Ladder.Rows); n > 2*(firstSteps+lastSteps+(1+beforeSteps)*notableSteps) || n < firstSteps {
		t.Errorf("%d rows", n)
	}
	for dir := range d.Rates.Octets {
		if len(d.Rates.Octets[dir]) > slots {
			t.Errorf("%d slots", len(d.Rates.Octets[dir]))
		}
	}
	if len(d.Findings) != mostFindings || d.MoreFindings == 0 || len(d.Exhibits) < mostFindings/2 {
		t.Errorf("%d findings, %d left out, %d PDUs", len(d.Findings), d.MoreFindings, len(d.Exhibits))
	}
	size := 0
	for _, x := range d.Exhibits {
		size += len(x.Text)
	}
	if size > mostExhibited+mostText {
		t.Errorf("%d octets of exhibits", size)
	}
}

// TestSteps_Bounded: of a million rows some hundred are kept, the notable ones among them, and
// what is left out is said.
func TestSteps_Bounded(t *testing.T) {
	var s steps
	for i := range 1_000_000 {
		s.add(Step{notes: i%5000 == 4999, Sent: true}, &render.FollowRow{Still: fmt.Sprint(i)})
	}
	rows := s.all(nil)
	left, drawn := 0, map[string]bool{}
	for _, r := range rows {
		if r.Sent {
			drawn[r.Still] = true
			continue
		}
		var n int
		if _, err := fmt.Sscanf(strings.ReplaceAll(r.Still, ",", ""), "%d", &n); err != nil {
			t.Fatalf("%q: %v", r.Still, err)
		}
		left += n
	}
	if left+len(drawn) != 1_000_000 || len(drawn) > firstSteps+lastSteps+(1+beforeSteps)*notableSteps {
		t.Errorf("%d drawn, %d left out", len(drawn), left)
	}
	for _, want := range []string{"0", "79", "4997", "4998", "4999", "9999", "999999", "999960"} {
		if !drawn[want] {
			t.Errorf("row %s is not drawn", want)
		}
	}
	if drawn["4996"] || drawn["100"] {
		t.Error("a row is drawn that is not notable")
	}
}

// TestSurvey_Bounded: findings of thousands of connections make room for those of the worst.
func TestSurvey_Bounded(t *testing.T) {
	book := conformance.Catalogue()
	s := NewSurvey()
	var cs []*trace.Connection
	for i := range 3000 {
		c := &trace.Connection{Number: uint64(i), IsMPA: true}
		cs = append(cs, c)
		fs := make([]conformance.Finding, 1+i%60)
		for k := range fs {
			fs[k] = conformance.Finding{Rule: book.Entries[0], Severity: conformance.Error, Conn: c, Message: "x"}
		}
		s.Connection(c, fs, nil)
	}
	kept, counted := 0, 0
	for _, x := range s.seen {
		kept += len(x.list)
		counted += x.findings[conformance.Error]
	}
	if kept != s.kept || kept > keptFindings || counted != 3000/60*(60*61/2) {
		t.Errorf("%d findings kept, %d counted", kept, counted)
	}
	chosen := s.Choose(20, ended.Of(cs...))
	if len(chosen) != 20 {
		t.Fatalf("%d chosen", len(chosen))
	}
	for _, n := range chosen[1:] { // the first tells for all in a diagnosis
		if x := s.seen[n]; x.findings[conformance.Error] != 60 || len(x.list) != mostFindings || x.omitted != 20 {
			t.Errorf("connection %d: %d findings, %d kept, %d left out", n, x.findings[conformance.Error], len(x.list), x.omitted)
		}
	}
}

// TestSurvey_Rows: a table with too many connections keeps the worst, in their order, and says so.
func TestSurvey_Rows(t *testing.T) {
	s := NewSurvey()
	cs := make([]*trace.Connection, mostRows+7)
	for i := range cs {
		cs[i] = &trace.Connection{Number: uint64(i), IsMPA: true}
	}
	last := cs[len(cs)-1]
	last.Flow[0].Rarely().Retransmitted = 5
	chosen := s.Choose(1, ended.Of(cs...))
	if len(chosen) != 1 || chosen[0] != last.Number {
		t.Fatalf("chosen: %v", chosen)
	}
	rows := s.rows(ended.Of(cs...), chosen)
	if len(rows) != mostRows || rows[len(rows)-1].Conn != last.Number || !rows[len(rows)-1].Detailed || rows[0].Conn != 0 {
		t.Errorf("%d rows, the last is %+v", len(rows), rows[len(rows)-1])
	}
}

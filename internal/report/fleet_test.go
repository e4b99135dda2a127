package report

import (
	"reflect"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/merge"
)

// fleetOf is what merge found at three points.
func fleetOf() *merge.Summary {
	s := merge.New("warning")
	s.Points = []*merge.Point{
		{Name: "rack1", Judged: true, Totals: merge.Totals{Connections: 2, FPDUs: 12_345, Findings: merge.Counts{Notes: 1}}},
		{Name: "rack2", Judged: true, Exit: 3, Errors: []string{"ring.pcap: octet 1234: cut"}, Totals: merge.Totals{Reads: 7, ReadLatency: &merge.ReadLatency{ReadMeanNS: 12_000, ReadP99NS: 50_000}}},
		{Name: "rack3", Totals: merge.Totals{BadCRCs: 3}},
	}
	s.Missing, s.Remarks = []string{"rack4"}, []string{"results/half: no manifest"}
	s.Totals = merge.Totals{Points: 3, Connections: 2, FPDUs: 12_345, BadCRCs: 3, Reads: 7, ReadLatency: &merge.ReadLatency{ReadMeanNS: 12_000}, Findings: merge.Counts{Errors: 3, Notes: 1}}
	s.Rules = []*merge.Rule{{
		ID: "MPA-CRC-VALUE-01", Severity: "error", Findings: 3, Points: 1, Worst: "rack3", WorstCount: 3,
		Example: merge.Place{Point: "rack3", Conn: 1, Frame: 44, Message: strings.Repeat("the CRC is wrong ", 20)},
	}}
	s.Diagnoses = []*merge.Diagnosis{{
		Kind: "bad-crc", Severity: "error", Title: "wrong CRCs", Points: []string{"rack3"}, Of: 1, Connections: 1, Text: "Three FPDUs.", Advice: "look at the cable", Rules: "MPA-CRC-VALUE-01",
	}}
	s.Gate.ExitCode = 3
	return s
}

func fleetPage(t *testing.T, s *merge.Summary) string {
	t.Helper()
	var b strings.Builder
	if err := Fleet(&b, s, "iwdissect test"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFleet: the page says what merge found, the points with the most trouble first.
func TestFleet(t *testing.T) {
	page := fleetPage(t, fleetOf())
	sound(t, page)
	last := 0
	for _, want := range []string{
		"exit code 3", "3 errors, 0 warnings, 1 note", "rack4", "ring.pcap: octet 1234: cut", "no manifest", "wrong CRCs", "look at the cable", "12,345",
		"<td>rack2</td>", "<td>rack3</td>", "not judged", "<td>rack1</td>", "MPA-CRC-VALUE-01</td>", "frame 44",
	} {
		at := strings.Index(page[last:], want)
		if at < 0 {
			t.Fatalf("there is no %q behind %.60q", want, page[last:])
		}
		last += at
	}
}

// TestFleet_Hostile: texts of points and captures are not obeyed.
func TestFleet_Hostile(t *testing.T) {
	s := fleetOf()
	before := sound(t, fleetPage(t, s))
	poison(reflect.ValueOf(s))
	after := sound(t, fleetPage(t, s))
	if len(before) != len(after) {
		t.Errorf("%d elements, %d before", len(after), len(before))
	}
}

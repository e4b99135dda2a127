package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// allFrames stands for each frame of the capture.
const allFrames = "all"

// filterDifferences are filters that match other frames in tshark 4.0, of term-wro.pcap.
// docs/filters.md tells of them. Ours or theirs is "error" where a filter is refused.
var filterDifferences = []struct{ reason, filter, ours, theirs string }{
	{"all in front of a set wants all values in one member", "all tcp.port in {7200, 49894}", allFrames, "[]"},
	{"the absolute value of a negative duration is lost", "abs(-frame.time_relative) > 0.2", "[8 9 10 11 12 13 14 15]", "[]"},
	{"a negative product has no value", "tcp.len * -1 == -40", "[8]", "[]"},
	{"a sum that does not fit into the type of the field has no value", "tcp.seq_raw + 4294967295 > 0", allFrames, "[]"},
	{"a negative number is taken as a great one", "tcp.len > -1", "error", "[]"},
	{"three digits are octets", "ip.src[0] == 266", "error", "[]"},

	{"xor came with 4.2", "tcp.flags.syn xor tcp.flags.ack", "[]", "error"},
	{"calculations are grouped by braces alone", "(tcp.len & 8) == 8", "[8 10 12]", "error"},
	{"a value cannot stand on the left", "40 == tcp.len", "[8]", "error"},
	{"durations are in seconds", "frame.time_relative > 220ms", "[9 10 11 12 13 14 15]", "error"},
	{"times are no numbers", "frame.time > 1000.5", allFrames, "error"},
	{"a minus behind a field belongs to its name", "tcp.len-1 == 39", "[8]", "error"},
	{"members of a set are only those of fields", "tcp.payload[0] in {4d}", "[4 6]", "error"},
	{"functions take no functions", `upper(lower(frame.protocols)) contains "MPA"`, "[4 6 8 10 12]", "error"},
	{"one octet has two digits", "eth.src[0] & 0x2", allFrames, "error"},

	{"there is no reader of layers one by one", "ip.addr#1 == 10.1.0.1", "error", allFrames},
	{"there is no selected frame", "tcp.port == ${tcp.srcport}", "error", "[]"},
	{"expressions cannot look ahead", `tcp.payload matches "^(?!MPA)"`, "error", "[8 10 12]"},
}

// TestFilterDifferences_Tshark: the filters that are known to match other frames still do.
func TestFilterDifferences_Tshark(t *testing.T) {
	c := newFilterComparison(t, find(t, "term-wro.pcap"), fields.All())
	every := make([]int, len(c.frames))
	for i := range every {
		every[i] = i + 1
	}
	texts := make([]string, len(filterDifferences))
	for i := range filterDifferences {
		texts[i] = filterDifferences[i].filter
	}
	words := func(frames []int, failed bool) string {
		switch {
		case failed:
			return "error"
		case slices.Equal(frames, every):
			return allFrames
		}
		return fmt.Sprint(frames)
	}
	for i, theirs := range c.matches(texts) {
		d := &filterDifferences[i]
		ours, err := c.ours(d.filter)
		if got := words(ours, err != nil); got != d.ours {
			t.Errorf("%s: %s, the table says %s (%v)", d.filter, got, d.ours, err)
		}
		if got := words(theirs.frames, theirs.err != ""); got != d.theirs {
			t.Errorf("%s: %s in tshark, the table says %s: %s", d.filter, got, d.theirs, theirs.err)
		}
	}
}

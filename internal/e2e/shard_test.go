package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// countedApart are the members that count within a part.
var countedApart = []string{"conn", "pdu", "pdus", "request_pdu", "response_pdus", "related_pdus", "association"}

// withoutNumbers is a record without them.
func withoutNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, w := range v {
			if slices.Contains(countedApart, k) || strings.HasSuffix(k, "_pdu") {
				delete(v, k)
			} else {
				v[k] = withoutNumbers(w)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNumbers(v[i])
		}
	}
	return v
}

// recordsOf are the records of a capture, or of a part of it, in any order.
func recordsOf(t *testing.T, args ...string) (all []string) {
	t.Helper()
	_, out, _ := iwdissect(nil, append([]string{"dissect", "--format", "ndjson"}, args...)...)
	for line := range bytes.Lines(out) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(withoutNumbers(v))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

// summaryOf is what analyze counts.
func summaryOf(t *testing.T, args ...string) map[string]any {
	t.Helper()
	_, out, _ := iwdissect(nil, append([]string{"analyze", "--format", "json"}, args...)...)
	var doc struct {
		Captures []struct{ Summary map[string]any }
	}
	if err := json.Unmarshal(out, &doc); err != nil || len(doc.Captures) != 1 {
		t.Fatal(err, len(doc.Captures))
	}
	return doc.Captures[0].Summary
}

// united compares a capture with its parts, and returns how many of these have connections.
func united(t *testing.T, file string, n int) (held int) {
	t.Helper()
	want, sum := recordsOf(t, file), summaryOf(t, file)
	var got []string
	total := map[string]any{}
	for k := range n {
		part := fmt.Sprintf("%d/%d", k, n)
		got = append(got, recordsOf(t, "--shard", part, file)...)
		counts := summaryOf(t, "--shard", part, file)
		if counts["iwarp_connections"] != 0.0 {
			held++
		}
		for name, v := range counts {
			if f, ok := v.(float64); ok {
				was, _ := total[name].(float64)
				total[name] = was + f
			} else if was, ok := total[name]; ok && was != v {
				t.Errorf("%s, part %s: %s is %v, in another part %v", file, part, name, v, was)
			} else {
				total[name] = v
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: the records of %d parts are not those of the whole (-want +got)\n%.3000s", file, n, d)
	}
	if d := cmp.Diff(sum, total); d != "" {
		t.Errorf("%s: the counts of %d parts are not those of the whole (-want +got)\n%s", file, n, d)
	}
	return held
}

// TestShard_Union: the parts of a capture have together what all of it has: frames, PDUs,
// transactions, findings, connections, and counts.
func TestShard_Union(t *testing.T) {
	// Of the short form: several connections, rules that compare them, several addresses, fragments.
	always := []string{"cmtime-20conn", "initiator-cases", "multihomed", "failover", "ip-fragments"}
	for i, file := range tracetest.Captures(t, "../..") {
		named := slices.ContainsFunc(always, func(part string) bool { return strings.Contains(file, part) })
		if named || i%tracetest.Count(32, 4, 1) == 0 {
			united(t, file, 3)
		}
	}
}

// TestShard_Many: as TestShard_Union, with many connections, of which all parts get some.
func TestShard_Many(t *testing.T) {
	for _, tt := range []struct {
		name  string
		shape scenario.Shape
	}{
		{"bulk", scenario.Shape{Size: 64 << 10, Flows: 16, Seed: 1, Mix: scenario.Bulk}},
		{"lossy", scenario.Shape{Size: 64 << 10, Flows: 16, Seed: 2, Loss: 0.02, Reorder: 0.02, IPv6: true, VLAN: 7}},
		{"SCTP", scenario.Shape{Size: 64 << 10, Flows: 16, Seed: 3, SCTP: true}},
	} {
		var octets bytes.Buffer
		if _, err := synth.Run(&octets, scenario.Load(tt.shape)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), tt.name+".pcap")
		if err := os.WriteFile(file, octets.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if held := united(t, file, 3); held < 3 {
			t.Errorf("%s: only %d parts have connections", tt.name, held)
		}
	}
}

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// anyRecord is a record of any kind.
type anyRecord map[string]any

// member is the text of a member of a record, or of one of its fields.
func (r anyRecord) member(name string) (string, bool) {
	v, ok := r[name]
	if fields, is := r["fields"].(map[string]any); !ok && is {
		v, ok = fields[name]
	}
	if !ok {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case []any, map[string]any:
		b, err := json.Marshal(v)
		return string(b), err == nil
	}
	return fmt.Sprint(v), true
}

// fits reports whether a record is what the evidence describes.
func (r anyRecord) fits(e scenario.Evidence) bool {
	if _, ok := e["record"]; !ok && r["record"] != "pdu" {
		return false
	}
	for name, want := range e {
		got, ok := r.member(name)
		part, contained := strings.CutPrefix(want, "~")
		if !ok || contained && !strings.Contains(got, part) || !contained && got != want {
			return false
		}
	}
	return true
}

// found reports whether one of the records fits.
func found(rs []anyRecord, e scenario.Evidence) bool {
	for _, r := range rs {
		if r.fits(e) {
			return true
		}
	}
	return false
}

// generated makes the trace of a scenario, twice, and returns its records.
func generated(t *testing.T, s *scenario.Scenario, clean bool) []anyRecord {
	t.Helper()
	var first, again bytes.Buffer
	if _, err := synth.Run(&first, s.Script(clean)); err != nil {
		t.Fatal(err)
	}
	if _, err := synth.Run(&again, s.Script(clean)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Fatal("the same scenario gives other octets the second time")
	}
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ := iwdissect(nil, "dissect", "--format", "ndjson", path)
	var rs []anyRecord
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	for d.More() {
		var r anyRecord
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

// TestScenarios makes every built-in scenario with its faults and without. What
// it says that the faults do must show in the one trace and not in the other,
// and the clean trace must be without any. A plain go test makes every second one.
func TestScenarios(t *testing.T) {
	if err := scenario.CheckBuiltin(); err != nil {
		t.Error(err)
	}
	for _, s := range tracetest.Some(scenario.Builtin(), 2) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			clean := generated(t, s, true)
			checkClean(t, s, clean)
			if !s.HasFaults() {
				if len(s.Shows)+len(s.Misses) > 0 || len(s.Rules) > 0 {
					t.Error("it shows faults and has none")
				}
				return
			}
			faulty := generated(t, s, false)
			if len(s.Rules) > 0 && len(s.Shows)+len(s.Misses) == 0 {
				t.Error("it breaks rules and does not say what shows it")
			}
			for _, e := range s.Shows {
				if !found(faulty, e) {
					t.Errorf("the trace does not show %v", e)
				}
				if found(clean, e) {
					t.Errorf("the clean trace shows %v", e)
				}
			}
			for _, e := range s.Misses {
				if found(faulty, e) {
					t.Errorf("the trace has %v", e)
				}
				if !found(clean, e) {
					t.Errorf("the clean trace has no %v", e)
				}
			}
		})
	}
}

// checkClean holds what is true of every trace without faults.
func checkClean(t *testing.T, s *scenario.Scenario, rs []anyRecord) {
	t.Helper()
	whole := wholeCapture(s)
	fpdus := 0
	for _, r := range rs {
		if whole && r["record"] == "pdu" {
			fpdus++
			if text, _ := r.member("iwd.crc.status"); text == "bad" {
				t.Errorf("a bad CRC in the clean trace: %v", r["info"])
			}
			if text, ok := r.member("iwd.markers"); ok && (strings.Contains(text, "bad-") || strings.Contains(text, `"missing"`)) {
				t.Errorf("a bad marker in the clean trace: %v", r["info"])
			}
			if text, ok := r.member("iwd.pad.zero"); ok && text != "true" {
				t.Errorf("a pad that is not zero in the clean trace: %v", r["info"])
			}
			if text, ok := r.member("iwd.captured"); ok && text != "full" {
				t.Errorf("an FPDU that is %s in the clean trace: %v", text, r["info"])
			}
		}
	}
	if fpdus == 0 && whole && len(s.Rules) == 0 {
		t.Error("no PDU in the clean trace")
	}
}

// wholeCapture reports whether the capture has all there was.
func wholeCapture(s *scenario.Scenario) bool {
	c := s.Script(true).Capture
	return c.Snaplen == 0 && c.Skip == 0 && c.Start == 0 && c.Stop == 0 && c.Only == 0 && c.Drop == 0 && len(c.Missing) == 0
}

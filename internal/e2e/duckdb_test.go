package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// queries runs files of SQL with DuckDB, and prints the rows of the last statement.
const queries = `
import { DuckDBInstance } from '@duckdb/node-api';
import { readFileSync } from 'node:fs';
const db = await DuckDBInstance.create(':memory:', { threads: '2' });
const c = await db.connect();
const all = await c.extractStatements(process.argv.slice(2).map((f) => readFileSync(f, 'utf8')).join('\n'));
for (let i = 0; i < all.count; i++) {
  const r = await (await all.prepare(i)).runAndReadAll();
  if (i === all.count - 1) console.log(JSON.stringify(r.getRowObjectsJson()));
}
`

// duckDB installs DuckDB into a folder. Without node, npm or what npm loads the test is skipped;
// it fails if IWDISSECT_DUCKDB=required.
func duckDB(t *testing.T) (folder string) {
	t.Helper()
	if !tracetest.Campaign() {
		t.Skip("it loads DuckDB: only in a campaign")
	}
	tracetest.Program(t, "node", "IWDISSECT_DUCKDB")
	npm := tracetest.Program(t, "npm", "IWDISSECT_DUCKDB")
	folder = t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"private": true, "type": "module", "dependencies": {"@duckdb/node-api": "1.5.6-r.1"}}`,
		"query.mjs":    queries,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "install", "--no-audit", "--no-fund")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("IWDISSECT_DUCKDB") == "required" {
			t.Fatalf("npm install: %v\n%s", err, out)
		}
		t.Skipf("npm install: %v", err)
	}
	return folder
}

// TestDuckDB asks the queries of examples/duckdb about tables of captures whose answers are known.
func TestDuckDB(t *testing.T) {
	folder := duckDB(t)
	results := filepath.Join(folder, "results")
	for _, r := range []struct{ command, point, capture, flag string }{
		{"analyze", "tap1", "term-wbadkey", ""},
		{"dissect", "tap1", "term-wbadkey", ""},
		{"analyze", "tap2", "rping-p2p-read-crc", ""},
		{"analyze", "tap3", "rping-p2p-read-crc", "--count=20"}, // the next one takes its place
		{"analyze", "tap3", "rping-p2p-read-crc", ""},
	} {
		args := []string{r.command, "-q", "--format", "parquet", "--output-dir", results, "--point", r.point, "../../testdata/pcaps/" + r.capture + ".pcap"}
		if r.flag != "" {
			args = append(args, r.flag)
		}
		if code, _, errs := iwdissect(nil, args...); code != 0 {
			t.Fatalf("%q: %d %s", args, code, errs)
		}
	}
	examples, err := filepath.Abs("../../examples/duckdb")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query string
		want  []map[string]any
	}{
		{"worst", []map[string]any{
			{"point": "tap1", "rule": "RDMAP-TERM-RSVD-01", "severity": "error", "sender": "10.1.0.2", "findings": "1", "first_frame": "12"},
			{"point": "tap1", "rule": "ADV-TERM-SWAPPED", "severity": "warning", "sender": "10.1.0.2", "findings": "1", "first_frame": "12"},
			{"point": "tap1", "rule": "DDP-STAG-02", "severity": "warning", "sender": "10.1.0.1", "findings": "1", "first_frame": "10"},
		}},
		{"latency", []map[string]any{
			{"point": "tap2", "hour": "2026-11-20 21:00:00+00", "reads": "11", "octets": "640"},
			{"point": "tap3", "hour": "2026-11-20 21:00:00+00", "reads": "11", "octets": "640"},
		}},
		{"versions", []map[string]any{
			{"host": "10.1.0.1", "role": "initiator", "mpa_revision": float64(2), "connections": "3"},
			{"host": "10.1.0.2", "role": "responder", "rnic": "IETF", "breaks": "ADV-TERM-SWAPPED RDMAP-TERM-RSVD-01", "connections": "3"},
		}},
		{"follow", []map[string]any{{"point": "tap2", "other_point": "tap3", "more_frames_i2r": "0", "more_gaps": "0"}}},
	} {
		rows := asked(t, folder, filepath.Join(examples, "current.sql"), filepath.Join(examples, tt.query+".sql"))
		if tt.query == "worst" && len(rows) > len(tt.want) { // notes follow
			rows = rows[:len(tt.want)]
		}
		for i, row := range rows {
			for name := range row {
				if i < len(tt.want) && tt.want[i][name] == nil {
					delete(row, name)
				}
			}
		}
		if d := cmp.Diff(tt.want, rows); d != "" {
			t.Errorf("%s: %s", tt.query, d)
		}
	}
}

// asked runs files of SQL.
func asked(t *testing.T, folder string, files ...string) (rows []map[string]any) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"query.mjs"}, files...)...)
	cmd.Dir = folder
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(files, " "), err, errs.String())
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return rows
}

package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestMerge_NoConnectionsTable: dissect writes no table of connections; merge counts them all the
// same, and says what is missing.
func TestMerge_NoConnectionsTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tables")
	for _, args := range []string{
		"dissect --format parquet -o " + dir + " ../../testdata/pcaps/cmtime-20conn-crc.pcap",
		"merge " + dir,
	} {
		var out, errs bytes.Buffer
		if code := Run(&IOStreams{Out: &out, Err: &errs}, strings.Fields(args)); code != exitOK {
			t.Fatalf("%s: %d, %s", args, code, errs.String())
		}
		if !strings.HasPrefix(args, "merge") {
			continue
		}
		if !strings.HasPrefix(out.String(), "1 point: 20 iWARP connections in 200 frames") {
			t.Errorf("%.200s", out.String())
		}
		if !strings.Contains(errs.String(), "dissect wrote no table of connections") {
			t.Errorf("%q", errs.String())
		}
	}
}

package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLive_Statistics: statistics come when the capture ends, and are those of the same
// frames in a file: alone, behind the tables, or as records.
func TestLive_Statistics(t *testing.T) {
	const name = "rping-rev2-crc.pcap"
	path := filepath.Join("../../testdata/pcaps", name)
	asked := []string{"-z", "conv", "-z", "io,phs", "-z", "rdma,srt", "-z", "rdma,depth", "-z", "io,stat,0.05,,iwarp_rdma", "-z", "expert", "-z", "mpa,startup,tcp"}
	live := func(t *testing.T, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		f := &feed{}
		f.add(0, pcap(t, name))
		s := &IOStreams{Out: &out, Err: io.Discard}
		if err := f.run(t, s, new(time.Duration), append(args, asked...)...); err != nil {
			t.Fatal(err)
		}
		valid(t, out.Bytes())
		return out.String()
	}
	for _, format := range []string{"text", "csv", "ndjson"} {
		want := results(t, append([]string{"dissect", "-q", "--format", format, path}, asked...)...)
		if got := live(t, "-q", "--format", format); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
		if format == "csv" {
			continue
		}
		got := live(t, "--format", format)
		behind, ok := strings.CutSuffix(got, want)
		if !ok || behind == "" {
			t.Errorf("%s: not behind the other output:\n%s", format, got)
		}
	}
	if got, want := live(t, "-q", "-Y", "iwarp_rdma"), results(t, append([]string{"dissect", "-q", "-Y", "iwarp_rdma", path}, asked...)...); got != want {
		t.Errorf("with a filter: got\n%s\nwant\n%s", got, want)
	}
}

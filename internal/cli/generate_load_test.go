package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loadSeen is what analyze and check say of a big trace.
type loadSeen struct {
	Connections []struct {
		I2R, R2I struct {
			FPDUs         uint64
			SegmentChunks uint64 `json:"segment_chunks"`
			CRC           struct{ Bad, Unverifiable uint64 }
			MarkersBad    uint64 `json:"markers_bad"`
			Gaps          uint64
			Resyncs       uint64
			Malformed     uint64
			Partial       uint64
		}
		End struct{ How string }
	}
	Findings []struct{ Rule, Level string }
}

func lookAt(t *testing.T, file string) loadSeen {
	t.Helper()
	var out, stderr bytes.Buffer
	s := &IOStreams{In: strings.NewReader(""), Out: &out, Err: &stderr}
	// check looks at more than analyze: checksums, and octets that came twice.
	Run(s, []string{"check", "-q", "--format", "json", file})
	if stderr.Len() > 0 {
		t.Fatal(stderr.String())
	}
	var doc struct{ Captures []loadSeen }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Captures) != 1 {
		t.Fatalf("%v: %.200s", err, out.Bytes())
	}
	return doc.Captures[0]
}

// TestGenerate_Load holds that big traces of every shape are whole and legal: all
// that the ends sent is found again, no CRC is wrong, and nothing is found but
// what a shape is about.
func TestGenerate_Load(t *testing.T) {
	// What a stack is told that takes no heed of segments; and interop advice is
	// against markers with an enhanced startup. No errors.
	spans := []string{"note MPA-ALIGN-01", "warning MPA-MULPDU-02"}
	markers := []string{"note ADV-MARKERS-ENHANCED"}
	small := []string{"note MPA-ALIGN-01", "note MPA-ALIGN-02", "note MPA-MULPDU-04"}
	both := []string{"note ADV-MARKERS-ENHANCED", "note MPA-ALIGN-01", "warning MPA-MULPDU-01"}
	for _, shape := range []struct {
		flags string
		finds []string
	}{
		{flags: ""},
		{flags: "--mix mixed --mtu 9000"},
		{flags: "--mix bulk"},
		{flags: "--mix bulk --mtu 9000"},
		{flags: "--mix bulk --mtu 576"},
		{flags: "--mix bulk --mtu 65535"},
		{flags: "--mix bulk --flows 1"},
		{flags: "--mix bulk --flows 200"},
		{flags: "--markers", finds: markers},
		{flags: "--mix bulk --markers", finds: markers},
		{flags: "--mix bulk --fpdu 16KiB", finds: spans},
		{flags: "--mix bulk --fpdu 63KiB --mtu 9000", finds: spans},
		{flags: "--mix bulk --fpdu 4KiB --markers --loss 1 --reorder 1", finds: both},
		{flags: "--fpdu 256", finds: small},
		{flags: "--mix bulk --loss 1 --reorder 1"},
		{flags: "--mix bulk --loss 1 --reorder 1 --flows 100"},
		{flags: "--loss 5 --reorder 5"},
		{flags: "--mix bulk --loss 20 --reorder 20"},
		{flags: "--mix bulk --ipv6 --vlan 7"},
		{flags: "--ipv6 --mtu 1280"},
		{flags: "--mix small"},
		{flags: "--mix small --markers", finds: markers},
		{flags: "--mix small --sctp"},
		{flags: "--mix small --loss 1 --reorder 1 --flows 20"},
		{flags: "--mix bulk --format pcapng"},
		{flags: "--mix bulk --sctp"},
		{flags: "--sctp --mtu 9000"},
		{flags: "--mix bulk --sctp --loss 1 --reorder 1 --ipv6 --vlan 4094"},
	} {
		t.Run(shape.flags, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "big.pcap")
			args := append([]string{"generate", "--size", "1MB", "--flows", "4", "--stats", "-o", file}, strings.Fields(shape.flags)...)
			var stderr bytes.Buffer
			if code := Run(&IOStreams{Out: &bytes.Buffer{}, Err: &stderr}, args); code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			var sent, frames, octets uint64
			if _, err := fmt.Sscanf(stderr.String(), "load: %d DDP segments, %d frames, %d octets\n", &sent, &frames, &octets); err != nil {
				t.Fatalf("%v in %q", err, stderr.String())
			}
			// Nothing is told but this: no step did not come to its end.
			if strings.Count(stderr.String(), "\n") != 1 || octets < 700_000 || octets > 1_300_000 {
				t.Error(stderr.String())
			}
			seen := lookAt(t, file)
			var found uint64
			for i, c := range seen.Connections {
				found += c.I2R.FPDUs + c.R2I.FPDUs + c.I2R.SegmentChunks + c.R2I.SegmentChunks
				for _, d := range [...]any{c.I2R, c.R2I} {
					d := fmt.Sprintf("%+v", d)
					for _, want := range []string{"CRC:{Bad:0 Unverifiable:0}", "MarkersBad:0", "Gaps:0", "Resyncs:0", "Malformed:0", "Partial:0"} {
						if !strings.Contains(d, want) {
							t.Errorf("connection %d: %s", i, d)
						}
					}
				}
			}
			if found != sent || found == 0 {
				t.Errorf("%d segments found of %d", found, sent)
			}
			rules := map[string]bool{}
			for _, f := range seen.Findings {
				rules[f.Level+" "+f.Rule] = true
			}
			if got := slices.Sorted(maps.Keys(rules)); !slices.Equal(got, shape.finds) {
				t.Errorf("found %q, want %q", got, shape.finds)
			}
		})
	}
}

// TestGenerate_LoadOfMany: each connection of a big trace has messages, however many there are. A trace that gets much larger by
// that than was asked for is told of.
func TestGenerate_LoadOfMany(t *testing.T) {
	for _, c := range []struct{ flags, told string }{
		{"--size 100kB --flows 100", "iwdissect generate: load: it is "},
		{"--size 100kB --flows 100 --mix small", "iwdissect generate: load: it is "},
		{"--size 30kB --flows 100 --mix bulk", "iwdissect generate: load: it is "},
		{"--size 500kB --flows 100", ""},
		{"--size 500kB --flows 100 --mix bulk", ""},
	} {
		file := filepath.Join(t.TempDir(), "many.pcap")
		code, out, errs := command(t, nil, append([]string{"generate", "-o", file}, strings.Fields(c.flags)...)...)
		if code != exitOK || out != "" || !strings.HasPrefix(errs, c.told) || (c.told == "") != (errs == "") {
			t.Errorf("%s: exit code %d, %q, %q", c.flags, code, out, errs)
		}
		seen := lookAt(t, file)
		for i, c := range seen.Connections {
			if c.I2R.FPDUs == 0 {
				t.Errorf("connection %d has no message", i)
			}
		}
		if len(seen.Connections) != 100 || len(seen.Findings) > 0 {
			t.Errorf("%s: %d connections, %v", c.flags, len(seen.Connections), seen.Findings)
		}
	}
}

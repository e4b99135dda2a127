package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestMoved: with -2 a PDU that becomes known behind its frame stands in the row of that frame, a
// filter sees it there, and statistics count it there.
func TestMoved(t *testing.T) {
	generated := func(name string) string {
		return filepath.Join("..", "..", "testdata", "pcaps", "generated", name+".pcapng")
	}
	opcodes := []string{"-T", "fields", "-E", "separator=:", "-e", "frame.number", "-e", "iwarp_rdma.opcode"}
	shown := func(file string, more ...string) []string { return append(append(opcodes, more...), generated(file)) }
	counted := func(file, filter string) []string {
		return []string{"-q", "-z", "io,stat,0," + filter, "--format", "csv", generated(file)}
	}
	for name, x := range map[string]struct {
		args        []string
		once, twice string
	}{
		"place found at the end": {
			shown("missing-packets", "--frames", "8-10"), "8:0x00\n9:\n10:\n", "8:0x00\n9:0x00\n10:0x00\n",
		},
		"place found later": {
			shown("two-interfaces", "--frames", "4-8"), "4:\n5:\n6:\n7:\n8:0x02,0x02,0x02,0x02\n", "4:0x02\n5:0x02\n6:0x02\n7:0x02\n8:\n",
		},
		"behind a hole": {
			shown("reordered", "--frames", "7-9,17"), "7:0x00\n8:\n9:\n17:0x00" + strings.Repeat(",0x00", 9) + "\n", "7:0x00\n8:0x00\n9:0x00\n17:0x00\n",
		},
		"a filter": {
			shown("two-interfaces", "-Y", "iwarp_rdma.opcode == 2"), "8:0x02,0x02,0x02,0x02\n", "4:0x02\n5:0x02\n6:0x02\n7:0x02\n",
		},
		"with the headers of its frame": {
			shown("missing-packets", "-Y", "iwarp_rdma.opcode == 3 && tcp.len > 0"), "", "21:0x03\n22:0x03\n23:0x03\n24:0x03\n",
		},
		"in place": {
			shown("write-read", "--frames", "6-7"), "6:0x00\n7:0x00\n", "6:0x00\n7:0x00\n",
		},
	} {
		if out, errs, code := ran("", append([]string{"dissect"}, x.args...)...); code != exitOK || out != x.once {
			t.Errorf("%s, once: %d %q %s", name, code, out, errs)
		}
		if out, errs, code := ran("", append([]string{"dissect", "-2"}, x.args...)...); code != exitOK || out != x.twice || strings.Contains(errs, "the place of") {
			t.Errorf("%s, twice: %d %q %s", name, code, out, errs)
		}
	}
	for filter, want := range map[string][2]string{"iwarp_rdma.opcode == 3": {",0,0", ",4,"}, "iwarp_rdma.opcode == 0": {",3,4542", ",9,"}} {
		for i, more := range [][]string{nil, {"-2"}} {
			out, errs, code := ran("", append(append([]string{"dissect"}, more...), counted("missing-packets", filter)...)...)
			if code != exitOK || !strings.Contains(out, want[i]) {
				t.Errorf("%s %v: %d %s %s", filter, more, code, out, errs)
			}
		}
	}
}

// TestMovedLines: with -2 a line is chosen by the headers of the frame that it names, and analyze selects by it.
func TestMovedLines(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "pcaps", "generated", "missing-packets.pcapng")
	for filter, want := range map[string]int{
		"iwarp_rdma.opcode == 3 && tcp.len > 0":        4,
		"iwarp_rdma.opcode == 3 && tcp.len == 0":       0,
		"iwarp_rdma.opcode == 3 && tcp.flags.fin == 1": 0,
	} {
		out, errs, code := ran("", "dissect", "-2", "--no-findings", "-Y", filter, file)
		if got := strings.Count(out, " Send msn "); code != exitOK || got != want {
			t.Errorf("%s: %d lines, %d %s", filter, got, code, errs)
		}
		out, _, _ = ran("", "dissect", "-2", "--no-findings", "--format", "ndjson", "--records", "frame,pdu", "-Y", filter, file)
		if frames, pdus := strings.Count(out, `"record":"frame"`), strings.Count(out, `"record":"pdu"`); frames != want || pdus != want {
			t.Errorf("%s: %d frames and %d PDUs", filter, frames, pdus)
		}
		_, errs, _ = ran("", "analyze", "-2", "-Y", filter, file)
		if none := strings.Contains(errs, "nothing in"); none != (want == 0) {
			t.Errorf("%s: analyze says %s", filter, errs)
		}
	}
}

package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestBelated: PDUs that do not stand with their frame are counted where it matters, and only there.
func TestBelated(t *testing.T) {
	generated := func(name string) string {
		return filepath.Join("..", "..", "testdata", "pcaps", "generated", name+".pcapng")
	}
	const where, behind = "the place of ", " became known only behind the frame: "
	for name, x := range map[string]struct {
		args []string
		want string // "" for nothing
	}{
		"columns":            {[]string{"-T", "fields", "-e", "iwarp_rdma.opcode", generated("missing-packets")}, "10 PDUs" + behind + "0 stand in the row of the later frame that showed it, 10 in no row"},
		"a filter":           {[]string{"-T", "fields", "-e", "frame.number", "-Y", "iwarp_ddp_rdmap", generated("two-interfaces")}, "4 PDUs" + behind + "4 stand in the row of the later frame that showed it, 0 in no row"},
		"json":               {[]string{"-T", "json", generated("missing-packets")}, "10 "},
		"the hint":           {[]string{"-T", "fields", "-e", "iwarp_rdma.opcode", generated("missing-packets")}, "10 PDUs" + behind + "0 stand in the row of the later frame that showed it, 10 in no row (-2 puts each in the row of its frame)"},
		"a counted hint":     {[]string{"-q", "-z", "io,phs", generated("missing-packets")}, "10 of the PDUs" + behind + "0 count with the later frame that showed it, 10 with none. With -2 each counts with its frame."},
		"twice":              {[]string{"-2", "-T", "fields", "-e", "iwarp_rdma.opcode", generated("missing-packets")}, ""},
		"twice, counted":     {[]string{"-2", "-q", "-z", "io,phs", generated("missing-packets")}, ""},
		"a statistic":        {[]string{"-q", "-z", "io,stat,0,iwarp_ddp_rdmap", generated("missing-packets")}, "10 of the PDUs" + behind + "0 count with the later frame that showed it, 10 with none."},
		"calculated":         {[]string{"-q", "-z", "io,stat,0,COUNT(iwarp_rdma.opcode)iwarp_rdma.opcode", generated("missing-packets")}, "10 "},
		"filtered by -Y":     {[]string{"-q", "-z", "conv,tcp", "-Y", "iwarp_ddp_rdmap", generated("missing-packets")}, "10 "},
		"events":             {[]string{"-q", "-z", "rdma,srt,tcp", generated("missing-packets")}, "10 "},
		"of another frame":   {[]string{"--frames", "1", "-T", "fields", "-e", "iwarp_rdma.opcode", generated("missing-packets")}, ""},
		"columns of frames":  {[]string{"-T", "fields", "-e", "frame.number", "-e", "tcp.stream", "-Y", "tcp", generated("missing-packets")}, ""},
		"lines":              {[]string{"-Y", "iwarp_ddp_rdmap", generated("missing-packets")}, ""},
		"records":            {[]string{"--format", "ndjson", generated("missing-packets")}, ""},
		"a filter of frames": {[]string{"-q", "-z", "conv,tcp,tcp", generated("missing-packets")}, ""},
		"without a filter":   {[]string{"-q", "-z", "rdma,size", "-z", "rdma,srt", generated("missing-packets")}, ""},
		"in place":           {[]string{"-T", "fields", "-e", "iwarp_rdma.opcode", "-Y", "iwarp_ddp_rdmap", generated("write-read")}, ""},
		"in place, counted":  {[]string{"-q", "-z", "io,stat,0,iwarp_ddp_rdmap", generated("write-read")}, ""},
	} {
		out, errs, code := ran("", append([]string{"dissect"}, x.args...)...)
		all := strings.ToLower(out + errs)
		if got := strings.Contains(all, where); code != exitOK || got != (x.want != "") || x.want != "" && !strings.Contains(all, strings.ToLower(where+x.want)) {
			t.Errorf("%s: %d, %s", name, code, errs)
		}
	}
}

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestDissect_DataLayer: the layer of what nothing is known of has all octets of a long FPDU.
func TestDissect_DataLayer(t *testing.T) {
	const octets = 1428 // of the RDMA Write in frame 10
	for args, want := range map[string]string{
		"-T json": fmt.Sprintf(`"data.len": "%d"`, octets),
		"-T pdml": fmt.Sprintf(`showname="Data (%d bytes)"`, octets),
		"-O all":  fmt.Sprintf("Data (%d bytes)", octets),
	} {
		var out, errs bytes.Buffer
		Run(&IOStreams{Out: &out, Err: &errs}, strings.Fields("dissect -q --frames 10 "+args+" ../../testdata/pcaps/term-wbadkey.pcap"))
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %s: %s", args, want, errs.String())
		}
		if args != "-T json" {
			continue
		}
		_, rest, _ := strings.Cut(out.String(), `"data.data": "`)
		if data, _, _ := strings.Cut(rest, `"`); len(data) != 3*octets-1 {
			t.Errorf("%d characters of data, want %d", len(data), 3*octets-1)
		}
	}
}

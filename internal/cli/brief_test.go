package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestAnalyze_BriefGivenUp: without the tables, standard error says that connections were given up.
func TestAnalyze_BriefGivenUp(t *testing.T) {
	const many = "../../testdata/pcaps/cmtime-20conn-crc.pcap"
	for args, want := range map[string]bool{
		"analyze --brief --max-connections 3 " + many: true,
		"analyze --brief " + many:                     false,
	} {
		var out, errs bytes.Buffer
		Run(&IOStreams{Out: &out, Err: &errs}, strings.Fields(args))
		if got := strings.Contains(errs.String(), "connections were ended early"); got != want {
			t.Errorf("%s: %q", args, errs.String())
		}
	}
}

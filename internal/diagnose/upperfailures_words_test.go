package diagnose

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// TestUpperFailures_Words: nothing is said where only the port speaks for the upper layer, and not that iWARP did what it should where
// something is wrong.
func TestUpperFailures_Words(t *testing.T) {
	for _, tt := range []struct {
		by    trace.Evidence
		ended trace.Ending
		want  string
	}{
		{trace.ByPort, trace.Open, ""},
		{trace.ByContent, trace.Open, "iWARP worked as it should, but the upper layer reports errors: the initiator answered 2 operations of NVMe/RDMA with an error. " +
			"The request of the first one is not known: Internal Error (0x0006), in frame 7. All have the same status."},
		{trace.ByPrivateData, trace.RST, "The upper layer reports errors: the initiator answered 2 operations"},
	} {
		c := trace.Connection{Outcome: trace.Accepted, Negotiated: true, Ending: tt.ended, EndFrame: 9}
		c.Side[trace.I2R].HasStartup, c.Side[trace.R2I].HasStartup = true, true
		c.Flow[trace.I2R].FPDUs, c.Flow[trace.R2I].FPDUs = 3, 3
		c.Upper = &trace.UpperLayer{Protocol: "NVMe/RDMA", By: tt.by}
		c.Upper.Failures[trace.I2R] = trace.UpperFailures{
			Count: 2, Frame: 7, Statuses: []trace.UpperStatus{{Word: "Internal Error", Code: 6, Digits: 4, Count: 2}},
		}
		said := ""
		for _, d := range Connection(&c, nil, nil) {
			if d.Kind == UpperFailed {
				if said = d.Text; d.Severity != conformance.Note || d.Dir != trace.I2R {
					t.Errorf("%v %v", d.Severity, d.Dir)
				}
			}
		}
		if !strings.HasPrefix(said, tt.want) || (said == "") != (tt.want == "") {
			t.Errorf("%v: %s", tt.by, said)
		}
	}
}

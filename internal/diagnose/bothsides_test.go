package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestBothSides: what is said of one side that breaks a rule is not said of the other one, which breaks it in another way.
func TestBothSides(t *testing.T) {
	for _, c := range []struct{ name, faults, want string }{
		{
			"different", "[{at: request, set: {iwarp_mpa.res: 1}}, {at: reply, set: {iwarp_mpa.res: 2}}, {by: both, ignores: [errors]}]",
			"Reserved bits of the Request are set: observed 0x01, expected 0. The initiator sent it in frame 4. " +
				"Reserved bits of the Reply are set: observed 0x02, expected 0. The responder sent it in frame 5.",
		},
		{
			"one side", "[{at: request, set: {iwarp_mpa.res: 1}}]",
			"Reserved bits of the Request are set: observed 0x01, expected 0. The initiator sent it in frame 4.",
		},
		{
			"the same", "[{at: send1, set: {iwarp_rdma.reserved: 1}}, {at: send2, set: {iwarp_rdma.reserved: 1}}]",
			"The initiator sent it in frame 6, the responder in frame 7.",
		},
	} {
		s, err := scenario.Parse(c.name, []byte("summary: a trace\nboth: {mpa: {revision: 1}}\ntimeline: [connect, send 10, server send 10, close]\nfaults: "+c.faults+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(diagnosed(t, written(t, s, false)), diagnose.Rule); !strings.Contains(got, c.want+"\n") {
			t.Errorf("%s:\n%s\nwant %s", c.name, got, c.want)
		}
	}
}

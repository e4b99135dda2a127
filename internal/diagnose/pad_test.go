package diagnose_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestPad: a pad that is missing is told in the frame of the FPDU that lacks it, although the octets in its place came with the next
// one, long after it; that wait is no stall.
func TestPad(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{
			"missing", "timeline: [connect, send 40, send 17, wait 5s, send 24, close]\nfaults: [{at: send2, pad: {hex: ''}}, {by: server, ignores: [errors]}]\n",
			"error crc initiator frames [7] pdus [3] of 1: wrong pad\n" +
				"The pad of an FPDU of the initiator is wrong: it begins in frame 7, PDU 3. The pad is too short. Its CRC is wrong for that reason.\n" +
				"Try: this is a fault of the MPA implementation of the initiator: report it there.\nRules: MPA-FPDU-PAD-02\n",
		},
		{"there", "timeline: [connect, send 40, send 17, wait 5s, send 24, close]\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+c.src))
			if err != nil {
				t.Fatal(err)
			}
			if said := text(diagnosed(t, written(t, s, false))); said != c.want {
				t.Errorf("it says\n%s, not\n%s", said, c.want)
			}
		})
	}
}

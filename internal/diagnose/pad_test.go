package diagnose_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestPad: a pad that is missing, or without CRCs a wrong length, is told as what went wrong. With CRCs it is told in the frame of the FPDU that lacks it, although the octets in its place came with the next
// one, long after it; that wait is no stall.
func TestPad(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{
			"missing", "timeline: [connect, send 40, send 17, wait 5s, send 24, close]\nfaults: [{at: send2, pad: {hex: ''}}, {by: server, ignores: [errors]}]\n",
			"error crc initiator frames [7] pdus [3] of 1: wrong pad\n" +
				"The pad of an FPDU of the initiator is wrong. The FPDU begins in frame 7 (PDU 3). The pad is too short. That is why the CRC is wrong.\n" +
				"Try: report this to the maintainers of the initiator's MPA implementation: it is at fault.\nRules: MPA-FPDU-PAD-02\n",
		},
		{
			"missing in all, without CRCs", "both: {mpa: {crc: false}}\ntimeline: [connect, send 17, send 21, send 29, {close: , from: server}]\n" +
				"faults: [{at: send1, pad: {hex: ''}}, {at: send2, pad: {hex: ''}}, {at: send3, pad: {hex: ''}}, {by: server, ignores: [errors]}]\n",
			"error length initiator frames [6] pdus [2] of 1: wrong pad\n" +
				"The pad of an FPDU of the initiator is wrong. The FPDU begins in frame 6 (PDU 2). FPDUs have no pad, from this one on. " +
				"A receiver looks for the next FPDU where none begins. CRCs are off, so it takes other octets for a header. " +
				"The responder closed the connection in frame 10 without a Terminate, perhaps because of that.\n" +
				"Try: report this to the maintainers of the initiator's MPA implementation: it is at fault.\nRules: MPA-FPDU-PAD-02 ADV-SILENT-CLOSE\n",
		},
		{
			"a length without CRCs", "both: {mpa: {crc: false}}\ntimeline: [connect, send 24, send 24, send 24, send 24, send 24, close]\n" +
				"faults: [{at: send2, set: {iwarp_mpa.ulpdulength: 8}}, {by: server, ignores: [errors]}]\n",
			"error length initiator frames [7] pdus [3] of 1: wrong ULPDU_Length\n" +
				"The ULPDU_Length of an FPDU of the initiator is wrong. The FPDU begins in frame 7 (PDU 3). " +
				"ULPDU_Length is less than a DDP header has, and the next FPDU begins later. " +
				"A receiver looks for the next FPDU where none begins. CRCs are off, so it takes other octets for a header.\n" +
				"Try: check what builds the FPDUs of the initiator: its RNIC and its driver. A capture close to the initiator shows whether the length was already wrong " +
				"when it left.\nRules: MPA-FPDU-LEN-01\n",
		},
		{"there, without CRCs", "both: {mpa: {crc: false}}\ntimeline: [connect, send 17, send 21, send 29, close]\n", ""},
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

package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// told is what must, and what must not, be said of the trace of a scenario.
type told struct {
	name, src  string
	says, lack []string
}

// tells holds what is said of traces against that.
func tells(t *testing.T, traces []told) {
	t.Helper()
	for _, tt := range traces {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fs, err := tracetest.ReadFile(generate(t, tt.src, false))
			if err != nil {
				t.Fatal(err)
			}
			got := text(diagnosed(t, tracetest.Source(fs)))
			for _, s := range tt.says {
				if !strings.Contains(got, s) {
					t.Errorf("does not say %q:\n%s", s, got)
				}
			}
			for _, s := range tt.lack {
				if strings.Contains(got, s) {
					t.Errorf("says %q:\n%s", s, got)
				}
			}
		})
	}
}

// TestSummary_RDMAPCauses names the cause of what RDMAP and DDP refuse, and the side at fault.
func TestSummary_RDMAPCauses(t *testing.T) {
	t.Parallel()
	tells(t, []told{
		{
			name: "the Terminate about an address that is not aligned is right",
			src:  "both: {mpa: {revision: 1}}\ntimeline: [connect, {fetch_add: 1, at: {to: 0x10004}}, close]\n",
			says: []string{"ended by an error: misaligned atomic operation\n", "Try: let the initiator use addresses that are a multiple of 8 for atomic operations.\n"},
			lack: []string{"IRD 0"},
		},
		{
			name: "the sink of a Read wraps, and its sender refuses the answer",
			src: "timeline: [connect, {read: 4KiB}, close]\n" +
				"faults:\n  - {at: read1, set: {iwarp_rdma.sinkto: 0xfffffffffffff800}}\n  - {by: server, ignores: [errors]}\n",
			says: []string{"error terminate initiator", "own Read Request in frame 6", "RDMAP-READREQ-WRAP-02"},
			lack: []string{"DDP-TO-02", "outside of the buffer"},
		},
		{
			name: "the sink of a Read wraps, and its sender goes away",
			src: "timeline: [connect, {read: 4KiB}, {reset: , from: client}]\n" +
				"faults:\n  - {at: read1, set: {iwarp_rdma.sinkto: 0xfffffffffffff800}}\n  - {by: server, ignores: [errors]}\n  - {by: client, ignores: [errors]}\n",
			says: []string{"RDMAP-READREQ-WRAP-02"},
			lack: []string{"DDP-TO-02", "RDMAP-TERM-SENT-01", "without saying why; the named"},
		},
		{
			name: "an atomic operation that is not assigned is done, and its sender goes away",
			src: "timeline: [connect, fetch_add, {reset: , from: client}]\n" +
				"faults:\n  - {at: fetch_add1, set: {iwarp_rdma.atomic.opcode: 5}}\n  - {by: server, ignores: [errors]}\n",
			says: []string{"RDMAX-AREQ-AOP-01", "RDMAX-AREQ-AOP-02"},
			lack: []string{"RDMAP-TERM-SENT-01"},
		},
		{
			name: "the Reply grants fewer Reads than the Request asks for, and the initiator ends it",
			src: "client: {mpa: {ird: 4, ord: 32}}\nserver: {mpa: {ird: 4, ord: 4}}\n" +
				"timeline: [connect, {terminate: \"2/0/06\"}, close]\n",
			says: []string{"The Reply (frame 5) grants IRD 4, but the Request asks for ORD 32", "lower the ORD of the initiator"},
			lack: []string{"MPA2-IRDORD-03", "Its code"},
		},
		{
			name: "the responder refuses for the depth",
			src: "client: {mpa: {ird: 1, ord: 4}}\nserver: {mpa: {ird: 8, ord: 8, reject: true}}\n" +
				"timeline: [connect]\nfaults: [{at: reply, set: {iwarp_mpa.enhanced.ord: 8}}]\n",
			says: []string{"The request offers IRD 1, but the reject names ORD 8", "Try: raise the IRD of the initiator to the ORD that the Reply names (8)"},
			lack: []string{"gives no reason"},
		},
		{
			name: "an error that nothing caused",
			src:  "timeline: [connect, send 64, {terminate: \"0/1/00\", from: server}, close]\n",
			says: []string{"error terminate responder", "Nothing that the initiator sent can cause that error", "Try: check the log of the responder"},
			lack: []string{"named an invalid STag"},
		},
		{
			name: "an STag that cannot be invalidated, and nothing that does so",
			src:  "timeline: [connect, {read: 64}, {terminate: \"0/2/09\", from: server}, close]\n",
			says: []string{"error terminate responder", "Nothing that the initiator sent can cause that error"},
			lack: []string{"wanted to invalidate"},
		},
		{
			name: "an error that a Read may have caused",
			src:  "timeline: [connect, {read: 64}, {terminate: \"0/1/00\", from: server}, close]\n",
			says: []string{"named an invalid STag"},
			lack: []string{"can cause that error"},
		},
	})
}

// TestSummary_MarkersByRevision says of missing markers where they come from.
func TestSummary_MarkersByRevision(t *testing.T) {
	t.Parallel()
	drop := "{by: server, ignores: [errors]}, {by: client, ignores: [errors]}, {at: send1, marker: {drop: true}}, {at: send2, marker: {drop: true}}"
	tells(t, []told{
		{
			name: "the revisions differ: one problem",
			src: "client: {mpa: {revision: 1}}\nserver: {mpa: {revision: 0}}\n" +
				"timeline: [connect, send 1000, send 1000, close]\nfaults: [" + drop + "]\n",
			says: []string{"error dialect", "The initiator sends no markers. Revision 0 uses markers in both directions", "MPA-M-REP-01"},
			lack: []string{"error markers"},
		},
		{
			name: "both have revision 0, in which markers are not asked for",
			src:  "both: {mpa: {revision: 0}}\ntimeline: [connect, send 1000, send 1000, close]\nfaults: [" + drop + "]\n",
			says: []string{"error markers", "although revision 0, which the Reply has (frame 5), uses them in both directions", "or set both sides to revision 1 of MPA"},
			lack: []string{"asks for them"},
		},
		{
			name: "revision 1 asks for them",
			src:  "both: {mpa: {revision: 1, markers: true}}\ntimeline: [connect, send 1000, send 1000, close]\nfaults: [" + drop + "]\n",
			says: []string{"although the responder asks for them (M=1 in frame 5)", "or off at the responder."},
		},
	})
}

// TestSummary_Messages says of messages without an end, and of wrong MSNs, what is wrong, and once.
func TestSummary_Messages(t *testing.T) {
	t.Parallel()
	counts := func(steps, msns string) string {
		return "timeline: [connect, " + steps + ", close]\nfaults: [" + msns + "{by: server, ignores: [errors]}]\n"
	}
	tells(t, []told{
		{
			name: "an answer is cut, and its requester closes",
			src:  "timeline: [connect, {read: 8KiB}, send 10, close]\nfaults: [{at: read1.response/4, skip: true}, {at: read1.response/5, skip: true}, {at: read1.response/6, skip: true}]\n",
			says: []string{"error silent-close initiator", "A Read Response of the responder has no end: ", "Rules: DDP-L-01 RDMAP-READ-PAIR-01"},
			lack: []string{"rule"},
		},
		{
			name: "a message follows an answer without an end, and its requester closes",
			src:  "timeline: [connect, {read: 8KiB}, server send 10, close]\nfaults: [{at: read1.response/last, skip: true}]\n",
			says: []string{"error silent-close responder", "A Read Response of the responder has no end: ", "Rules: DDP-L-01 RDMAP-READ-PAIR-01"},
			lack: []string{"rule"},
		},
		{
			name: "a side never sets L",
			src:  "timeline: [connect, send 10, send 10, send 10, close]\nfaults: [{at: send1, set: {iwarp_ddp.last_flag: 0}}, {at: send2, set: {iwarp_ddp.last_flag: 0}}, {at: send3, set: {iwarp_ddp.last_flag: 0}}, {by: server, ignores: [errors]}]\n",
			says: []string{"error rule initiator", "and 2 more times"},
			lack: []string{"warning rule"},
		},
		{
			name: "one counter for two queues",
			src: counts("send 10, read 100, send 10, read 100", "{at: read1, set: {iwarp_ddp.msn: 2}}, {at: send2, set: {iwarp_ddp.msn: 3}}, "+
				"{at: read2, set: {iwarp_ddp.msn: 4}}, "),
			says: []string{"The initiator uses one MSN counter for queues 0 and 1", "from frame 7 on, 3 messages had", "Rules: DDP-UNTAG-MSN-01 DDP-UNTAG-MSN-02"},
			lack: []string{"DDP-UNTAG-MSN-01\n"},
		},
		{
			name: "one wrong MSN",
			src:  counts("send 10, read 100", "{at: read1, set: {iwarp_ddp.msn: 2}}, "),
			says: []string{"DDP-UNTAG-MSN-01", "and goes on where queue 0 is"},
			lack: []string{"one MSN counter"},
		},
		{
			name: "another count",
			src:  counts("send 10, read 100, send 10, read 100", "{at: read1, set: {iwarp_ddp.msn: 2}}, {at: send2, set: {iwarp_ddp.msn: 3}}, {at: read2, set: {iwarp_ddp.msn: 9}}, "),
			lack: []string{"one MSN counter"},
		},
	})
}

// TestSummary_Lengths names the frame whose length is wrong, and what is wrong with it.
func TestSummary_Lengths(t *testing.T) {
	t.Parallel()
	sends := func(length string) string {
		return "timeline: [connect, send 20, send 100, send 101, send 102, close]\n" +
			"faults: [{at: send2, set: {iwarp_mpa.ulpdulength: " + length + "}}, {by: server, ignores: [errors]}]\n"
	}
	request := func(length string) string {
		return "both: {mpa: {revision: 1}}\nclient: {mpa: {private: \"hello\"}}\ntimeline: [connect, send 20, server send 20, close]\n" +
			"faults: [{at: request, set: {iwarp_mpa.pdlength: " + length + "}}, {by: both, ignores: [errors, phase]}]\n"
	}
	tells(t, []told{
		{name: "1 too large", src: sends("+1"), says: []string{"The FPDU begins in frame 7 (PDU 3). ULPDU_Length is 1 octet too large."}},
		{name: "3 too large", src: sends("+3"), says: []string{"The FPDU begins in frame 7 (PDU 3). ULPDU_Length is 3 octets too large."}},
		{name: "4 too large", src: sends("+4"), says: []string{"ULPDU_Length is 4 octets too large, as if it counted the CRC as well."}},
		{
			name: "of a Read Request, which has 46 octets, the last of them zeros",
			src: "timeline: [connect, send 24, {region: {name: a, of: server, to: 0}}, {read: 100, from_memory: a}, send 24, close]\n" +
				"faults: [{at: read1, set: {iwarp_mpa.ulpdulength: 48}}, {by: server, ignores: [errors]}]\n",
			says: []string{"ULPDU_Length is 2 octets too large, as if it counted ULPDU_Length as well."},
			lack: []string{"2 to 5"},
		},
		{name: "swapped", src: sends("0x7600"), says: []string{"the octets of ULPDU_Length are swapped", "sent it in frame 7"}},
		{name: "a Request that announces too much", src: request("40"), says: []string{"MPA-PDLEN-01"}, lack: []string{"MPA-START-0", "MPA-CONN-BOTH-01"}},
		{name: "a Request that announces more than is allowed", src: request("0x0500"), says: []string{"PD_Length with swapped octets", "observed PD_Length 1280, expected 5."}, lack: []string{"error rule"}},
		{
			name: "a Reply without room for its word",
			src: "timeline: [connect, send 20, server send 10, close]\nfaults: [{by: both, ignores: [errors, phase]}, " +
				"{at: reply, octets: {hex: \"4d504120494420526570204672616d65 50 02 0000\"}}]\n",
			says: []string{"error dialect responder", "too short for it: observed PD_Length 0, expected at least 4"},
			lack: []string{"plain answer", "error rule"},
		},
		{
			name: "MSNs with swapped octets",
			src: "timeline: [connect, send 10, send 10, close]\nfaults: [{at: send1, set: {iwarp_ddp.msn: 0x01000000}}, " +
				"{at: send2, set: {iwarp_ddp.msn: 0x02000000}}, {by: server, ignores: [errors]}]\n",
			says: []string{"The initiator writes its MSNs with their octets swapped: observed MSN 16777216, expected MSN 1 in frame 6 and once more."},
			lack: []string{"one MSN counter"},
		},
	})
}

// TestWrongCRC_Field: what is known of the field of a wrong CRC is said.
func TestWrongCRC_Field(t *testing.T) {
	const trace = "timeline: [connect, send 24, send 24, send 24, close]\nfaults: [{at: send2, crc: %}, {by: server, ignores: [errors]}]\n"
	tells(t, []told{
		{"zero", strings.Replace(trace, "%", "zero", 1), []string{" The field is zero."}, []string{"The TCP checksum"}},
		{"bad", strings.Replace(trace, "%", "bad", 1), []string{" The TCP checksum"}, []string{"The field is zero"}},
	})
}

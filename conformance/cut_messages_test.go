package conformance_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// pieces are the segments of an untagged message as steps of a scenario.
func pieces(op rdmap.Opcode, msn uint32, payload []byte, lengths ...int) (steps string) {
	qn, _ := op.Queue()
	at := 0
	for i, n := range lengths {
		s := ddp.Segment{Last: i == len(lengths)-1, DV: 1, RsvdULP: rdmap.Control{RV: 1, Opcode: op}.Octet(), QN: qn, MSN: msn, MO: uint32(at)}
		steps += fmt.Sprintf("  - {segment: {hex: \"%x\"}, from: %s}\n", append(s.Append(nil), payload[at:at+n]...), map[bool]string{true: "server", false: "client"}[op == rdmap.OpAtomicResponse])
		at += n
	}
	return steps
}

// tagged is a tagged segment of the server as a step of a scenario.
func tagged(op rdmap.Opcode, stag uint32, to uint64, last bool, payload []byte) string {
	s := ddp.Segment{Tagged: true, Last: last, DV: 1, RsvdULP: rdmap.Control{RV: 1, Opcode: op}.Octet(), STag: stag, TO: to}
	return fmt.Sprintf("  - {segment: {hex: \"%x\"}, from: server}\n", append(s.Append(nil), payload...))
}

// TestCutMessages: a message that is cut into segments although it fits in one is one
// fault. It is assembled, so that its answer is none that nobody asked for.
func TestCutMessages(t *testing.T) {
	region := "  - {region: {name: a, of: server, stag: 0x100, to: 0x1000, size: 64KiB}}\n  - {region: {name: b, of: client, stag: 0x200, to: 0x1000, size: 64KiB}}\n"
	read := rdmap.ReadRequest{SinkSTag: 0x200, SinkTO: 0x1000, Size: 64, SrcSTag: 0x100, SrcTO: 0x1000}.Append(nil)
	atomic := rdmap.AtomicRequest{RequestID: 7, RemoteSTag: 0x100, RemoteTO: 0x1000, Data: 1, CompareMask: ^uint64(0)}.Append(nil)
	answer := rdmap.AtomicResponse{RequestID: 7, Original: 5}.Append(nil)
	answered := "  - {response: 64, from: server, to: {stag: 0x200, to: 0x1000}}\n"
	for _, c := range []struct {
		name, steps string
		want        []string
	}{
		{"a Read Request in two", region + pieces(rdmap.OpReadRequest, 1, read, 14, 14) + answered, []string{"RDMAP-READREQ-SEG-01 warning"}},
		{"a Read Request in three", region + pieces(rdmap.OpReadRequest, 1, read, 8, 8, 12) + answered, []string{"RDMAP-READREQ-SEG-01 warning"}},
		{"a Read Request behind an empty segment", region + pieces(rdmap.OpReadRequest, 1, read, 0, 28) + answered, []string{"DDP-ZERO-01 error", "RDMAP-READREQ-SEG-01 warning"}},
		{
			"an Atomic Request in two", region + pieces(rdmap.OpAtomicRequest, 1, atomic, 40, 12) + pieces(rdmap.OpAtomicResponse, 1, answer, 12),
			[]string{"RDMAX-SEG-01 warning"},
		},
		{
			"both in two", region + pieces(rdmap.OpAtomicRequest, 1, atomic, 20, 32) + pieces(rdmap.OpAtomicResponse, 1, answer, 4, 8),
			[]string{"RDMAX-SEG-01 warning", "RDMAX-SEG-01 warning"},
		},
		{"an empty segment that is continued", pieces(rdmap.OpSend, 1, read, 0, 28) + pieces(rdmap.OpSend, 2, read, 28), []string{"DDP-ZERO-01 error"}},
		{
			"an empty segment of a Read Response that is continued",
			region + pieces(rdmap.OpReadRequest, 1, read, 28) + tagged(rdmap.OpReadResponse, 0x200, 0x1000, false, nil) + tagged(rdmap.OpReadResponse, 0x200, 0x1000, true, make([]byte, 64)),
			[]string{"DDP-ZERO-01 error", "RDMAP-TERM-SENT-01 note"}, // the other side closes, and says nothing of it
		},
		{"no answer", region + pieces(rdmap.OpReadRequest, 1, read, 14, 14), []string{"RDMAP-READ-PAIR-01 note", "RDMAP-READREQ-SEG-01 warning"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			yaml := "summary: a trace\ntimeline:\n  - connect\n" + c.steps + "  - wait 1s\n  - close\nfaults:\n  - {by: both, ignores: [errors, requests]}\n"
			s, err := scenario.Parse(c.name, []byte(yaml))
			if err != nil {
				t.Fatal(err)
			}
			wantFindings(t, framesOf(t, s.Script(false)), c.want)
		})
	}
}

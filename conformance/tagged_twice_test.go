package conformance_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestTaggedTwice: a segment that DDP sends twice within a tagged message is not where the
// octets before it say, also if it has the same octets. The same message again is legal.
func TestTaggedTwice(t *testing.T) {
	part := func(op rdmap.Opcode, stag uint32, nth uint64, last bool) string {
		return tagged(op, stag, 0x1000+500*nth, last, bytes.Repeat([]byte{byte('a' + nth)}, 500))
	}
	write := func(nth uint64, last bool) string { return part(rdmap.OpWrite, 0x200, nth, last) }
	answer := func(nth uint64, last bool) string { return part(rdmap.OpReadResponse, 0x200, nth, last) }
	read := pieces(rdmap.OpReadRequest, 1, rdmap.ReadRequest{SinkSTag: 0x200, SinkTO: 0x1000, Size: 1500, SrcSTag: 0x100, SrcTO: 0x1000}.Append(nil), 28)
	regions := "  - {region: {name: a, of: server, stag: 0x100, to: 0x1000, size: 64KiB}}\n  - {region: {name: b, of: client, stag: 0x200, to: 0x1000, size: 64KiB}}\n"
	for _, c := range []struct {
		name, steps string
		want        []string
	}{
		{"each once", write(0, false) + write(1, false) + write(2, true), nil},
		{"the first one twice", write(0, false) + write(0, false) + write(1, false) + write(2, true), []string{"DDP-TO-01"}},
		{"the first one again later", write(0, false) + write(1, false) + write(0, false) + write(2, true), []string{"DDP-TO-01"}},
		{"the message twice", write(0, false) + write(1, true) + write(0, false) + write(1, true), nil},
		{"the last one twice", write(0, false) + write(1, true) + write(1, true), nil}, // or another Write of these octets
		{"in a Read Response", read + answer(0, false) + answer(0, false) + answer(1, false) + answer(2, true), []string{"DDP-TO-01"}},
		{"a Read Response", read + answer(0, false) + answer(1, false) + answer(2, true), nil},
		{"one too many in a Read Response", read + answer(0, false) + answer(1, false) + answer(2, false) + answer(3, true), []string{"RDMAP-READRESP-LEN-01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace\ntimeline:\n  - connect\n"+regions+"  - send 24\n"+c.steps+
				"  - wait 1s\n  - close\nfaults:\n  - {by: both, ignores: [errors, requests]}\n"))
			if err != nil {
				t.Fatal(err)
			}
			wantFaults(t, framesOf(t, s.Script(false)), c.want)
		})
	}
}

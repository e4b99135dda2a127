package conformance_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestConsequences: what follows from one fault of the messages of a side is not told as
// another one.
func TestConsequences(t *testing.T) {
	hundred := bytes.Repeat([]byte{'x'}, 100)
	sends := func(msns ...uint32) (steps string) {
		for _, msn := range msns {
			steps += untagged(msn, 0, true, fmt.Appendf(nil, "message %d", len(steps)))
		}
		return steps
	}
	segment := func(op rdmap.Opcode, rv uint8, s ddp.Segment, payload []byte) string {
		s.RsvdULP = rdmap.Control{RV: rv, Opcode: op}.Octet()
		return fmt.Sprintf("  - {segment: {hex: \"%x\"}, from: client}\n", append(s.Append(nil), payload...))
	}
	otherQueue := segment(rdmap.OpSend, 1, ddp.Segment{Last: true, DV: 1, QN: 1, MSN: 1, MO: 100}, hundred)
	twice := func(op rdmap.Opcode, s ddp.Segment) string {
		s.DV = 1
		first := segment(op, 1, s, hundred)
		s.MO, s.Last = 100, true
		return first + segment(op, 1, s, hundred)
	}
	// The first segment of a message of three is wrong, the others are right.
	begins := func(c rdmap.Control, stag uint32) string {
		c.Opcode = rdmap.OpSend
		s := ddp.Segment{DV: 1, RsvdULP: c.Octet(), RsvdULP32: stag, MSN: 2}
		return sends(1) + fmt.Sprintf("  - {segment: {hex: \"%x\"}, from: client}\n", append(s.Append(nil), hundred...)) +
			untagged(2, 100, false, hundred) + untagged(2, 200, true, hundred)
	}
	read := func(to uint64) []byte {
		return rdmap.ReadRequest{SinkSTag: 0x200, SinkTO: to, Size: 100, SrcSTag: 0x100, SrcTO: 0x1000}.Append(nil)
	}
	header := ddp.Segment{Last: true, DV: 1, RsvdULP: rdmap.Control{RV: 1, Opcode: rdmap.OpReadRequest}.Octet(), QN: 1, MSN: 2}
	two := append(header.Append(read(0x1000)), read(0x2000)...)
	answer := tagged(rdmap.OpReadResponse, 0x200, 0x1000, true, hundred)
	answers := answer + tagged(rdmap.OpReadResponse, 0x200, 0x2000, true, hundred)
	reads := func(rv uint8, last bool, msn uint32) string {
		return segment(rdmap.OpReadRequest, rv, ddp.Segment{Last: last, DV: 1, QN: 1, MSN: msn}, read(0x1000)) + answer
	}
	atomics := func(responses ...uint32) (steps string) {
		for i, msn := range responses {
			id := uint32(i)
			steps += pieces(rdmap.OpAtomicRequest, id+1, rdmap.AtomicRequest{AOpCode: rdmap.FetchAddOp, RequestID: id, RemoteSTag: 0x100, RemoteTO: 0x1000, Mask: ^uint64(0), CompareMask: ^uint64(0)}.Append(nil), rdmap.AtomicRequestLen) +
				pieces(rdmap.OpAtomicResponse, msn, rdmap.AtomicResponse{RequestID: id}.Append(nil), rdmap.AtomicResponseLen)
		}
		return steps
	}
	const first, msn, l02, l03 = "DDP-UNTAG-MSN-01", "DDP-UNTAG-MSN-02", "DDP-L-02", "DDP-L-03"
	const markers = "both: {mpa: {markers: true}}\n"
	for _, c := range []struct {
		name, steps string
		want        []string
		head        string
	}{
		{"a stray MSN, counted from", sends(1, 2, 77, 78, 79), []string{msn}, ""},
		{"a stray MSN in place of one", sends(1, 2, 77, 4, 5), []string{msn}, ""},
		{"a stray MSN between two", sends(1, 2, 77, 3, 4), []string{msn}, ""},
		{"two stray ones", sends(1, 2, 77, 3, 99, 4), []string{msn, msn}, ""},
		{"a stray MSN and one too many", sends(1, 2, 77, 5, 6), []string{msn, msn}, ""},
		{"a stray first MSN, counted from", sends(77, 78, 79), []string{first}, ""},
		{"a stray first MSN in place of one", sends(77, 2, 3), []string{first}, ""},
		{"a stray first MSN before all others", sends(77, 1, 2), []string{first}, ""},
		{"a stray first MSN, and the second one again", sends(2, 2, 3), []string{first}, ""},
		{"a stray first MSN that looks like a wrap", sends(0xffffffff, 1, 2), []string{first}, ""},
		{"a stray first MSN and one too many", sends(77, 3, 4), []string{first, msn}, ""},
		{"L on all segments", untagged(1, 0, true, hundred) + untagged(1, 100, true, hundred) + untagged(1, 200, true, hundred) + untagged(1, 300, true, hundred), []string{l02}, ""},
		{"L on the first sent", untagged(1, 200, true, hundred) + untagged(1, 0, false, hundred) + untagged(1, 100, false, hundred), []string{l03}, ""},
		{"L on two messages' segments", untagged(1, 0, true, hundred) + untagged(1, 100, true, hundred) + untagged(2, 0, true, hundred) + untagged(2, 100, true, hundred), []string{l02, l02}, ""},
		{"another queue", untagged(1, 0, false, hundred) + otherQueue + sends(2), []string{"DDP-UNTAG-QN-01"}, ""},
		{"two Read Requests in a ULPDU, and their answers", pieces(rdmap.OpReadRequest, 1, two, len(two)) + answers, []string{"MPA-ULPDU-ONE-01"}, ""},
		{"an RDMAP version on one queue, another one on another", sends(1) + reads(1, true, 1) + reads(3, true, 2) + segment(rdmap.OpSend, 0, ddp.Segment{Last: true, DV: 1, MSN: 2}, hundred) + sends(3), []string{"RDMAP-RV-01", "RDMAP-RV-02"}, ""},
		{"another DDP version, and the startup is missing", sends(1, 2, 3) + segment(rdmap.OpSend, 1, ddp.Segment{Last: true, MSN: 4}, hundred) + sends(5), []string{"DDP-DV-02"}, "capture: {skip: 6}\n"},
		{"another queue, whose last message is missing", reads(1, true, 1) + sends(5) + untagged(6, 0, false, hundred) + segment(rdmap.OpSend, 1, ddp.Segment{Last: true, DV: 1, QN: 1, MSN: 6, MO: 100}, hundred) + reads(1, true, 2), []string{"DDP-UNTAG-QN-01"}, "capture: {skip: 6}\n"},
		{"a queue that does not exist, then an MSN again", segment(rdmap.OpSend, 1, ddp.Segment{Last: true, DV: 1, QN: 9, MSN: 1}, hundred) + sends(1, 1, 2), []string{msn, "DDP-UNTAG-QN-02"}, ""},
		{"a segment again", untagged(1, 0, true, hundred) + untagged(2, 0, true, append(hundred, hundred...)) + untagged(2, 0, true, append(hundred, hundred...)), []string{"DDP-DUP-01"}, ""},
		{"a segment again, the second one around a marker", untagged(1, 0, true, hundred) + untagged(2, 0, true, append(hundred, hundred...)) + untagged(2, 0, true, append(hundred, hundred...)), []string{"DDP-DUP-01"}, markers},
		{"a Read Request without L", sends(1) + reads(1, false, 1) + reads(1, true, 2), []string{"RDMAP-READREQ-SEG-01"}, ""},
		{"an Invalidate STag on all segments", sends(1) + twice(rdmap.OpSend, ddp.Segment{RsvdULP32: 7, MSN: 2}) + sends(3), []string{"RDMAP-INVSTAG-01"}, ""},
		{"a Send on the wrong queue, in two segments", sends(1) + twice(rdmap.OpSend, ddp.Segment{QN: 1, MSN: 1}), []string{"RDMAP-QN-01"}, ""},
		{"an opcode that is not assigned, in two segments", sends(1) + twice(0xe, ddp.Segment{MSN: 2}) + sends(3), []string{"RDMAP-OPCODE-01"}, ""},
		{"an Atomic Response with an MSN too high, counted from", atomics(1, 3, 4, 5), []string{"RDMAX-ARESP-MSN-01"}, ""},
		{"an Atomic Response with an MSN too high, and the start is missing", atomics(1, 2, 3, 7, 8), []string{"RDMAX-ARESP-MSN-01"}, "capture: {skip: 7}\n"},
		{"an MO beyond all others", sends(1) + untagged(2, 0xfffffff0, true, hundred) + sends(3), []string{"DDP-UNTAG-MO-03"}, ""},
		{"an Atomic Response with an MSN too high", atomics(1, 3, 3, 4), []string{"RDMAX-ARESP-MSN-01"}, ""},
		{"an undefined version at first", begins(rdmap.Control{RV: 2}, 0), []string{"RDMAP-RV-01"}, ""},
		{"another version at first", begins(rdmap.Control{RV: 0}, 0), []string{"RDMAP-RV-02"}, ""},
		{"reserved bits at first", begins(rdmap.Control{RV: 1, Rsv: 2}, 0), []string{"RDMAP-RSV-01"}, ""},
		{"an STag at first", begins(rdmap.Control{RV: 1}, 7), []string{"RDMAP-INVSTAG-01"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace\n"+c.head+"timeline:\n  - connect\n  - {region: {name: a, of: server, stag: 0x100, to: 0x1000, size: 64KiB}}\n"+
				"  - {region: {name: b, of: client, stag: 0x200, to: 0x1000, size: 64KiB}}\n"+c.steps+"  - wait 1s\n  - close\nfaults:\n  - {by: both, ignores: [errors, requests]}\n"))
			if err != nil {
				t.Fatal(err)
			}
			j := judged(t, framesOf(t, s.Script(false)))
			var got []string
			for i := range j.findings {
				if f := &j.findings[i]; f.Severity == conformance.Error {
					got = append(got, f.Rule.ID)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v\n\t%s", got, c.want, text(j.findings))
			}
		})
	}
}

// TestSegmentsOutOfOrder: the segment that is told is the first one below another one before it.
func TestSegmentsOutOfOrder(t *testing.T) {
	steps, low := "", bytes.Repeat([]byte{'l'}, 100)
	for i, mo := range []uint32{0, 200, 100, 300} {
		payload := bytes.Repeat([]byte{'x'}, 100)
		if mo == 100 {
			payload = low
		}
		steps += untagged(1, mo, i == 3, payload)
	}
	s, err := scenario.Parse("order", []byte("summary: a trace\ntimeline:\n  - connect\n"+steps+"  - close\n"))
	if err != nil {
		t.Fatal(err)
	}
	frames := framesOf(t, s.Script(false))
	j := judged(t, frames)
	want := uint64(frameWith(t, frames, low)) + 1
	if !slices.ContainsFunc(j.findings, func(f conformance.Finding) bool { return f.Rule.ID == "DDP-ORDER-02" && f.Frame == want }) {
		t.Errorf("no DDP-ORDER-02 in frame %d:\n\t%s", want, text(j.findings))
	}
}

// TestQuotedBehindLast: a segment behind the one with L has no MSN that its receiver awaits.
func TestQuotedBehindLast(t *testing.T) {
	steps := untagged(1, 0, true, bytes.Repeat([]byte{'x'}, 100)) + untagged(1, 100, true, bytes.Repeat([]byte{'y'}, 100))
	s, err := scenario.Parse("quoted", []byte("summary: a trace\ntimeline:\n  - connect\n"+steps+
		"  - {terminate: 1/2/03, from: server, quote: last}\n  - close\nfaults:\n  - {by: server, ignores: errors}\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := judged(t, framesOf(t, s.Script(false)))
	if got := ids(j.findings, ""); !slices.Contains(got, "DDP-L-02") || slices.Contains(got, "DDP-ERR-CODE-03") {
		t.Errorf("want DDP-L-02 and no DDP-ERR-CODE-03:\n\t%s", text(j.findings))
	}
}

// TestQuotedLength: of several segments with the quoted header, the quoted length says which one it is.
func TestQuotedLength(t *testing.T) {
	s, err := scenario.Parse("quoted", []byte("summary: a trace\ntimeline:\n  - connect\n  - {region: {name: a, of: server, stag: 0x100, to: 0, size: 64KiB}}\n"+
		"  - {write: 61, to: {stag: 0x100, to: 0}}\n  - {write: 0, to: {stag: 0x100, to: 0}}\n  - {terminate: 1/1/00, from: server, quote: last}\n  - close\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := judged(t, framesOf(t, s.Script(false)))
	if got := ids(j.findings, ""); !slices.Contains(got, "DDP-ZERO-02") {
		t.Errorf("no DDP-ZERO-02:\n\t%s", text(j.findings))
	}
}

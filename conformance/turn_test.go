package conformance_test

import (
	"encoding/binary"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// moved has a frame stand at the place of another one, numbers from 1, and what was between them
// one place further; each place keeps its time.
func moved(fs []capture.Frame, from, to int) []capture.Frame {
	out := append([]capture.Frame(nil), fs...)
	step := 1
	if to < from {
		step = -1
	}
	for i := from; i != to; i += step {
		a, b := &out[i-1], &out[i+step-1]
		a.Data, b.Data, a.OrigLen, b.OrigLen = b.Data, a.Data, b.OrigLen, a.OrigLen
	}
	return out
}

// TestInTurn: what is wrong with a chunk is found although a later chunk of its sender overtook
// it on the way: what stands before it in its session is there.
func TestInTurn(t *testing.T) {
	const begin = "both: {sctp: {bundle: false}}\ntimeline:\n  - connect\n  - {region: {name: sink, of: client, stag: 0x500, size: 4KiB}}\n  - send 16\n  - wait 1s\n"
	const end = "  - {send: 16, from: server}\n  - wait 1s\n  - end\n  - close\nfaults:\n  - {by: client, ignores: [errors]}\n"
	for _, tt := range []struct {
		name, id, src string
		answer        int // its frame, in front of which the next one is moved
	}{
		{"an answer that nobody asked for", "RDMAP-READRESP-UNSOL-01", begin + "  - {response: 64, from: server}\n" + end, 9},
		{"another STag", "RDMAP-READRESP-STAG-01", begin + "  - {read: 64, into: sink}\n" + end + "  - {at: read1.response, set: {iwarp_ddp.stag: +1}}\n", 10},
		{"an answer that is too short", "RDMAP-READRESP-LEN-01", begin + "  - {read: 64, into: sink}\n" + end + "  - {at: read1.response, cut: -1}\n", 10},
		{"nothing wrong", "RDMAP-READRESP-STAG-01", begin + "  - {read: 64, into: sink}\n" + end, 10},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		inOrder, reordered := judged(t, fs), judged(t, moved(fs, tt.answer+1, tt.answer))
		n, v := len(severities(inOrder, tt.id)), verdictOf(inOrder, tt.id)
		if tt.name != "nothing wrong" && (n != 1 || v != conformance.Fail) {
			t.Errorf("%s: %s %d times, %v in order", tt.name, tt.id, n, v)
		}
		if m, w := len(severities(reordered, tt.id)), verdictOf(reordered, tt.id); m != n || w != v {
			t.Errorf("%s: %s %d times, %v when overtaken, want %d, %v as in order\n\t%s", tt.name, tt.id, m, w, n, v, text(reordered.findings))
		}
	}
}

// withSACK changes the cumulative TSN of the SACK that a packet begins with.
func withSACK(f capture.Frame, by int32) capture.Frame {
	f.Data = append([]byte(nil), f.Data...)
	p := f.Data[sctpOffset:]
	at := p[sctp.HeaderLen+4:]
	binary.BigEndian.PutUint32(at, binary.BigEndian.Uint32(at)+uint32(by))
	sctp.Seal(p)
	return f
}

// TestAnsweredEarly: an answer that comes while chunks in front of its request are missing is that
// to this request, and a SACK beside it proves that it was sent too early.
func TestAnsweredEarly(t *testing.T) {
	const write, answer = 9, 11 // their frames; the request is between them
	src := func(asked string) string {
		return "timeline:\n  - connect\n  - {region: {name: sink, of: client, stag: 0x500, size: 4KiB}}\n  - send 16\n  - wait 1s\n" +
			"  - {together: [{write: 32}, " + asked + "]}\n  - wait 1s\n  - {read: 100, into: sink}\n  - {read: 100, into: sink}\n  - fetch_add\n  - wait 1s\n  - end\n  - close\n" +
			"client: {sctp: {bundle: false}}\n"
	}
	read, atomic := src("{read: 64, into: sink}"), src("{fetch_add: }")
	for _, tt := range []struct {
		name, id, src string
		sack          int32 // how much less than in a legal trace the packet of the answer acknowledges
		filled        int   // where the Write is moved to
		want          int
		verdict       conformance.Verdict
	}{
		{"legal", "RDMAP-READ-ORDER-02", read, 0, write, 0, conformance.NotApplicable},
		{"the SACK shows the hole", "RDMAP-READ-ORDER-02", read, -2, answer, 1, conformance.Fail},
		{"the SACK is an older one", "RDMAP-READ-ORDER-02", read, -3, answer, 0, conformance.NotJudged},
		{"an atomic", "RDMAX-ORDER-03", atomic, -2, answer, 1, conformance.Fail},
		{"the packets are not in the order of the wire", "RDMAP-READ-ORDER-02", read, 0, answer, 0, conformance.NotJudged},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		fs[answer-1] = withSACK(fs[answer-1], tt.sack)
		j := judged(t, moved(fs, write, tt.filled))
		if n, v := len(severities(j, tt.id)), verdictOf(j, tt.id); n != tt.want || v != tt.verdict {
			t.Errorf("%s: %s %d times, %v, want %d, %v\n\t%s", tt.name, tt.id, n, v, tt.want, tt.verdict, text(j.findings))
		}
		for i := range j.findings {
			if f := &j.findings[i]; f.Rule.ID != tt.id && f.Severity == conformance.Error {
				t.Errorf("%s: %s in frame %d", tt.name, f.Rule.ID, f.Frame)
			}
		}
	}
}

// TestDepth_SCTP: an answer whose sender had acknowledged more Reads than the depth proves that
// they were outstanding at once.
func TestDepth_SCTP(t *testing.T) {
	const id = "MPA2-IRDORD-06"
	for _, tt := range []struct {
		name, src string
		want      int
	}{
		{"too many", "faults: [{by: both, ignores: [depth]}]\n", 1},
		{"within the depth", "", 0},
	} {
		j := judged(t, framesOf(t, overSCTP(t, "server: {session: {ird: 2}}\ntimeline: [connect, send 16, wait 1s, read 100 x4, end, close]\n"+tt.src)))
		if n := len(severities(j, id)); n != tt.want {
			t.Errorf("%s: %d times, want %d\n\t%s", tt.name, n, tt.want, text(j.findings))
		}
	}
}

// TestUnanswered_SCTP: the side that owes an answer ends the session on its own.
func TestUnanswered_SCTP(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      int
	}{
		{"the data source ends the session", "read 64, wait 1s, server end, wait 1s, close]\nfaults: [{at: read1.response, skip: true}]\n", 1},
		{"the requester ends it", "read 64, wait 1s, end, wait 1s, close]\nfaults: [{at: read1.response, skip: true}]\n", 0},
		{"an answer", "read 64, wait 1s, server end, wait 1s, close]\n", 0},
		{"an association that ends without it", "read 64, wait 1s, reset]\nfaults: [{at: read1.response, skip: true}]\n", 0},
	} {
		j := judged(t, framesOf(t, overSCTP(t, "client: {sctp: {bundle: false}}\ntimeline: [connect, send 16, wait 1s, "+tt.src)))
		if n := len(severities(j, "RDMAP-READ-PAIR-01")); n != tt.want {
			t.Errorf("%s: %d times, want %d\n\t%s", tt.name, n, tt.want, text(j.findings))
		}
		if n := len(severities(j, "SCTP-DDP-TERM-02")); n != 0 {
			t.Errorf("%s: the end is reported as if it had followed an error", tt.name)
		}
	}
}

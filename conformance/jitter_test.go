package conformance_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// TestJitter_SCTP: what causes a message of the other side is captured a little behind it, since packets of a direction wait, and no
// SACK tells. What shows that there was no cause is found.
func TestJitter_SCTP(t *testing.T) {
	const begin = "both: {sctp: {bundle: false}}\ntimeline:\n  - connect\n  - {region: {name: sink, of: client, stag: 0x500, size: 4KiB}}\n" +
		"  - send 16\n  - wait 1s\n"
	const end = "  - wait 1s\n  - end\n  - close\nfaults:\n  - {by: both, ignores: [errors]}\n"
	const cause, effect = 9, 10 // their frames, if packets are in order
	read, atomic := begin+"  - {read: 64, into: sink}\n"+end, begin+"  - fetch_add\n"+end
	refused := begin + "  - {send: 16, as: bad}\n  - wait 1s\n  - end\n  - close\nfaults:\n  - {at: bad, set: {iwarp_ddp.msn: 9}}\n"
	unasked, misquoted := begin+"  - send 16\n  - {response: 64, from: server}\n"+end, refused+"  - {at: terminate, set: {iwarp_rdma.term_ddp_h: {hex: \"4143 00000000 00000004 00000063 00000000\"}}}\n"
	for _, tt := range []struct {
		name, id, src string
		moved         bool          // the cause stands behind the effect
		sack          bool          // a SACK with the effect says that its sender lacked the cause
		later         time.Duration // so much later the cause comes
		want          int
		verdict       conformance.Verdict
	}{
		{"a Read", "RDMAP-READRESP-UNSOL-01", read, true, false, 0, 0, conformance.NotJudged},
		{"a Read, in order", "RDMAP-READRESP-UNSOL-01", read, false, false, 0, 0, conformance.Pass},
		{"a Read that was lacked", "RDMAP-READRESP-UNSOL-01", read, true, true, 0, 1, conformance.Fail},
		{"a Read much later", "RDMAP-READRESP-UNSOL-01", read, true, false, 20 * time.Millisecond, 1, conformance.Fail},
		{"no Read", "RDMAP-READRESP-UNSOL-01", unasked, true, false, 0, 1, conformance.Fail},
		{"an atomic", "RDMAX-ARESP-UNSOL-01", atomic, true, false, 0, 0, conformance.NotJudged},
		{"an atomic that was lacked", "RDMAX-ARESP-UNSOL-01", atomic, true, true, 0, 1, conformance.Fail},
		{"a segment", "RDMAP-TERM-QUOTE-01", refused, true, false, 0, 0, conformance.NotJudged},
		{"a segment, in order", "RDMAP-TERM-QUOTE-01", refused, false, false, 0, 0, conformance.Pass},
		{"a segment that was lacked", "RDMAP-TERM-QUOTE-01", refused, true, true, 0, 1, conformance.Fail},
		{"a segment much later", "RDMAP-TERM-QUOTE-01", refused, true, false, 20 * time.Millisecond, 1, conformance.Fail},
		{"no segment", "RDMAP-TERM-QUOTE-01", misquoted, true, false, 0, 1, conformance.Fail},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		if tt.sack {
			fs[effect-1] = withSACK(fs[effect-1], -1)
		} else {
			fs[effect-1] = withoutSACK(fs[effect-1])
		}
		if tt.moved {
			fs = moved(fs, cause, effect)
			for i := range fs[effect-1:] {
				fs[effect-1+i].Time += int64(tt.later)
			}
		}
		j := judged(t, fs)
		if n, v := len(severities(j, tt.id)), verdictOf(j, tt.id); n != tt.want || v != tt.verdict {
			t.Errorf("%s: %s %d times, %v, want %d, %v\n\t%s", tt.name, tt.id, n, v, tt.want, tt.verdict, text(j.findings))
		}
	}
}

// withoutSACK is a packet without the SACK that it begins with.
func withoutSACK(f capture.Frame) capture.Frame {
	const sack, chunks, ip = 16, sctpOffset + sctp.HeaderLen, sctpOffset - 20
	f.Data = slices.Concat(f.Data[:chunks], f.Data[chunks+sack:])
	f.OrigLen -= sack
	binary.BigEndian.PutUint16(f.Data[ip+2:], uint16(len(f.Data)-ip))
	sctp.Seal(f.Data[sctpOffset:])
	return f
}

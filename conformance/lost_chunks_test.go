package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
)

// refusedTwice are three sessions on one stream: one that is rejected, an enhanced one that is rejected, one that is accepted.
const refusedTwice = `both: {session: {enhanced: false}, sctp: {sack_delay: 0s, bundle: false}}
server: {session: {reject: true}}
timeline:
  - open
  - {control: initiate}
  - wait 1ms
  - {control: enhanced-initiate, as: enhanced, private: {hex: "00020002"}}
  - wait 1ms
  - {control: enhanced-reject, from: server, as: refused}
  - wait 1ms
  - {control: initiate, as: third}
  - wait 1ms
  - {control: accept, from: server, as: accepted}
  - wait 1ms
  - send 10
  - wait 1ms
  - {control: terminate, from: server, as: over}
  - wait 1ms
  - server close
faults:
  - {at: enhanced, set: {iwd.sctp.ssn: 0}}
  - {at: refused, set: {iwd.sctp.ssn: 0}}
  - {at: third, set: {iwd.sctp.ssn: 0}}
  - {at: accepted, set: {iwd.sctp.ssn: 0}}
  - {at: send1, set: {iwd.sctp.ssn: 1}}
  - {at: over, set: {iwd.sctp.ssn: 1}}
  - {by: both, ignores: [phase, errors, end, reject]}
`

// onePeerEnds is a session that only its passive side ends, which closes the association too.
const onePeerEnds = "client: {session: {mute: true}}\nboth: {sctp: {bundle: false}}\ntimeline: [connect, send 10, server send 10, wait 1ms, server end, wait 1ms, server close]\n"

// TestLostChunks: whichever one or two packets of right sessions were not captured, and wherever the capture begins,
// nobody is accused. There is one exception: the Terminate of the side that closes leaves no trace if nothing but it and its SACK
// were not captured.
func TestLostChunks(t *testing.T) {
	for src, want := range map[string]int{refusedTwice: 1, onePeerEnds: 0} {
		all := framesOf(t, overSCTP(t, src))
		traceless := map[[2]int]bool{} // the frames of the two
		for from := range 6 {
			fs := all[from:]
			for i := range fs {
				for k := range i + 1 {
					without := slices.Delete(slices.Clone(fs), i, i+1)
					if k < i {
						without = slices.Delete(without, k, k+1)
					}
					j := judged(t, without)
					if got := ids(j.findings, ""); k == i-1 && slices.Equal(got, []string{"SCTP-DDP-SEQ-02"}) {
						traceless[[2]int{from + k, from + i}] = true
						continue
					}
					if len(j.findings) > 0 {
						t.Errorf("from frame %d, without frames %d and %d of\n%s\t%s", from+1, from+k+1, from+i+1, src, text(j.findings))
					}
				}
			}
		}
		if len(traceless) != want {
			t.Errorf("%v leave no trace, want %d pairs, in\n%s", traceless, want, src)
		}
	}
}

// TestUnsaid: the same faults are told where the capture shows that nothing else was sent.
func TestUnsaid(t *testing.T) {
	const patient = "faults:\n  - {by: both, ignores: [phase, errors, end, reject]}\n"
	silent := "timeline: [connect, send 10, %close]\n" + patient
	for _, tt := range []struct {
		name, id, src string
		cut           func([]capture.Frame) []capture.Frame
		want          conformance.Verdict
	}{
		{"the SHUTDOWN comes at once", "SCTP-DDP-SEQ-02", strings.Replace(silent, "%close", "close", 1), nil, conformance.Fail},
		{"the SHUTDOWN of the passive side comes later", "SCTP-DDP-SEQ-02", strings.Replace(silent, "%close", "wait 1s, server close", 1), nil, conformance.Fail},
		{
			"the handshake was not captured", "SCTP-DDP-SEQ-02", strings.Replace(silent, "%close", "close", 1),
			func(fs []capture.Frame) []capture.Frame { return fs[4:] }, conformance.Fail,
		},
		{"an enhanced answer to a plain Initiate", "SCTP-DDP-ENH-01", strings.Replace(refusedTwice, "control: accept", "control: enhanced-accept", 1), nil, conformance.Fail},
		{"a second Reject", "SCTP-DDP-SEQ-03", "both: {session: {enhanced: false}}\nserver: {session: {reject: true}}\ntimeline: [connect, {control: reject, from: server}, wait 1s, close]\n" + patient, nil, conformance.Fail},
	} {
		fs := framesOf(t, overSCTP(t, tt.src))
		if tt.cut != nil {
			fs = tt.cut(fs)
		}
		j := judged(t, fs)
		if v := verdictOf(j, tt.id); v != tt.want {
			t.Errorf("%s: %s %v, want %v\n\t%s", tt.name, tt.id, v, tt.want, text(j.findings))
		}
	}
}

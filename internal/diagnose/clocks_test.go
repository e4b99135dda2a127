package diagnose_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// exchanges are what connections do whose clocks differ.
const exchanges = `
timeline: [connect, {repeat: [write 4KiB, read 4KiB, server send 100], times: 10}, close]
`

// clockTraces are traces whose times do not fit together, and all that is said of them.
var clockTraces = []struct{ name, src, want string }{
	{"the responder is early", `
capture: {interfaces: per-side, clock_offset: -3s, merge: true}` + exchanges, `note clocks: the clocks of its directions differ
The times of what the responder sent are too early by about 3 s or more, compared with those of the other direction: its acknowledgement in frame 2 was captured that long before frame 56, which it acknowledges. The two directions were captured with different clocks.
Latencies are wrong by as much, so delays are not reported here. The rules go by what the sides acknowledge.
Try: synchronize the clocks of the capture points, or shift the capture of the responder before the two are merged: editcap -t 2.999900
`},
	{"the initiator is early", `
capture: {interfaces: per-side, clock_offset: 3s, merge: true}` + exchanges, `note clocks: the clocks of its directions differ
The times of what the initiator sent are too early by about 3 s or more, compared with those of the other direction: its acknowledgement in frame 2 was captured that long before frame 66, which it acknowledges. The two directions were captured with different clocks.
Latencies are wrong by as much, so delays are not reported here. The rules go by what the sides acknowledge.
Try: synchronize the clocks of the capture points, or shift the capture of the initiator before the two are merged: editcap -t 2.999900
`},
	{"the initiator is early by less than a round trip", `
link: {delay: 20ms}
capture: {interfaces: per-side, clock_offset: 15ms, merge: true}` + exchanges, ""},
	{"in the order of the capture", `
capture: {interfaces: per-side, clock_offset: -2s}` + exchanges, `note clocks: times go back
The times of the frames go back by up to 2 s, in frame 15. The clock was set during the capture, or the two directions were captured with different clocks.
Latencies may be wrong by as much, so shorter delays are not reported here.
Try: synchronize the clocks of the capture points, and do not set the clock while a capture runs.
`},
	{"the clock is set back", `
capture: {clock_steps: [{at: 1ms, by: -3s}]}` + exchanges, `note clocks: times go back
The times of the frames go back by up to 3 s, in frame 20. The clock was set during the capture, or the two directions were captured with different clocks.
Latencies may be wrong by as much, so shorter delays are not reported here.
Try: synchronize the clocks of the capture points, and do not set the clock while a capture runs.
`},
	{"the clock is set back, over SCTP", `
transport: sctp
capture: {clock_steps: [{at: 1ms, by: -3s}]}
timeline: [connect, {repeat: [write 4KiB, read 4KiB], times: 10}, end, close]
`, `note clocks: times go back
The times of the frames go back by up to 3 s, in frame 19. The clock was set during the capture, or the two directions were captured with different clocks.
Latencies may be wrong by as much, so shorter delays are not reported here.
Try: synchronize the clocks of the capture points, and do not set the clock while a capture runs.
`},
	{"a refusal, the initiator is early", `
server: {mpa: {reject: true}}
capture: {interfaces: per-side, clock_offset: 3s, merge: true}
timeline: [connect, close]
`, `error startup-refused: refused
The responder refused the connection with the MPA Reply in frame 7. It gives no reason: there is no private data for the upper layer.
Try: check the log of the responder: its driver or its upper layer decided to refuse.

note clocks: the clocks of its directions differ
The times of what the initiator sent are too early by about 3 s or more, compared with those of the other direction: its acknowledgement in frame 2 was captured that long before frame 6, which it acknowledges. The two directions were captured with different clocks.
Latencies are wrong by as much, so delays are not reported here. The rules go by what the sides acknowledge.
Try: synchronize the clocks of the capture points, or shift the capture of the initiator before the two are merged: editcap -t 2.999900
`},
}

// clockSilent are traces with good clocks, or such that do no harm.
var clockSilent = []struct{ name, src string }{
	{"queues of one capture", `
capture: {interfaces: per-side, clock_offset: -2ms, merge: true}` + exchanges},
	{"packets that the capture dropped, and acknowledgements that were lost", `
capture: {drop: 10%}
link: {after: {loss: 5%}}
timeline: [connect, {repeat: [write 16KiB, read 16KiB], times: 10}, close]
`},
	{"one direction", `
capture: {only: server}` + exchanges},
	{"a late start", `
capture: {skip: 12}` + exchanges},
	{"one step forward", `
capture: {clock_steps: [{at: 1ms, by: 100ms}]}` + exchanges},
}

func TestClocks(t *testing.T) {
	says(t, clockTraces)
}

func TestClocks_Silent(t *testing.T) {
	for _, tt := range clockSilent {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range analyse(t, generate(t, tt.src, false)) {
				for _, d := range diagnose.Connection(c, nil, nil) {
					if d.Kind == diagnose.Clocks {
						t.Error(d.Sentences())
					}
				}
			}
		})
	}
}

package diagnose_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// stallTraces are traces with such a fault, and all that is said of it.
var stallTraces = []struct{ name, src, want string }{
	{"black hole behind the capture point, in a Write", `
link: {rate: 100Mbps, from_client: {after: {down: [{at: 5ms, for: 2s}]}}, from_server: {before: {down: [{at: 5ms, for: 2s}]}}}
timeline: [connect, write 256KiB, read 4KiB x4, close]
`, `warning stall: stalled for 2.993 s
The initiator made no progress for 2.993 s, from frame 120 until the acknowledgement in frame 125. 93,440 octets that it had sent remained unacknowledged, although it repeated some of them 4 times, last in frame 124. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"black hole before the capture point, in a Write", `
link: {rate: 100Mbps, from_client: {before: {down: [{at: 5ms, for: 2s}]}}, from_server: {after: {down: [{at: 5ms, for: 2s}]}}}
timeline: [connect, write 256KiB, read 4KiB x4, close]
`, `warning stall: stalled for 2.993 s
The initiator made no progress for 2.993 s, from frame 149 to frame 152. It repeated octets that the responder had acknowledged, once, last in frame 150: those acknowledgements were lost between the capture point and the initiator.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the capture point and the initiator: drops at switches and adapters, a link or a path that failed over.
`},
	{"black hole behind the capture point, in Reads", `
link: {rate: 100Mbps, after: {down: [{at: 5ms, for: 2s}]}}
timeline: [connect, read 64KiB x8, close]
`, `warning stall: stalled for 2.956 s
The responder made no progress for 2.956 s, from frame 130 to frame 139. 87,652 octets that it had sent remained unacknowledged, although it repeated some of them 4 times, last in frame 138. They or their acknowledgements were lost between the capture point and the initiator, or the initiator did not answer.
Meanwhile 6 RDMA Reads of the initiator and an unfinished message of the responder had to wait.
Try: look for lost packets between the capture point and the initiator: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the initiator itself hung.
`},
	{"a Read Request that is lost before the capture point", `
timeline: [connect, send 10, read 4KiB, close]
faults: [{at: read1.response, wire: {lose: before}}]
`, `note stall: stalled for 200 ms
The initiator made no progress for 200 ms, from frame 7 until the acknowledgement in frame 9. 88 octets that it had sent remained unacknowledged, although it repeated some of them once, last in frame 8. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
Meanwhile 1 RDMA Read of the initiator had to wait.
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"octets that are lost before others", `
timeline: [connect, write 3000, close]
link: {rate: 100Mbps}
faults: [{at: write1/1, wire: {lose: before}}]
`, `note stall: stalled for 199.9 ms
The initiator made no progress for 199.9 ms, from frame 7 to frame 10. Some octets that it had sent were missing although later ones had come: they were lost on the way to the capture point, and the initiator noticed only after that time. 3060 octets waited for an acknowledgement.
Try: look for lost packets between the initiator and the capture point: drops at switches and adapters.
`},
	{"acknowledgements alone are lost", `
link: {rate: 100Mbps, from_server: {after: {down: [{at: 5ms, for: 2s}]}}}
timeline: [connect, write 256KiB, close]
`, `warning stall: stalled for 2.993 s
The initiator made no progress for 2.993 s, from frame 152 to frame 161. It repeated octets that the responder had acknowledged, 4 times, last in frame 159: those acknowledgements were lost between the capture point and the initiator.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the capture point and the initiator: drops at switches and adapters, a link or a path that failed over.
`},
	{"reset when the retries are spent", `
both: {tcp: {retries: 3}}
link: {rate: 100Mbps, from_client: {after: {down: [{at: 5ms, for: 20s}]}}, from_server: {before: {down: [{at: 5ms, for: 20s}]}}}
timeline: [connect, write 256KiB, close]
`, `error stall: stalled for 2.993 s
The initiator made no progress for 2.993 s, from frame 120 until the initiator reset the connection in frame 124. 93,440 octets that it had sent remained unacknowledged, although it repeated some of them 3 times, last in frame 123. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"the capture ends in it", `
capture: {stop: 3s}
link: {rate: 100Mbps, from_client: {after: {down: [{at: 5ms, for: 20s}]}}, from_server: {before: {down: [{at: 5ms, for: 20s}]}}}
timeline: [connect, write 256KiB, close]
`, `warning stall: stalled for 1.393 s
The initiator made no progress for 1.393 s, from frame 120 until the end of the capture. 93,440 octets that it had sent remained unacknowledged, although it repeated some of them 3 times, last in frame 123. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"closed window", `
server: {tcp: {shut: {at: 5ms, for: 1500ms}}}
link: {rate: 100Mbps}
timeline: [connect, write 256KiB, close]
`, `warning stall: stalled for 1.493 s
The initiator sent nothing for 1.493 s, from frame 152 to frame 154. The receive window of the responder was closed: nothing took the octets out of its TCP, so the initiator could send no more.
Meanwhile an unfinished message of the initiator had to wait.
Try: find out why the responder did not read: its RNIC or its processor may have been busy, or receive buffers may have been missing.
`},
	{"closed window, and perhaps nothing to send", `
server: {tcp: {shut: {at: 500us, for: 500ms}}}
timeline: [connect, send 10, wait 500ms, send 20, close]
`, `note stall: stalled for 460 ms
The initiator sent nothing for 460 ms, from frame 7 to frame 9. The receive window of the responder was closed, which may be why: it is not certain that the initiator had more to send.
Try: find out why the responder did not read: its RNIC or its processor may have been busy, or receive buffers may have been missing.
`},
	{"several timeouts", `
link: {rate: 100Mbps}
timeline: [connect, send 100, wait 1ms, send 101, wait 1ms, send 102, wait 1ms, send 103, close]
faults: [{at: send1, wire: {lose: after}}, {at: send2, wire: {lose: after}}, {at: send3, wire: {lose: after}}]
`, `warning stall: stalled for 201.2 ms
The initiator made no progress for 201.2 ms, from frame 11 to frame 13. 128 octets that it had sent remained unacknowledged, although it repeated some of them once, last in frame 12. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
It was the longest of 3 stalls, 603.6 ms in all (88 % of the time that the connection lasted).
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"Atomic Operations wait", `
link: {rate: 100Mbps, from_server: {before: {down: [{at: 1ms, for: 2s}]}}}
timeline: [connect, wait 1ms, fetch_add x3, close]
`, `warning stall: stalled for 3 s
The initiator made no progress for 3 s, from frame 8 until the acknowledgement in frame 13. 228 octets that it had sent remained unacknowledged, although it repeated some of them 4 times, last in frame 12. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
Meanwhile 3 Atomic Operations of the initiator had to wait.
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"a session, behind the capture point", `
transport: sctp
link: {rate: 100Mbps, from_client: {after: {down: [{at: 5ms, for: 2s}]}}, from_server: {before: {down: [{at: 5ms, for: 2s}]}}}
timeline: [connect, write 256KiB, read 4KiB x4, close]
`, `warning stall: stalled for 3.495 s
The initiator made no progress for 3.495 s, from frame 101 until the acknowledgement in frame 201. 47 chunks that it had sent remained unacknowledged, although it repeated some of them 96 times, last in frame 200. They or their acknowledgements were lost between the capture point and the responder, or the responder did not answer.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the capture point and the responder: drops at switches and adapters, a link or a path that failed over, a firewall. Also check whether the responder itself hung.
`},
	{"a session, before the capture point", `
transport: sctp
link: {rate: 100Mbps, from_server: {before: {down: [{at: 5ms, for: 2s}]}}}
timeline: [connect, read 64KiB x8, close]
`, `warning stall: stalled for 3.5 s
The responder sent nothing for 3.5 s, from frame 123 to frame 124. 7 RDMA Reads of the initiator waited for an answer during that time. The capture does not show why: the responder may have been busy, or its packets may have been lost before the capture point.
Meanwhile an unfinished message of the responder had to wait.
It was the longest of 2 stalls, 3.7 s in all (99 % of the time that the connection lasted).
Try: check what the responder did at that time, and look for lost packets between it and the capture point.
`},
}

// stallSilent are traces that come close, and of which nothing is said.
var stallSilent = []struct{ name, src string }{
	{"nothing to do", `
timeline: [connect, write 8KiB, wait 3s, read 4KiB, wait 2s, server send 10, wait 5s, close]
`},
	{"nothing to do, a session", `
transport: sctp
timeline: [connect, write 8KiB, wait 3s, read 4KiB, wait 2s, server send 10, wait 5s, close]
`},
	{"far away", `
link: {delay: 150ms}
both: {tcp: {rto: 1s}}
timeline: [connect, write 256KiB, read 4KiB x20, close]
`},
	{"far away, joined late", `
capture: {skip: 10}
link: {delay: 150ms}
both: {tcp: {rto: 1s}}
timeline: [connect, write 64KiB, read 4KiB x40, close]
`},
	{"acknowledgements that are delayed", `
both: {tcp: {delayed_ack: 190ms, rto: 1s}}
timeline: [connect, send 10, wait 2s, send 10, wait 2s, send 10, close]
`},
	{"one direction only", `
capture: {only: client}
timeline: [connect, write 8KiB, wait 3s, read 4KiB, wait 2s, read 4KiB, close]
`},
	{"one direction only, the other", `
capture: {only: server}
timeline: [connect, write 8KiB, wait 3s, read 4KiB, wait 2s, read 4KiB, close]
`},
	{"packets that the capture dropped", `
capture: {drop: 10%}
timeline: [connect, {repeat: [write 64KiB, wait 1s, read 16KiB, wait 1s], times: 5}, close]
`},
	{"snap length", `
capture: {snaplen: 96}
timeline: [connect, write 8KiB, wait 3s, read 4KiB, wait 2s, read 4KiB, close]
`},
	{"closed without anything to do", `
server: {tcp: {shut: {at: 500us, for: 2s}}}
timeline: [connect, send 10, wait 3s, send 20, close]
`},
}

func TestStalls(t *testing.T) {
	says(t, stallTraces)
}

func TestStalls_Silent(t *testing.T) {
	for _, tt := range stallSilent {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := spoken(t, generate(t, tt.src, false)); got != "" {
				t.Error(got)
			}
		})
	}
}

// TestStalls_First: a long stall stands before everything else that is a warning, one that
// ended in a reset among the errors, and connections that stalled alike are one problem.
func TestStalls_First(t *testing.T) {
	const hole = `
link: {rate: 100Mbps, from_client: {after: {loss: 1%, down: [{at: 15ms, for: 2s}]}}, from_server: {before: {down: [{at: 15ms, for: 2s}]}}}
connections: 3
timeline:
  - parallel: {c1: [connect, write 1MiB, close], c2: [connect, write 1MiB, close], c3: [connect, write 1MiB, close]}
`
	var s diagnose.Summary
	for _, c := range analyse(t, generate(t, hole, false)) {
		s.Connection(c, nil, nil)
	}
	list := s.List()
	if len(list) < 2 || list[0].Kind != diagnose.Stalled || list[0].Severity != conformance.Warning || list[0].Of != 3 {
		t.Fatalf("%d problems, the first is %+v", len(list), list[0])
	}
	if d := cmp.Diff([]uint64{0, 1, 2}, list[0].Conns); d != "" {
		t.Error(d)
	}
	if list[1].Kind != diagnose.Lossy {
		t.Errorf("the second is %+v", list[1])
	}
}

// TestStall_BeforeFIN: octets that were lost right in front of a FIN show by it, and come again behind it. Those that
// come a moment later were out of order.
func TestStall_BeforeFIN(t *testing.T) {
	for _, tt := range []struct {
		name string
		wait int64
		want string
	}{
		{"out of order", 1e4, ""},
		{"lost", 2e8, "The initiator made no progress for 200 ms, from frame 8 to frame 10. The last octets that it had sent were missing although its FIN had come: " +
			"they were lost on the way to the capture point, and the initiator noticed only after that time. 424 octets waited for an acknowledgement."},
	} {
		var c tracetest.TCP
		c.Handshake()
		d := greeting()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		c.Play(d)
		last := len(c.Packets) - 1
		lost := c.Packets[last]
		c.FIN(tracetest.Client)
		c.Packets[last] = c.Packets[last+1]
		c.Packets = c.Packets[:last+1]
		c.Ack(tracetest.Server)
		c.Packets[last+1].Ack = lost.Off
		c.Wait(tt.wait)
		c.Ack(tracetest.Client)
		lost.Time = c.Packets[last+2].Time
		c.Packets[last+2] = lost
		c.Ack(tracetest.Server)
		c.FIN(tracetest.Server)
		c.Ack(tracetest.Client)
		got := ""
		for _, d := range diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets))) {
			got += d.Text
		}
		if got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestStall_NeverAgain: what is not sent again until the capture ends was not noticed by its sender.
func TestStall_NeverAgain(t *testing.T) {
	c := tracetest.TCP{Size: [2]int{424, 0}}
	c.Handshake()
	d := greeting()
	d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 1200), 400)
	c.Play(d)
	n := len(c.Packets)
	lost := c.Packets[n-2].Off
	c.Packets = append(c.Packets[:n-2], c.Packets[n-1])
	for range 2 {
		c.Ack(tracetest.Server)
		c.Packets[len(c.Packets)-1].Ack = lost
		c.Wait(2e9)
	}
	const want = "The initiator made no progress for 2 s, from frame 10 until the end of the capture. Some octets that it had sent were missing although later ones had come: " +
		"they were lost on the way to the capture point, and the initiator did not send them again during that time. 848 octets waited for an acknowledgement."
	got := ""
	for _, d := range diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets))) {
		if d.Kind == diagnose.Stalled {
			got += d.Text
		}
	}
	if got != want {
		t.Errorf("%q", got)
	}
}

package diagnose_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// lossTraces are traces with such a fault, and all that is said of it.
var lossTraces = []struct{ name, src, want string }{
	{"behind the capture point", `
link: {rate: 100Mbps, after: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `warning loss: 0.88 % of the packets lost
Of 1475 packets of the initiator 13 were lost and sent again (0.88 %), the first in frame 213. The capture has both copies: they were lost between the capture point and the responder.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"before the capture point", `
link: {rate: 100Mbps, before: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `note stall: stalled for 192.9 ms
The initiator did not get on for 192.9 ms, from frame 870 to frame 875. Some of what it had sent was missing while later octets had come: it was lost on its way to the capture point, and the initiator noticed only after that time. 93,440 octets waited for an acknowledgement.
Meanwhile waited: an unfinished message of the initiator.
Try: look for lost packets between the initiator and the capture point: drops at switches and adapters.

warning loss: 1.0 % of the packets lost
Of 1462 packets of the initiator 15 were lost and sent again (1.0 %), the first in frame 135. The capture has only the second copies: the first ones were lost between the initiator and the capture point.
Of them 1 came only after a timeout, during which nothing went on, 192.9 ms in all.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"on both sides of it", `
link: {rate: 100Mbps, before: {loss: 0.5%}, after: {loss: 0.5%}}
timeline: [connect, write 4MiB, close]
`, `warning loss: 1.1 % of the packets lost
Of 2945 packets of the initiator 31 were lost and sent again (1.1 %), the first in frame 159. Lost before the capture point: 20, behind it: 11.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"on both sides of it, without the start of the connection", `
link: {rate: 100Mbps, before: {loss: 0.5%}, after: {loss: 0.5%}}
capture: {skip: 3}
timeline: [connect, write 4MiB, close]
`, `warning loss: up to 1.1 % of the packets lost
Of 2943 packets of the initiator up to 31 were lost and sent again (1.1 %), the first in frame 156. Lost before the capture point: up to 20, behind it: 11. 20 of them may only have come out of order: neither timestamps nor acknowledgements prove that they were sent again.
Try: capture the start of the connection too, and have both sides use timestamps of TCP, to tell loss from disorder; look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"out of order, without the start of the connection", `
link: {rate: 100Mbps, before: {reorder: 20%, reorder_by: 1ms}, delay: 1ms}
capture: {skip: 3}
timeline: [connect, write 2MiB, close]
`, `warning loss: up to 12 % of the packets lost
Of 1859 packets of the initiator up to 230 were lost and sent again (12 %), the first in frame 24. The capture has only one copy of each: the first ones were lost between the initiator and the capture point, or there was only one. All of them may only have come out of order: neither timestamps nor acknowledgements prove that they were sent again.
Try: capture the start of the connection too, and have both sides use timestamps of TCP, to tell loss from disorder; look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.

note reorder: 3.5 % of the packets out of order
Of 1859 packets of the initiator 65 came behind later ones (3.5 %), the first in frame 11, and were not lost.
Sent again without need, as the sender took them for lost: 398.
Try: look for a path over several links that are used in turn, or a capture that puts its queues together in another order.
`},
	{"a few so late that they may be lost, without the start of the connection", `
link: {rate: 100Mbps, before: {reorder: 4%, reorder_by: 250us}, delay: 200us}
capture: {skip: 3}
timeline: [connect, write 2MiB, close]
`, `note reorder: 3.1 % of the packets out of order
Of 1460 packets of the initiator 45 came behind later ones (3.1 %), the first in frame 10, and were not lost.
So late that they may have been lost before the capture point: 11 more.
Try: look for a path over several links that are used in turn, or a capture that puts its queues together in another order.
`},
	{"out of order, later than a copy, with timestamps", `
both: {tcp: {timestamps: true}}
link: {rate: 100Mbps, before: {reorder: 2%, reorder_by: 20ms}, delay: 1ms}
timeline: [connect, write 2MiB, close]
`, `note reorder: 2.0 % of the packets out of order
Of 1529 packets of the initiator 30 came behind later ones (2.0 %), the first in frame 242, and were not lost.
Sent again without need, as the sender took them for lost: 54.
So late that they may have been lost before the capture point: 1 more.
Try: look for a path over several links that are used in turn, or a capture that puts its queues together in another order.
`},
	{"before the capture point and out of order, with timestamps", `
both: {tcp: {timestamps: true}}
link: {rate: 100Mbps, before: {loss: 1%, reorder: 20%, reorder_by: 3ms}, delay: 1ms}
timeline: [connect, write 2MiB, close]
`, `warning loss: 1.3 % of the packets lost
Of 1821 packets of the initiator 24 were lost and sent again (1.3 %), the first in frame 148. Lost before the capture point: 9, behind it: 15.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.

warning reorder: 16 % of the packets out of order
Of 1821 packets of the initiator 289 came behind later ones (16 %), the first in frame 27, and were not lost.
Sent again without need, as the sender took them for lost: 263.
So late that they may have been lost before the capture point: 8 more.
Try: look for a path over several links that are used in turn, or a capture that puts its queues together in another order.
`},
	{"before the capture point and out of order, with timestamps, without the start of the connection", `
both: {tcp: {timestamps: true}}
link: {rate: 100Mbps, before: {loss: 1%, reorder: 20%, reorder_by: 3ms}, delay: 1ms}
capture: {skip: 3}
timeline: [connect, write 2MiB, close]
`, `warning loss: up to 18 % of the packets lost
Of 1819 packets of the initiator up to 321 were lost and sent again (18 %), the first in frame 24. Lost before the capture point: up to 306, behind it: 15. 297 of them may only have come out of order: neither timestamps nor acknowledgements prove that they were sent again.
Try: capture the start of the connection too, and have both sides use timestamps of TCP, to tell loss from disorder; look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"little", `
link: {rate: 1Gbps}
timeline: [connect, write 20MiB, close]
faults: [{at: write1/1000, wire: {lose: after}}, {at: write1/4000, wire: {lose: after}}, {at: write1/9000, wire: {lose: before}}]
`, `note loss: 0.021 % of the packets lost
Of 14,571 packets of the initiator 3 were lost and sent again (0.021 %), the first in frame 1622. Lost before the capture point: 1, behind it: 2.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"chunks", `
transport: sctp
link: {rate: 100Mbps, after: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `warning loss: 0.88 % of the chunks lost
Of 1476 chunks of the initiator 13 were lost and sent again (0.88 %), the first in frame 184. The capture has both copies: they were lost between the capture point and the responder.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"chunks, several of a segment", `
transport: sctp
both: {mulpdu: 4000}
link: {rate: 100Mbps, after: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `warning loss: 0.82 % of the chunks lost
Of 1594 chunks of the initiator 13 were lost and sent again (0.82 %), the first in frame 193. The capture has both copies: they were lost between the capture point and the responder.
Try: look for drops at the switches and adapters of that path, for flow control that is off at one side, and for errors of the link.
`},
	{"out of order", `
link: {rate: 100Mbps, before: {reorder: 4%, reorder_by: 250us}, delay: 200us}
timeline: [connect, write 2MiB, close]
`, `note reorder: 3.8 % of the packets out of order
Of 1462 packets of the initiator 56 came behind later ones (3.8 %), the first in frame 13, and were not lost.
Try: look for a path over several links that are used in turn, or a capture that puts its queues together in another order.
`},
	{"a window closed at times", `
server: {tcp: {shut: [{at: 20ms, for: 30ms}, {at: 80ms, for: 30ms}]}}
link: {rate: 100Mbps}
timeline: [connect, write 4MiB, close]
`, `warning zero-window: receive window closed for 59.72 ms
The responder closed its receive window twice while the initiator had more to send: 59.72 ms in all (15 % of the time of the connection), the longest time 29.87 ms (frames 709 to 802).
Try: find out why the responder did not read: its RNIC or its processor was busy, or receive buffers were missing.
`},
	{"a window closed at times, and once with nothing to send", `
server: {tcp: {shut: [{at: 20ms, for: 30ms}, {at: 300ms, for: 150ms}]}}
link: {rate: 100Mbps}
timeline: [connect, write 2MiB, wait 150ms, send 10, wait 300ms, send 10, close]
`, `note zero-window: receive window closed for 29.84 ms
The responder closed its receive window twice: 89.89 ms in all, the longest time 60.05 ms (frames 2194 to 2195). In 29.84 ms of all that (4.6 % of the time of the connection) the initiator certainly had more to send.
Try: find out why the responder did not read: its RNIC or its processor was busy, or receive buffers were missing.
`},
}

// lossSilent are traces that come close, and of which nothing is said.
var lossSilent = []struct{ name, src string }{
	{"one of 14,000", `
link: {rate: 1Gbps}
timeline: [connect, write 20MiB, close]
faults: [{at: write1/1000, wire: {lose: after}}]
`},
	{"twice by the network", `
link: {after: {duplicate: 2%}, rate: 100Mbps}
timeline: [connect, write 2MiB, close]
`},
	{"twice in the capture", `
link: {before: {duplicate: 5%}, rate: 100Mbps}
timeline: [connect, write 2MiB, close]
`},
	{"a few out of order", `
link: {rate: 1Gbps}
timeline: [connect, write 2MiB, close]
faults: [{at: write1/100, wire: {delay: 40us}}, {at: write1/700, wire: {delay: 40us}}]
`},
	{"a window closed for a moment", `
server: {tcp: {shut: [{at: 20ms, for: 3ms}]}}
link: {rate: 100Mbps}
timeline: [connect, write 4MiB, close]
`},
}

func TestLosses(t *testing.T) {
	says(t, lossTraces)
}

func TestLosses_Silent(t *testing.T) {
	for _, tt := range lossSilent {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := spoken(t, generate(t, tt.src, false)); got != "" {
				t.Error(got)
			}
		})
	}
}

// TestLosses_WindowOfSCTP: a SACK announces the window over SCTP.
func TestLosses_WindowOfSCTP(t *testing.T) {
	c := analyse(t, generate(t, `
transport: sctp
client: {sctp: {tsn: 0x1000}}
timeline:
  - connect
  - {packet: {chunks: {hex: "03000010 00001000 00000000 00000000"}}, from: server}
  - wait 1s
  - send 10
  - close
`, false))
	z := c[0].Flow[trace.R2I].Delays().Closed
	if z.Count != 1 || z.Total < 1e9 || z.Total > 1.3e9 || z.From == 0 || z.To <= z.From || z.Blocked != 0 {
		t.Errorf("%+v", z)
	}
}

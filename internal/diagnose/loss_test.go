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
13 of 1475 packets of the initiator were lost and sent again (0.88 %), the first in frame 213. The capture has both copies, so the first ones were lost between the capture point and the responder.
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"before the capture point", `
link: {rate: 100Mbps, before: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `note stall: stalled for 192.9 ms
The initiator made no progress for 192.9 ms, from frame 870 to frame 875. Some octets that it had sent were missing although later ones had come: they were lost on the way to the capture point, and the initiator noticed only after that time. 93,440 octets waited for an acknowledgement.
Meanwhile an unfinished message of the initiator had to wait.
Try: look for lost packets between the initiator and the capture point: drops at switches and adapters.

warning loss: 1.0 % of the packets lost
15 of 1462 packets of the initiator were lost and sent again (1.0 %), the first in frame 135. The capture has only the second copies, so the first ones were lost between the initiator and the capture point.
1 of them came only after a timeout without progress (192.9 ms in all).
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"on both sides of it", `
link: {rate: 100Mbps, before: {loss: 0.5%}, after: {loss: 0.5%}}
timeline: [connect, write 4MiB, close]
`, `warning loss: 1.1 % of the packets lost
31 of 2945 packets of the initiator were lost and sent again (1.1 %), the first in frame 159. Of these, 20 were lost before the capture point and 11 behind it.
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"on both sides of it, without the start of the connection", `
link: {rate: 100Mbps, before: {loss: 0.5%}, after: {loss: 0.5%}}
capture: {skip: 3}
timeline: [connect, write 4MiB, close]
`, `warning loss: up to 1.1 % of the packets lost
Up to 31 of 2943 packets of the initiator were lost and sent again (1.1 %), the first in frame 156. Of these, up to 20 were lost before the capture point and 11 behind it. 20 of them may only have arrived out of order: neither timestamps nor acknowledgements prove that they were sent again.
Try: capture the start of the connection too, and let both sides use TCP timestamps, which tell loss from reordering; look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"out of order, without the start of the connection", `
link: {rate: 100Mbps, before: {reorder: 20%, reorder_by: 1ms}, delay: 1ms}
capture: {skip: 3}
timeline: [connect, write 2MiB, close]
`, `warning loss: up to 12 % of the packets lost
Up to 230 of 1859 packets of the initiator were lost and sent again (12 %), the first in frame 24. The capture has only one copy of each: the first ones were lost between the initiator and the capture point, or there was only one. All of them may only have arrived out of order: neither timestamps nor acknowledgements prove that they were sent again.
Try: capture the start of the connection too, and let both sides use TCP timestamps, which tell loss from reordering; look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.

note reorder: 3.5 % of the packets out of order
65 of 1859 packets of the initiator came after later ones (3.5 %), the first in frame 11. They were not lost.
The sender took packets for lost and sent 398 again without need.
Try: look for a path that spreads packets over several links, or for a capture that merges its queues in another order.
`},
	{"a few so late that they may be lost, without the start of the connection", `
link: {rate: 100Mbps, before: {reorder: 4%, reorder_by: 250us}, delay: 200us}
capture: {skip: 3}
timeline: [connect, write 2MiB, close]
`, `note reorder: 3.1 % of the packets out of order
45 of 1460 packets of the initiator came after later ones (3.1 %), the first in frame 10. They were not lost.
11 more came so late that they may have been lost before the capture point.
Try: look for a path that spreads packets over several links, or for a capture that merges its queues in another order.
`},
	{"out of order, later than a copy, with timestamps", `
both: {tcp: {timestamps: true}}
link: {rate: 100Mbps, before: {reorder: 2%, reorder_by: 20ms}, delay: 1ms}
timeline: [connect, write 2MiB, close]
`, `note reorder: 2.0 % of the packets out of order
30 of 1529 packets of the initiator came after later ones (2.0 %), the first in frame 242. They were not lost.
The sender took packets for lost and sent 54 again without need.
1 more came so late that they may have been lost before the capture point.
Try: look for a path that spreads packets over several links, or for a capture that merges its queues in another order.
`},
	{"before the capture point and out of order, with timestamps", `
both: {tcp: {timestamps: true}}
link: {rate: 100Mbps, before: {loss: 1%, reorder: 20%, reorder_by: 3ms}, delay: 1ms}
timeline: [connect, write 2MiB, close]
`, `warning loss: 1.3 % of the packets lost
24 of 1821 packets of the initiator were lost and sent again (1.3 %), the first in frame 148. Of these, 9 were lost before the capture point and 15 behind it.
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.

warning reorder: 16 % of the packets out of order
289 of 1821 packets of the initiator came after later ones (16 %), the first in frame 27. They were not lost.
The sender took packets for lost and sent 263 again without need.
8 more came so late that they may have been lost before the capture point.
Try: look for a path that spreads packets over several links, or for a capture that merges its queues in another order.
`},
	{"before the capture point and out of order, with timestamps, without the start of the connection", `
both: {tcp: {timestamps: true}}
link: {rate: 100Mbps, before: {loss: 1%, reorder: 20%, reorder_by: 3ms}, delay: 1ms}
capture: {skip: 3}
timeline: [connect, write 2MiB, close]
`, `warning loss: up to 18 % of the packets lost
Up to 321 of 1819 packets of the initiator were lost and sent again (18 %), the first in frame 24. Of these, up to 306 were lost before the capture point and 15 behind it. 297 of them may only have arrived out of order: neither timestamps nor acknowledgements prove that they were sent again.
Try: capture the start of the connection too, and let both sides use TCP timestamps, which tell loss from reordering; look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"little", `
link: {rate: 1Gbps}
timeline: [connect, write 20MiB, close]
faults: [{at: write1/1000, wire: {lose: after}}, {at: write1/4000, wire: {lose: after}}, {at: write1/9000, wire: {lose: before}}]
`, `note loss: 0.021 % of the packets lost
3 of 14,571 packets of the initiator were lost and sent again (0.021 %), the first in frame 1622. Of these, 1 was lost before the capture point and 2 behind it.
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"chunks", `
transport: sctp
link: {rate: 100Mbps, after: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `warning loss: 0.88 % of the chunks lost
13 of 1476 chunks of the initiator were lost and sent again (0.88 %), the first in frame 184. The capture has both copies, so the first ones were lost between the capture point and the responder.
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"chunks, several of a segment", `
transport: sctp
both: {mulpdu: 4000}
link: {rate: 100Mbps, after: {loss: 1%}}
timeline: [connect, write 2MiB, close]
`, `warning loss: 0.82 % of the chunks lost
13 of 1594 chunks of the initiator were lost and sent again (0.82 %), the first in frame 193. The capture has both copies, so the first ones were lost between the capture point and the responder.
Try: look for drops at switches and adapters on that path, for flow control that is off at one side, and for link errors.
`},
	{"out of order", `
link: {rate: 100Mbps, before: {reorder: 4%, reorder_by: 250us}, delay: 200us}
timeline: [connect, write 2MiB, close]
`, `note reorder: 3.8 % of the packets out of order
56 of 1462 packets of the initiator came after later ones (3.8 %), the first in frame 13. They were not lost.
Try: look for a path that spreads packets over several links, or for a capture that merges its queues in another order.
`},
	{"a window closed at times", `
server: {tcp: {shut: [{at: 20ms, for: 30ms}, {at: 80ms, for: 30ms}]}}
link: {rate: 100Mbps}
timeline: [connect, write 4MiB, close]
`, `warning zero-window: receive window closed for 59.72 ms
The responder closed its receive window twice while the initiator had more to send: for 59.72 ms in all (15 % of the time that the connection lasted), and for at most 29.87 ms at a time (frames 709 to 802).
Try: find out why the responder did not read: its RNIC or its processor may have been busy, or receive buffers may have been missing.
`},
	{"a window closed at times, and once with nothing to send", `
server: {tcp: {shut: [{at: 20ms, for: 30ms}, {at: 300ms, for: 150ms}]}}
link: {rate: 100Mbps}
timeline: [connect, write 2MiB, wait 150ms, send 10, wait 300ms, send 10, close]
`, `note zero-window: receive window closed for 29.84 ms
The responder closed its receive window twice: for 89.89 ms in all, and for at most 60.05 ms at a time (frames 2194 to 2195). The initiator certainly had more to send for 29.84 ms of that (4.6 % of the time that the connection lasted).
Try: find out why the responder did not read: its RNIC or its processor may have been busy, or receive buffers may have been missing.
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

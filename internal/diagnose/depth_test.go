package diagnose_test

import (
	"testing"
)

// depthTraces are traces with such a fault, and all that is said of it.
var depthTraces = []struct{ name, src, want string }{
	{"deeper by far", `
both: {mpa: {ird: 1, ord: 1}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x200, close]
`, `warning depth-limit: Reads limited by ORD 1
Reads of the initiator are limited by ORD 1 (its own; the IRD of the responder is the same): 1 Read was outstanding for 100 % of the time during which any were outstanding (200 Reads of 8192 octets, mean latency 107 µs).
The octets of an answer come at 9.48 Gbit/s, and the fastest Read took 107 µs, so latency × rate / size suggests 16 Reads outstanding.
Try: raise the ORD of the initiator and the IRD of the responder to 16, as far as both RNICs allow.
`},
	{"deeper", `
both: {mpa: {ird: 4, ord: 4}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x200, close]
`, `note depth-limit: Reads limited by ORD 4
Reads of the initiator are limited by ORD 4 (its own; the IRD of the responder is the same): 4 Reads were outstanding for 68 % of the time during which any were outstanding (200 Reads of 8192 octets, mean latency 107.2 µs).
The octets of an answer come at 9.48 Gbit/s, and the fastest Read took 107 µs, so latency × rate / size suggests 16 Reads outstanding.
Try: raise the ORD of the initiator and the IRD of the responder to 16, as far as both RNICs allow.
`},
	{"by the initiator", `
client: {mpa: {ird: 1, ord: 2}}
server: {mpa: {ird: 8, ord: 1}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x200, close]
`, `note depth-limit: Reads limited by ORD 2
Reads of the initiator are limited by ORD 2 (its own; the IRD of the responder is the same): 2 Reads were outstanding for 88 % of the time during which any were outstanding (200 Reads of 8192 octets, mean latency 107 µs).
The octets of an answer come at 9.48 Gbit/s, and the fastest Read took 107 µs, so latency × rate / size suggests 16 Reads outstanding.
Try: raise the ORD of the initiator and the IRD of the responder to 16, as far as both RNICs allow.
`},
	{"of the responder", `
both: {mpa: {ird: 2, ord: 2}}
link: {rate: 10Gbps}
timeline: [connect, send 10, server read 8KiB x200, close]
`, `note depth-limit: Reads limited by ORD 2
Reads of the responder are limited by ORD 2 (its own; the IRD of the initiator is the same): 2 Reads were outstanding for 88 % of the time during which any were outstanding (200 Reads of 8192 octets, mean latency 107 µs).
The octets of an answer come at 9.48 Gbit/s, and the fastest Read took 107 µs, so latency × rate / size suggests 16 Reads outstanding.
Try: raise the ORD of the responder and the IRD of the initiator to 16, as far as both RNICs allow.
`},
	{"over SCTP", `
transport: sctp
both: {session: {ird: 2, ord: 2}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x200, close]
`, `note depth-limit: Reads limited by ORD 2
Reads of the initiator are limited by ORD 2 (its own; the IRD of the responder is the same): 2 Reads were outstanding for 88 % of the time during which any were outstanding (200 Reads of 8192 octets, mean latency 107.2 µs).
The octets of an answer come at 9.31 Gbit/s, and the fastest Read took 107.2 µs, so latency × rate / size suggests 16 Reads outstanding.
Try: raise the ORD of the initiator and the IRD of the responder to 16, as far as both RNICs allow.
`},
}

// depthSilent are traces that come close, and of which nothing is said.
var depthSilent = []struct{ name, src string }{
	{"deep enough", `
both: {mpa: {ird: 32, ord: 32}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x200, close]
`},
	{"a link that is full", `
both: {mpa: {ird: 4, ord: 4}}
link: {rate: 100Mbps}
timeline: [connect, read 64KiB x64, close]
`},
	{"few Reads", `
both: {mpa: {ird: 1, ord: 1}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x10, close]
`},
	{"one after the other", `
both: {mpa: {ird: 4, ord: 4}}
link: {rate: 10Gbps}
timeline: [connect, {repeat: [read 8KiB], times: 100}, close]
`},
	{"nothing negotiated", `
both: {mpa: {revision: 1}}
link: {rate: 10Gbps}
timeline: [connect, read 8KiB x200, close]
`},
}

func TestDepth(t *testing.T) {
	says(t, depthTraces)
}

func TestDepth_Silent(t *testing.T) {
	for _, tt := range depthSilent {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := spoken(t, generate(t, tt.src, false)); got != "" {
				t.Error(got)
			}
		})
	}
}

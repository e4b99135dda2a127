package scenario

import (
	"errors"
	"strings"
	"testing"
)

// TestParse_Order holds that steps that come at a time when they can do nothing are refused at
// their place, and that those that may be meant are not.
func TestParse_Order(t *testing.T) {
	const (
		ab    = "connections: [a, b]\n"
		same  = "connections: {a: {client: {address: '10.0.0.1:4000'}}, b: {client: {address: '10.0.0.1:4000'}}}\n"
		vlans = "connections: {a: {client: {address: '10.0.0.1:4000'}}, b: {client: {address: '10.0.0.1:4000', vlan: 5}}}\n"
		sctp  = "transport: sctp\n"
		keeps = "faults: [{by: server, ignores: close}]\n"
		early = "faults: [{by: client, ignores: phase}]\n"
		both  = sctp + "connections: [a, b]\n"
		ended = " was closed in line 4: put this step before that one, or put end in place of that close, which ends the session alone"
		once  = "the connection is opened only once, and this step is repeated: put connect before the repetition and close behind it, or name a connection for each round under connections"
	)
	for _, tt := range []struct{ name, before, timeline, after, want string }{
		{"close first", "", "[close, connect]", "", "the connection is not open yet: put connect before this step"},
		{"send first", "", "[send 10, connect, close]", "", "the connection is not open yet: put connect before this step"},
		{"never connected", "", "[{repeat: [read 5], times: 3}]", "", "the connection is not open yet: put connect before this step"},
		{"the other one is open", ab, "[connect, {send: 1, on: b}]", "", "connection b is not open yet: put connect before this step"},
		{"connect twice", "", "[connect, connect]", "", "the connection is open since line 2: leave this step out, or name another connection under connections, and open that with on: NAME"},
		{"connect after close", "", "[connect, close, connect]", "", "the connection was closed in line 2 and is opened only once: name another one under connections, and open that"},
		{"connect again and again", "", "[{repeat: [connect, close], times: 2}]", "", once},
		{"open again and again", "", "[{repeat: [{parallel: [[open], [wait 1ms]]}], times: 2}]", "", once},
		{"close again and again", "", "[connect, {repeat: [send 10, close], times: 3}]", "", "the first round closes the connection in line 2, and this step is repeated: put that step behind the repetition"},
		{"reset again and again", "", "[connect, {repeat: [{repeat: [send 10], times: 2}, reset], times: 3}]", "", "the first round closes the connection in line 2, and this step is repeated: put that step behind the repetition"},
		{"startup again and again", "", "[open, {repeat: [start, send 10], times: 3}]", "", "the startup of the connection is done only once, in the first round, and this step is repeated: put it before the repetition"},
		{"association again and again", sctp, "[open, {repeat: [start, send 10, close], times: 3}]", "", "the first round closes the association of the connection in line 3, and this step is repeated: put end there in place of close, and close behind the repetition"},
		{"session again and again", sctp, "[open, {repeat: [start, send 10], times: 3}]", "", "the session of the connection goes on since the first round, and this step is repeated: put end behind it in the repetition"},
		{"end again and again", sctp, "[connect, {repeat: [send 10, end], times: 3}]", "", "the first round ends the session of the connection, and this step is repeated: put start before it in the repetition, or end behind the repetition"},
		{"connect at the same time", "", "[{parallel: [[connect], [connect]]}]", "", "the connection is opened in line 2 at the same time: leave one of the two out"},
		{"send after close", "", "[connect, close, send 10]", "", "the connection was closed in line 2: put this step before that one, or name another connection under connections"},
		{"send after reset", "", "[connect, reset, send 10]", "", "the connection was closed in line 2: put this step before that one, or name another connection under connections"},
		{"close twice", "", "[connect, close, close]", "", "the connection was closed in line 2: put this step before that one, or name another connection under connections"},
		{"no startup", "", "[open, send 10]", "", "the startup of the connection was not done: put start before this step"},
		{"startup twice", "", "[connect, start]", "", "the startup of the connection was in line 2: leave this step out"},
		{"stream after the startup", "", "[connect, stream 10]", "", "stream is for what is sent before the startup: put open, stream and start in place of connect"},
		{"end over TCP", "", "[connect, end]", "", "end is for a session over SCTP, the connection is over TCP: close ends it"},
		{"end without a session", sctp, "[open, end]", "", "no session of the connection goes on: put start before this step"},
		{"session twice", sctp, "[connect, start]", "", "the session of the connection goes on since line 3: put end before this step"},
		{"session over", sctp, "[connect, end, send 5]", "", "the session of the connection ended in line 3: put this step before that one, or start before this step"},
		{"association over", both, "[connect, {connect: , on: b}, close, {close: , on: b}, start]", "", "the association of connection a" + ended},
		{"association over without a session", both, "[connect, end, close, {start: , on: b}]", "", "the association of connection b" + ended},
		{"association over in branches", both, "[open, {parallel: {a: [start, close], b: [start, close]}}, start]", "", "the association of connection a" + ended},
		{"association over since branches", both, "[connect, {connect: , on: b}, {together: [close, {close: , on: b}]}, {close: , on: b}]", "", "the association of connection b was closed in line 4: leave this step out"},
		{"association over by an ABORT", both, "[connect, reset, {start: , on: b}]", "", "the association of connection b was closed in line 4: put this step before that one, or name a connection with another association under connections"},
		{"association opened again", sctp, "[connect, close, connect]", "", "the association of the connection was closed in line 3 and is opened only once: name another connection with another association under connections, and open that"},
		{"only the clean one", "", "[{connect: , only: faulty}, send 10]", "", "the connection is not open yet: put connect before this step"},
		{"one four-tuple at a time", same, "[connect, {connect: , on: b}]", "", "connection b has the addresses and ports of connection a, 10.0.0.1:4000 and 10.0.0.2:5001, which is open at the same time: give it another address, or close the other one before"},
		{"one end", "both: {address: '10.0.0.1:4000'}\n", "[connect]", "", "client and server of connection c1 have the same address and port, 10.0.0.1:4000: give one of them another"},

		{"one after the other", same, "[connect, close, {connect: , on: b}]", "", ""},
		{"both close", "", "[connect, close, server close]", "", ""},
		{"reset behind a close", "", "[connect, close, server reset]", "", ""},
		{"two VLANs", vlans, "[connect, {connect: , on: b}]", "", ""},
		{"half closed", "", "[connect, close, server send 10, server close]", keeps, ""},
		{"before the startup", "", "[open, {send: 10, only: faulty}, start]", early, ""},
		{"at the same time", "", "[{parallel: [[connect], [wait 1ms, send 10]]}, close]", "", ""},
		{"a packet at any time", "", "[{packet: {flags: syn}}, connect, close, {packet: {flags: rst}}]", "", ""},
		{"memory before", "", "[{region: {name: buf}}, connect, {write: 5, to: buf}]", "", ""},
		{"octets in any state", "", "[open, {raw: 'hello'}, start]", "", ""},
		{"several sessions", sctp, "[open, start, send 1, end, start, send 2, end, close]", "", ""},
		{"one association", both, "[open, {open: , on: b}, start, {start: , on: b}, close, {send: 1, on: b}, {close: , on: b}]", "", ""},
		{"one association goes on", both, "[open, start, {start: , on: b}, close, start, send 5, {close: , on: b}, send 5, close, server close]", "", ""},
		{"a branch goes on", both, "[open, {parallel: {a: [start, close], b: [start, end]}}, start, close]", "", ""},
		{"session control by hand", both, "[open, {control: initiate, on: b}, start, close, {send: 5, on: b, only: faulty}, start]", "faults: [{by: client, ignores: [end, phase]}]\n", ""},
		{"sessions again and again", sctp, "[open, {repeat: [start, send 10, end], times: 3}, close]", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("t.yaml", []byte(head+tt.before+"timeline: "+tt.timeline+"\n"+tt.after))
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("no error, want %q", tt.want)
			}
			at := "timeline:"
			if strings.HasPrefix(tt.want, "client and server") {
				at = "both:" // where the address is
			}
			if e.Msg != tt.want || !strings.HasPrefix(e.Source, at) {
				t.Errorf("%s\nwant %s", err, tt.want)
			}
		})
	}
}

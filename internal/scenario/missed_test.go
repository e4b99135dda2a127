package scenario

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// missed plays a scenario and returns what never came, with a dash before what is no mistake.
func missed(t *testing.T, s *Scenario, clean bool) (what []string) {
	t.Helper()
	st, err := synth.Run(io.Discard, s.Script(clean))
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	for _, m := range st.Missed {
		if m.Line < 2 {
			t.Errorf("%q is in line %d", m.What, m.Line)
		}
		if m.Cut {
			m.What = "- " + m.What
		}
		what = append(what, m.What)
	}
	return what
}

// TestMissed holds that what never strikes is told, with the reason, and nothing else is.
func TestMissed(t *testing.T) {
	const (
		usual   = "timeline: [connect, write 4KiB, send 10 x2, close]\n"
		sctp    = "transport: sctp\n" + usual
		markers = "both: {mpa: {markers: true}}\n" + usual
	)
	for _, tt := range []struct {
		src  string
		want []string
	}{
		{usual + "faults: [{at: write1/2, crc: bad}]", nil},
		{
			usual + "faults: [{at: send1#2, payload: {size: 70000}}]",
			[]string{"fault 1 (send1#2) did not do all that it should: its ULPDU would be longer than 65535 octets, which is the most that an FPDU holds"},
		},
		{usual + "faults: [{at: write1/9, crc: bad}]", []string{"fault 1 (write1/9) never struck: write1 has 3 segments"}},
		{usual + "faults: [{at: send1#2, skip: true}, {at: send1#5, skip: true}]", []string{"fault 2 (send1#5) never struck: send1 has 2 messages"}},
		{usual + "faults: [{at: send1#2/2, skip: true}]", []string{"fault 1 (send1#2/2) never struck: send1#2 has 1 segment"}},
		{usual + "faults: [{at: write1, from: server, crc: bad}]", []string{"fault 1 (write1) never struck: the client sends it, on c1"}},
		{"connections: [a, b]\n" + usual + "faults: [{at: write1, on: b, crc: bad}]", []string{"fault 1 (write1) never struck: the client sends it, on a"}},
		{usual + "faults: [{at: reply, from: client, skip: true}]", []string{"fault 1 (reply) never struck: the server sends it, on c1"}},
		{usual + "faults: [{at: terminate, skip: true}]", []string{"fault 1 (terminate) never struck: no side sends a Terminate of its own accord; that of a step is called as the step is"}},
		{usual + "faults: [{at: rtr, skip: true}]", []string{"fault 1 (rtr) never struck: no ready-to-receive message is sent; mpa: {rtr: [send]} of both sides asks for one"}},
		{"transport: sctp\ntimeline: [connect, send 5, reset]\nfaults: [{at: end, skip: true}]", []string{"fault 1 (end) never struck: no session ends so"}},
		{"timeline: [connect, {write: 5, only: clean}, close]\nfaults: [{at: write1, skip: true}]", []string{"fault 1 (write1) never struck: no step of this trace sends it"}},
		{"timeline: [connect, read 5 x3, close]\nfaults: [{at: read1#4.response, skip: true}]", []string{"fault 1 (read1#4.response) never struck: read1.response has 3 messages"}},
		{"timeline: [connect, read 5 x3, close]\nfaults: [{at: read1#3.response, repeat: 1}]", nil},
		{usual + "faults: [{at: write1/9, wire: {lose: before}}]", []string{"fault 1 (write1/9) never struck: write1 has 3 segments"}},
		{usual + "faults: [{at: write1/2, wire: {lose: before}}]", nil},
		{usual + "faults: [{at: write1/2, wire: {flip: [7000]}}]", []string{"fault 1 (write1/2) did not do all that it should: flip: no packet of it has so many octets"}},
		{usual + "faults: [{at: write1/2, skip: true, wire: {lose: before}}]", []string{"fault 1 (write1/2) did not do all that it should: wire: no packet carries it"}},

		// A PDU that is there, to which it cannot be done.
		{usual + "faults: [{at: write1/2, marker: {number: 1, drop: true}}]", []string{"fault 1 (write1/2) did not do all that it should: marker 1: it has none; mpa: {markers: true} of the other side asks for them"}},
		{markers + "faults: [{at: write1/2, marker: {number: 1, drop: true}}]", nil},
		{markers + "faults: [{at: write1/2, marker: {number: 7, drop: true}}]", []string{"fault 1 (write1/2) did not do all that it should: marker 7: it has 3"}},
		{"both: {mpa: {crc: false}}\n" + usual + "faults: [{at: write1/2, crc: bad}]", []string{"fault 1 (write1/2) did not do all that it should: crc: the connection uses none; a number or none changes the field all the same"}},
		{"both: {mpa: {crc: false}}\n" + usual + "faults: [{at: write1/2, crc: 7}]", nil},
		{usual + "faults: [{at: write1/2, crc: stale}]", []string{"fault 1 (write1/2) did not do all that it should: crc: it is the same as the right one"}},
		{usual + "faults: [{at: write1/2, crc: stale, extend: {hex: ff}}]", nil},
		{usual + "faults: [{at: request, crc: bad, glue: true}]", []string{"fault 1 (request) did not do all that it should: crc: it is no FPDU"}},
		{usual + "faults: [{at: send1, glue: true}]", []string{"fault 1 (send1) did not do all that it should: glue: only a startup frame begins a TCP segment of its own"}},
		{usual + "faults: [{at: send1, set: {iwarp_ddp.tagged_offset: 7}}]", []string{"fault 1 (send1) did not do all that it should: it has no field iwarp_ddp.tagged_offset"}},
		{usual + "faults: [{at: send1, cut: 500}]", []string{"fault 1 (send1) did not do all that it should: cut: it has only 28 octets"}},
		{usual + "faults: [{at: send1, stop: 500}]", []string{"fault 1 (send1) did not do all that it should: stop: it has only 36 octets"}},
		{usual + "faults: [{at: send1#2, join: true}]", []string{"fault 1 (send1#2) did not do all that it should: join: no FPDU follows it"}},
		{usual + "faults: [{at: send1#2, hold: 1}]", []string{"fault 1 (send1#2) did not do all that it should: hold: its side sends nothing after it"}},
		{usual + "faults: [{at: send1#1, hold: 1}]", nil},

		// What is there without the fault.
		{usual + "faults: [{at: send1, set: {iwarp_ddp.qn: 0}}]", []string{"fault 1 (send1) did not do all that it should: set: iwarp_ddp.qn has that value without the fault"}},
		{usual + "faults: [{at: send1, set: {iwarp_ddp.msn: 2}}]", nil},
		{usual + "faults: [{at: send1#2, set: {iwarp_ddp.msn: 2}}]", []string{"fault 1 (send1#2) did not do all that it should: set: iwarp_ddp.msn has that value without the fault"}},
		{usual + "faults: [{at: send1, set: {iwarp_mpa.ulpdulength: 28}}]", []string{"fault 1 (send1) did not do all that it should: set: iwarp_mpa.ulpdulength has that value without the fault"}},
		{usual + "faults: [{at: send1, set: {iwarp_mpa.ulpdulength: +65536}}]", []string{"fault 1 (send1) did not do all that it should: set: iwarp_mpa.ulpdulength has that value without the fault"}},
		{usual + "faults: [{at: send1, octets: {size: 5}, set: {iwarp_mpa.ulpdulength: 6}}]", nil},
		{"timeline: [connect, {send: 'hi'}, close]\nfaults: [{at: send1, payload: 'hi'}]", []string{"fault 1 (send1) did not do all that it should: payload: its octets are the same without the fault"}},
		{"timeline: [connect, {send: 'hi'}, close]\nfaults: [{at: send1, pad: {hex: ''}}]", nil},
		{"timeline: [connect, {send: 'hi'}, close]\nfaults: [{at: send1, pad: {hex: '0000'}}]", []string{"fault 1 (send1) did not do all that it should: pad: its octets are the same without the fault"}},
		{markers + "faults: [{at: write1/1, marker: {number: 1, reserved: 0}}]", []string{"fault 1 (write1/1) did not do all that it should: marker: it is the same without the fault"}},
		{markers + "faults: [{at: write1/1, marker: {number: 1, reserved: 7}}]", nil},
		{usual + "faults: [{at: send1, wire: {set_flags: ack}}]", []string{"fault 1 (send1) did not do all that it should: set_flags: its packets are the same without the fault"}},
		{usual + "faults: [{at: send1, wire: {clear_flags: [urg]}}]", []string{"fault 1 (send1) did not do all that it should: clear_flags: its packets are the same without the fault"}},
		{usual + "faults: [{at: send1, wire: {clear_flags: ack, set_flags: urg}}]", nil},
		{usual + "faults: [{at: send1, wire: {seq: 4294967296}}]", []string{"fault 1 (send1) did not do all that it should: seq: its packets are the same without the fault"}},
		{sctp + "faults: [{at: send1, set: {sctp.data_sid: 0, iwd.sctp.ssn: +1}}]", []string{"fault 1 (send1) did not do all that it should: set: sctp.data_sid has that value without the fault"}},

		{sctp + "faults: [{at: send1, skip_ssn: 1, split: 9, interleave: true}, {at: write1, crc: bad, set: {sctp.chunk_flags: 0}}]", nil},
		{sctp + "faults: [{at: send1, split: 900}]", []string{"fault 1 (send1) did not do all that it should: split: it has only 30 octets"}},
		{sctp + "faults: [{at: request#2, skip: true}]", []string{"fault 1 (request#2) never struck: request has 1 message"}},

		{"both: {mpa: {rtr: [write]}}\n" + usual + "faults: [{at: rtr.response, skip: true}]", []string{"fault 1 (rtr.response) never struck: nothing answers a ready-to-receive message but a Read"}},

		// Another fault ends the connection before, also in a load.
		{"timeline: [connect, {load: [write 1KiB], size: 10KiB}, close]\nfaults: [{at: 'write1#5', crc: bad}]", nil},
		{usual + "faults: [{at: request, set: {iwarp_mpa.rev: 9}}, {at: send1, crc: bad}]", []string{"- fault 2 (send1) never struck: its connection was over before it was sent"}},

		// What happens at a packet or a time.
		{usual + "capture: {missing: [3, 5000]}", []string{"the missing packet 5000 never comes: there are 15 packets"}},
		{usual + "capture: {skip: 5000}", []string{"a packet after 5000 that are skipped never comes: there are 15 packets"}},
		{usual + "capture: {start: 5s}", []string{"the start of the capture never comes: the last packet is captured after 950µs"}},
		{usual + "capture: {clock_steps: [{at: 1us, by: 1s}, {at: 5s, by: 1s}]}", []string{"the step of the clock never comes: the last packet is captured after 950µs"}},
		{usual + "link: {before: {down: [{at: 1h, for: 1s}]}}", []string{"this time never comes: all is over after 200.1ms"}},
		{usual + "server: {tcp: {shut: {at: 1h, for: 1s}}}", []string{"this time never comes: all is over after 200.1ms"}},
	} {
		s := parse(t, tt.src+"\n")
		if d := cmp.Diff(tt.want, missed(t, s, false)); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.src, d)
		}
		if clean := missed(t, s, true); s.HasFaults() && len(clean) > 0 {
			t.Errorf("%s: the clean trace misses %q", tt.src, clean)
		}
	}
}

// TestMissed_Chance holds that a packet that comes or not by chance is told as such.
func TestMissed_Chance(t *testing.T) {
	s := parse(t, "link: {before: {loss: 1%}}\ncapture: {missing: 5000}\n")
	st, err := synth.Run(io.Discard, s.Script(false))
	if err != nil || len(st.Missed) != 1 || !st.Missed[0].Chance {
		t.Errorf("%+v, %v", st.Missed, err)
	}
}

// TestMissed_Builtin holds that each fault of each built-in scenario strikes.
func TestMissed_Builtin(t *testing.T) {
	for _, s := range Builtin() {
		for _, clean := range []bool{false, true} {
			if what := missed(t, s, clean); len(what) > 0 {
				t.Errorf("%s, clean %t: %q", s.Name, clean, what)
			}
		}
	}
}

// TestUndone holds that messages that are never sent are told, and those that are are not.
func TestUndone(t *testing.T) {
	const usual = "timeline: [connect, send 10, close]\n"
	for _, tt := range []struct{ src, want string }{
		{usual, ""},
		{"server: {mpa: {reject: true}}\n" + usual, "send1 was not sent: the connection was rejected"},
		{"server: {mpa: {revision: 1}}\n" + usual, "send1 was not sent: the startup did not come to its end"},
		{"timeline: [connect, server send 10, close]", "send1 was not sent: the server may send nothing before the other side has"},
		{"client: {mpa: {ord: 0}}\ntimeline: [connect, read 10, close]", "read1 was not sent: nothing let it go on; the depths of requests (ird, ord) or the link may be why"},
		{"timeline: [connect, {together: [read 64KiB, reset]}]", "read1 was not answered: the connection was over before"},
		{"timeline: [connect, {write: 10, to: {offset: 2GiB}}, wait 1ms, send 5]", "send1 was not sent: the connection was over before"},
		{
			"timeline: [connect, {parallel: [[write 4MiB], [wait 1ms, {send: 8, from: server}, {terminate: 0/2/06, from: server}]]}]",
			"write1 was sent in part, 720000 of 4194304 octets: the connection was over before its end",
		},
		{
			"timeline: [connect, {parallel: [[read 4MiB], [wait 60us, server reset]]}]",
			"read1 was not answered: the connection was over before",
		},
		// A Terminate is the answer.
		{"timeline: [connect, {read: 10, from_memory: {offset: 2GiB}}]", ""},
	} {
		st, err := synth.Run(io.Discard, parse(t, tt.src).Script(false))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(st.Undone) > 0 {
			got = st.Undone[0].What
		}
		if got != tt.want || len(st.Undone) > 1 || got != "" && st.Undone[0].Line == 0 {
			t.Errorf("%s: %+v, want %q", tt.src, st.Undone, tt.want)
		}
	}
}

// TestStalls holds that a step that could not end is told, with what it waited for and since when.
func TestStalls(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"timeline: [connect, send 10, close]", ""},
		{
			"timeline: [connect, server send 10, close]",
			"this step did not come to its end: from 500µs on it waited for send1, which was not sent: the server may send nothing before the other side has",
		},
		{ // what comes later lets it go on, so that it is not left undone
			"timeline: [connect, server send 10, send 10, close]",
			"this step did not come to its end: from 500µs on it waited for send1, which was not sent: the server may send nothing before the other side has",
		},
		{
			"both: {mpa: {ird: 0, ord: 0}}\ntimeline: [connect, read 10, close]",
			"this step did not come to its end: from 500µs on it waited for read1, which was not sent: nothing let it go on; the depths of requests (ird, ord) or the link may be why",
		},
	} {
		st, err := synth.Run(io.Discard, parse(t, tt.src+"\n").Script(false))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(st.Stalls) > 0 {
			got = st.Stalls[0].What
		}
		if got != tt.want || len(st.Stalls) != st.Stalled || got != "" && st.Stalls[0].Line == 0 {
			t.Errorf("%s: %+v, want %q", tt.src, st.Stalls, tt.want)
		}
	}
}

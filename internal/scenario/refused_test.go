package scenario

import (
	"errors"
	"testing"
)

// TestParse_WithoutEffect holds that what would have no effect is refused, and that what may have
// been meant is named.
func TestParse_WithoutEffect(t *testing.T) {
	const (
		sctp = "transport: sctp\n"
		none = " has no meaning here: no connection is over "
	)
	for _, tt := range []struct{ src, want string }{
		{sctp + "client: {tcp: {mss: 500}}", `"tcp"` + none + "TCP"},
		{sctp + "faults: [{at: send1, wire: {flip: 3}}]", `"flip"` + none + "TCP"},
		{sctp + "faults: [{at: send1, wire: {seq: 3}}]", `"seq"` + none + "TCP"},
		{sctp + "faults: [{at: send1, wire: {clear_flags: psh}}]", `"clear_flags"` + none + "TCP"},
		{sctp + "faults: [{at: send1, crc: no-markers}]", `"no-markers"` + none + "TCP"},
		{sctp + "faults: [{at: send1, join: true}]", `"join"` + none + "TCP"},
		{sctp + "faults: [{at: rtr, skip: true}]", `"rtr"` + none + "TCP"},
		{sctp + "faults: [{by: client, ignores: rtr}]", `"rtr"` + none + "TCP"},
		{"faults: [{by: client, ignores: [errors, end]}]", `"end"` + none + "SCTP"},
		{"faults: [{at: end, skip: true}]", `"end"` + none + "SCTP"},
		{"faults: [{at: send1, split: 5}]", `"split"` + none + "SCTP"},
		{"faults: [{at: send1, skip_ssn: 5}]", `"skip_ssn"` + none + "SCTP"},
		{"connections: {a: {association: z}}", "association has no meaning here: connection a is over TCP"},
		{"connections: {a: {stream: 3}}", "stream has no meaning here: connection a is over TCP"},
		{"capture: {clock_offset: 5ms}", "clock_offset is of the second interface, and there is one: interfaces: per-side makes two"},
		{"capture: {start: 5ms, stop: 5ms}", "the capture stops before it starts"},
		{"faults: [{by: server, ignores: []}]", "a fault that does nothing"},
		{"faults: [{by: server, settings: {}}]", "a fault that does nothing"},
		{"faults: [{at: send1, crc: right}]", "a fault that does nothing"},
		{"faults: [{at: send1, skip: false}]", "a fault that does nothing"},
		{"faults: [{at: send1, wire: {times: 3}}]", "a fault that does nothing"},
		{"faults: [{at: send1, grid: true, repeat: 1}]", "grid is of octets before or after the PDU, and there are none"},
		{"faults: [{at: send1, skip: true, crc: bad}]", "with skip nothing is sent to which another fault could be done: leave one of them out"},
		{"faults: [{at: send1, set: {iwarp_ddp.msn: five}}]", `iwarp_ddp.msn takes a number such as 5, 0xff or +1, or {hex: ..}, not "five"`},
		{"faults: [{at: send1, set: {msn: 5}}]", `no header has a field "msn", did you mean "iwarp_ddp.msn"?`},
		{"faults: [{at: send1, crc: nono}]", `unknown CRC "nono", did you mean "none"?`},
		{"faults: [{at: send1, set: {iwarp_ddp.msn: +0}}]", "a change of 0 changes nothing"},
		{"faults: [{at: send1, wire: {lose: after, ack: 0}}]", "a change of 0 changes nothing"},
		{"faults: [{at: send1, wire: {delay: 0s}}]", "a delay of 0 changes nothing"},
		{"faults: [{at: send1, extend: ''}]", "expected at least one octet"},
		{"faults: [{at: send1, marker: {number: 1, shift: 0}}]", "a fault that does nothing: a marker takes drop, shift, pointer or reserved"},
		{"faults: [{at: send1, marker: {drop: true, pointer: 4}}]", "a marker that is dropped cannot be changed too: leave drop or the others out"},
		{"faults: [{at: send1, octets: {size: 30}, payload: 'x'}]", "octets are the whole PDU, so that payload has no effect: leave one of them out"},
		{"faults: [{at: send1, octets: {size: 30}, set: {iwarp_ddp.msn: 5}}]", "octets are the whole PDU, so that set: iwarp_ddp.msn has no effect: leave one of them out"},
		{"faults: [{by: both, settings: {mpa: {ird: 16, dialect: enhanced, rtr: []}}}]", "a fault that changes nothing: its side has these habits and settings without it"},
		{"faults: [{by: client, ignores: close}, {by: client, ignores: [close]}]", "a fault that changes nothing: its side has these habits and settings without it"},
		{"rules: [DDP-TO-O1]", `unknown rule "DDP-TO-O1", did you mean "DDP-TO-01"?`},
		{"client: {mpa: {private: {nvme: {command: {name: Reed}}}}}", `unknown NVMe command "Reed", did you mean "Read"?`},
		{"client: {mpa: {private: {nvme: {command: {cid: 1}}}}}", "name is missing: the name of the NVMe command"},
		{"client: {mpa: {private: {iser: {pdu: {name: SCSI comand}}}}}", `unknown iSCSI PDU "SCSI comand", did you mean "SCSI Command"?`},
		{"client: {mpa: {private: {iser: {pdu: {name: SCSI Command, scsi: READ(11)}}}}}", `unknown SCSI command "READ(11)", did you mean "Read(10)"?`},
	} {
		_, err := Parse("t.yaml", []byte(head+tt.src+"\ntimeline: [connect, send 10, close]\n"))
		var e *Error
		if !errors.As(err, &e) || e.Msg != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.src, err, tt.want)
		}
	}
}

// TestParse_InvalidateByName: a place in memory is the name of a region too.
func TestParse_InvalidateByName(t *testing.T) {
	steps := parse(t, "timeline: [connect, {region: {name: buf}}, {send: 5, invalidate: buf}]\n").Script(false).Timeline
	if m := steps[2].Invalidate; m == nil || m.Region != "buf" || m.New {
		t.Errorf("%+v", m)
	}
}

// TestParse_Possible holds that no word is suggested that has a meaning over another transport alone.
func TestParse_Possible(t *testing.T) {
	const steps = ", there are close, cmp_swap, connect, expect, fetch_add, immediate, load, open, packet, parallel, raw, read, region, repeat, reset, response, segment, send, start, stream, terminate, together, wait, write"
	for _, tt := range []struct{ src, want string }{
		{"timeline: [connect, send 10, endd]", `unknown step "endd"` + steps},
		{"timeline: [connect, snd 10]", `unknown step "snd", did you mean "send"?`},
		{"timeline: [connect, contrl 10]", `unknown step "contrl"` + steps},
		{"transport: sctp\ntimeline: [connect, send 10, endd]", `unknown step "endd", did you mean "end"?`},
		{"transport: sctp\ntimeline: [connect, strem 10]", `unknown step "strem"`},
		{"timeline: [connect, close]\nfaults: [{at: endd, skip: true}]", `unknown step "endd", there are reply, request, rtr, terminate`},
		{"transport: sctp\ntimeline: [connect, close]\nfaults: [{at: endd, skip: true}]", `unknown step "endd", did you mean "end"?`},
	} {
		_, err := Parse("t.yaml", []byte(head+tt.src+"\n"))
		var e *Error
		if !errors.As(err, &e) || e.Msg != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.src, err, tt.want)
		}
	}
}

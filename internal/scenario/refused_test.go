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
		{sctp + "faults: [{at: send1, wire: {seq: 3}}]", `"seq"` + none + "TCP"},
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
		{"faults: [{by: clientt, settings: {mpa: {ird: 1}}}]", `unknown side "clientt", did you mean "client"?`},
		{"faults: [{by: client, ignore: [errors]}]", `unknown key "ignore", did you mean "ignores"?`},
		{"faults: [{by: , ignores: [errors]}]", "expected a value, not nothing"},
		{"faults: [{by: client, ignores: [foo]}]", `unknown thing to ignore "foo", there are close, depth, end, errors, order, phase, reject, requests, rtr, startup, terminate`},
		{"faults: [{by: client, settings: {mpa: {irdd: 1}}}]", `unknown key "irdd", did you mean "ird"?`},
		{"faults: [{by: client, on: c9, ignores: errors}]", `unknown connection "c9", did you mean "c1"?`},
		{"faults: [{at: send1, by: client, crc: bad}]", "at is of a fault of a PDU, by of a habit of a side: leave one of them out"},
		{"faults: [{at: send1, crcc: bad}]", `unknown key "crcc", did you mean "crc"?`},
		{"link: {fragment: 60}", "expected a number from 68 to 65535, not 60"},
		{"capture: {only: servr}", `unknown side "servr", did you mean "server"?`},
		{"client: {tcp: {window: 127}}", "a window of 127 octets is always announced as 0: window_scale 7 counts it in units of 128 octets"},
		{"both: {tcp: {window: 70000, window_scale: off}}", "a window of 70000 octets cannot be announced without window_scale: at most 65535"},
		{"server: {tcp: {window_scale: 1, window: 131071}}", "a window of 131071 octets cannot be announced with window_scale 1: at most 131070"},
		{"faults: [{by: client, settings: {tcp: {window: 1}}}]", "a window of 1 octets is always announced as 0: window_scale 7 counts it in units of 128 octets"},
		{"both: {mpa: {private: {size: 65532}}}", "PD_Length cannot announce 65532 octets of private data: at most 65531, as IRD and ORD take 4"},
		{"client: {mpa: {revision: 1, private: {size: 65536}}}", "PD_Length cannot announce 65536 octets of private data: at most 65535"},
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

// TestParse_Limits: what just has room is taken, and so are the defaults as the documentation writes them.
func TestParse_Limits(t *testing.T) {
	for _, src := range []string{
		"client: {tcp: {window: 128}}",
		"both: {tcp: {window_scale: off}}",
		"both: {tcp: {window: 65535, window_scale: off}}",
		"both: {tcp: {window: 100}}\nclient: {tcp: {window_scale: 0}}\nserver: {tcp: {window_scale: off}}",
		"client: {tcp: {window: 100}}\nserver: {tcp: {window_scale: off}}",
		"both: {tcp: {window_scale: 3}}",
		"both: {mpa: {private: {size: 65531}}}",
		"both: {mpa: {revision: 1, private: {size: 65535}}}",
		"link: {fragment: 0}\ncapture: {only: both}",
	} {
		if _, err := Parse("t.yaml", []byte(head+src+"\ntimeline: [connect, send 10, close]\n")); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestParse_Ineffective holds that what has no effect beside something else is refused.
func TestParse_Ineffective(t *testing.T) {
	const (
		usual = "timeline: [connect, send 10, close]\n"
		sctp  = "transport: sctp\n"
		two   = "connections: {a: {transport: sctp}, b: {}}\n"
	)
	for _, tt := range []struct{ src, want string }{
		{"timeline: [connect, {region: {name: a}}, {region: {name: a}}]", `a second region "a" of the server, the first is in line 2: give it another name`},
		{"timeline: [connect, {region: {name: a, stag: 5}}, {region: {name: b, stag: 5}}]", `region "a" of the server has the STag 0x5 too, in line 2: give it another one`},
		{"timeline: [connect, {region: {name: a, stag: 0}}]", "expected a number from 1 to 4294967295, not 0"},
		{"timeline: [connect, {repeat: [{region: {name: a}}], times: 2}]", "a region is registered once, and this step is repeated: put it before the repetition"},
		{"timeline: [connect, {region: {name: a}}, {write: 5, to: {region: a, offset: 5, to: 9}}]", "to is where in memory the place is, so that offset has no effect: leave one of them out"},
		{"timeline: [connect, {response: , to: {stag: 5}, atomic: true}]", "to has no effect: an Atomic Response is untagged; leave it out, or atomic"},
		{"timeline: [connect, {response: 16, atomic: true}]", "the size has no effect: an Atomic Response has 12 octets; leave it out, or atomic"},
		{"timeline: [connect, {packet: {chunks: 'abcd'}}]", `"chunks" has no meaning here: no connection is over SCTP`},
		{sctp + "timeline: [connect, {packet: {flags: fin}}]", `"flags" has no meaning here: no connection is over TCP`},
		{two + "timeline: [{stream: 5, on: a}]", `"stream" has no meaning here: connection a is over SCTP`},
		{two + "timeline: [{parallel: {b: [{control: initiate}]}}]", `"control" has no meaning here: connection b is over TCP`},
		{"connections: {a: {transport: sctp, client: {tcp: {mss: 500}}}, b: {}}\n" + usual, `"tcp" has no meaning here: connection a is over SCTP`},
		{sctp + "connections: {a: {}, b: {client: {sctp: {streams: 4}}}}\n" + usual, "sctp has no effect here: connection b is on the association of a, whose settings count"},
		{sctp + "connections: {a: {stream: 20}}\n" + usual, "connection a has stream 20, and the association has 16, from 0: both: {sctp: {streams: 21}} makes room"},
		{"both: {mpa: {revision: 1, rtr: send}}\n" + usual, "rtr has no effect without the enhanced startup: leave it out, or revision and dialect"},
		{"both: {mpa: {dialect: plain, peer_to_peer: true}}\n" + usual, "peer_to_peer has no effect without the enhanced startup: leave it out, or revision and dialect"},
		{"client: {mpa: {reject: true}}\n" + usual, "it has no effect here: this side begins the startup, and the other one answers"},
		{"link: {before: {reorder_by: 5ms}}\n" + usual, "reorder_by has no effect: no packet is reordered; reorder: 1% says how many are"},
		{"link: {tunnel: {kind: mpls, control_word: true}}\n" + usual, "control_word is for an Ethernet frame, and the tunnel carries IP: ethernet: true has it carry one"},
		{"capture: {link: raw}\nclient: {vlan: 5}\n" + usual, "vlan has no effect: the capture is one of packets without a link layer; link: ethernet or sll has one"},
		{"capture: {link: 'null'}\nconnections: {a: {server: {mac: '02:00:00:00:00:09'}}}\n" + usual, "mac has no effect: the capture is one of packets without a link layer; link: ethernet or sll has one"},

		{"timeline: [connect, {region: {name: a}}, {region: {name: a, of: client}}, {region: {name: b, stag: 5}}, {region: {name: b, of: client, stag: 5}}]", ""},
		{"connections: [a, b]\ntimeline: [{region: {name: a}}, {region: {name: a}, on: b}, connect]", ""},
		{"timeline: [connect, {response: , atomic: true}, {response: 16, atomic: false, to: {stag: 5}}]", ""},
		{"timeline: [connect, {region: {name: a}, only: clean}, {region: {name: a, size: 5}, only: faulty}]", ""},
		{"timeline: [connect, {region: {name: a, stag: 5}}, {send: 5, invalidate: a}, {region: {name: a, stag: 5}}, close]", ""},
		{"server: {mpa: {reject: true}}\nconnections: {a: {}, b: {initiator: server}}\n" + usual, ""},
		{"both: {mpa: {dialect: rtr2007, peer_to_peer: true}}\n" + usual, ""},
		{"both: {mpa: {rtr: send}}\nserver: {mpa: {revision: 1}}\n" + usual, ""},
		{"link: {before: {reorder_by: 5ms}, from_client: {before: {reorder: 1%}}}\n" + usual, ""},
		{"link: {tunnel: [ip, ip, ip, ip, ip, ip, ip, ip, ip, ip]}\n" + usual, "more than 8 tunnel headers, the most that are decoded: each MPLS label is one, and ERSPAN II and III have one of GRE besides their own"},
		{"link: {tunnel: [erspan, erspan3, {kind: mpls, labels: [1, 2, 3, 4], ethernet: true}, ip]}\n" + usual, "more than 8 tunnel headers, the most that are decoded: each MPLS label is one, and ERSPAN II and III have one of GRE besides their own"},
		{"link: {tunnel: [erspan, erspan1, {kind: mpls, labels: [1, 2, 3, 4], ethernet: true}, ip]}\n" + usual, ""},
		{"link: {tunnel: {kind: mpls, labels: []}}\n" + usual, "expected the labels, the top one first"},
		{"link: {tunnel: vxlan}\ncapture: {link: raw}\nboth: {mac: '02:00:00:00:00:09'}\n" + usual, ""},
		{"capture: {link: sll}\nboth: {vlan: 5}\n" + usual, ""},
	} {
		_, err := Parse("t.yaml", []byte(head+tt.src+"\n"))
		var e *Error
		if is := errors.As(err, &e); is != (tt.want != "") || is && (e.Msg != tt.want || e.Line < 2) {
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

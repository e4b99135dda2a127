package scenario

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

func parse(t *testing.T, src string) *Scenario {
	t.Helper()
	if !strings.Contains(src, "timeline:") {
		src += "timeline: [connect]\n"
	}
	s, err := Parse("t.yaml", []byte(head+src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScript_Defaults(t *testing.T) {
	s := parse(t, "").Script(false)
	if len(s.Connections) != 1 || s.Connections[0].Name != "c1" || s.Seed != 1 || s.Link.Seed != 1 || s.Capture.Seed != 1 {
		t.Fatalf("%+v", s)
	}
	for side, h := range s.Connections[0].Hosts {
		want := synth.Host{
			Addr: netip.MustParseAddrPort([2]string{"10.0.0.1:40000", "10.0.0.2:5001"}[side]),
			MAC:  [6]byte{2, 0, 0, 0, 0, byte(side + 1)}, TTL: 64,
			TCP: tcp.Config{
				MSS: 1460, Window: 1 << 20, Scale: true, WindowScale: 7, SACK: true, Packing: tcp.Aligned,
				DelayedAck: 40e6, RTO: 200e6, Retries: 6,
			},
			RNIC: rnic.Config{Startup: startup.Config{Rev: 2, Dialect: startup.Enhanced, CRC: true, IRD: 16, ORD: 16, Strict: true}},
		}
		opts := []cmp.Option{
			cmpopts.IgnoreFields(tcp.Config{}, "ISN", "TSBase"), cmpopts.IgnoreFields(rnic.Config{}, "Sent"),
			cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
		}
		if d := cmp.Diff(want, h, opts...); d != "" {
			t.Errorf("side %d: -want +got\n%s", side, d)
		}
	}
	line := link.Line{Delay: 50_000, ReorderBy: 100_000}
	if d := cmp.Diff([2][2]link.Line{{line, line}, {line, line}}, [2][2]link.Line{s.Link.Before, s.Link.After}); d != "" {
		t.Error(d)
	}
}

func TestScript_StartupImplies(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want startup.Config
	}{
		{"{revision: 1}", startup.Config{Rev: 1, Dialect: startup.Plain, CRC: true}},
		{"{revision: 1, dialect: rtr2007}", startup.Config{Rev: 1, Dialect: startup.RTR2007, CRC: true}},
		{"{dialect: rtr2007}", startup.Config{Rev: 1, Dialect: startup.RTR2007, CRC: true}},
		{"{dialect: plain}", startup.Config{Rev: 1, Dialect: startup.Plain, CRC: true}},
		{"{dialect: draft01}", startup.Config{Rev: 2, Dialect: startup.Draft01, CRC: true}},
		{"{revision: 0}", startup.Config{Rev: 0, Dialect: startup.Plain, CRC: true, Markers: true}},
		{"{revision: 0, markers: false}", startup.Config{Rev: 0, Dialect: startup.Plain, CRC: true}},
		{"{crc: false}", startup.Config{Rev: 2, Dialect: startup.Enhanced}},
		{"{rtr: [read, send]}", startup.Config{
			Rev: 2, Dialect: startup.Enhanced, CRC: true, PeerToPeer: true, RTR: mpa.RTRRead | mpa.RTRSend,
		}},
		{"{rtr: write, peer_to_peer: false}", startup.Config{Rev: 2, Dialect: startup.Enhanced, CRC: true, RTR: mpa.RTRWrite}},
	} {
		s := parse(t, "both: {mpa: "+tt.src+"}\n").Script(false)
		tt.want.IRD, tt.want.ORD, tt.want.Strict = 16, 16, true
		for _, h := range s.Connections[0].Hosts {
			if d := cmp.Diff(tt.want, h.RNIC.Startup); d != "" {
				t.Errorf("%s: -want +got\n%s", tt.src, d)
			}
		}
	}
}

func TestScript_LaterSettingsWin(t *testing.T) {
	s := parse(t, `
both: {ttl: 10, tcp: {window: 1MiB}, mpa: {ird: 4}}
server: {ttl: 20, vlan: [100, 7]}
connections: {a: {}, b: {server: {ttl: 30}, initiator: server}}
link: {mtu: 9000}
timeline: [connect, {write: 1}]
faults: [{by: server, on: b, ignores: [depth, close], settings: {mpa: {ird: 5}}}]
`)
	for _, clean := range []bool{false, true} {
		got := s.Script(clean)
		var ttl, ird []int
		for _, c := range got.Connections {
			for _, h := range c.Hosts {
				ttl, ird = append(ttl, int(h.TTL)), append(ird, int(h.RNIC.Startup.IRD))
				if h.TCP.MSS != 8960 {
					t.Errorf("MSS %d", h.TCP.MSS)
				}
			}
		}
		last, ignore := 5, rnic.IgnoreDepth|rnic.IgnoreClose
		if clean {
			last, ignore = 4, 0
		}
		if d := cmp.Diff([]int{10, 20, 10, 30}, ttl); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]int{4, 4, 4, last}, ird); d != "" {
			t.Error(d)
		}
		b := got.Connections[1]
		if b.Initiator != synth.Server || b.Hosts[1].RNIC.Ignore != ignore || b.Hosts[0].Addr.Port() != 40001 {
			t.Errorf("%+v", b)
		}
		if d := cmp.Diff([]packet.VLAN{{TPID: 0x88a8, TCI: 100}, {TCI: 7}}, b.Hosts[1].VLANs); d != "" {
			t.Error(d)
		}
	}
}

func TestScript_IPv6(t *testing.T) {
	s := parse(t, "client: {address: \"[fd00::9]:77\"}\nconnections: 2\n").Script(false)
	h := s.Connections[1].Hosts
	if h[0].Addr.String() != "[fd00::9]:78" || h[1].Addr.String() != "[fd00::2]:5001" || h[0].TCP.MSS != 1440 {
		t.Errorf("%v %v, MSS %d", h[0].Addr, h[1].Addr, h[0].TCP.MSS)
	}
}

func TestScript_Link(t *testing.T) {
	l := parse(t, `
link:
  from_server: {after: {loss: 0.5, down: [{at: 5ms, for: 2s}, {at: 3s, for: 1s}]}}
  before: {loss: 1%, rate: 1Gbps}
  delay: 1ms
`).Script(false).Link
	before := link.Line{Delay: 1e6, ReorderBy: 1e5, Loss: 0.01, Rate: 1e9}
	after := link.Line{Delay: 1e6, ReorderBy: 1e5}
	lossy := after
	lossy.Loss, lossy.Down = 0.5, []link.Span{{At: 5e6, For: 2e9}, {At: 3e9, For: 1e9}}
	if d := cmp.Diff([2][2]link.Line{{before, before}, {after, lossy}}, [2][2]link.Line{l.Before, l.After}); d != "" {
		t.Error(d)
	}
}

func TestScript_Shut(t *testing.T) {
	h := parse(t, "server: {tcp: {shut: {at: 5ms, for: 2s}}}\n").Script(false).Connections[0].Hosts
	if d := cmp.Diff([2][]tcp.Shut{nil, {{From: 5e6, To: 2005e6}}}, [2][]tcp.Shut{h[0].TCP.Shut, h[1].TCP.Shut}); d != "" {
		t.Error(d)
	}
}

func TestScript_Capture(t *testing.T) {
	c := parse(t, `
capture:
  {format: pcapng, time: micro, snaplen: 128, skip: 10, stop: 1s, only: server, drop: 1%, missing: [3, 7],
   interfaces: per-side, merge: true, clock_steps: [{at: 5ms, by: -1s}], offload: [client], link: null}
`).Script(false).Capture
	want := link.Capture{
		Format: c.Format, Micro: true, Snaplen: 128, Skip: 10, Stop: 1e9, Only: link.FromServer, Drop: 0.01, Missing: []int{3, 7},
		PerSide: true, Merge: true, Steps: []link.Step{{At: 5e6, By: -1e9}}, Offload: [2]bool{true, false}, Link: packet.LinkNull,
		Epoch: c.Epoch, Seed: 1, Comment: "t.yaml, seed 1: a test",
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
}

// TestSteps_OneLineAndMapping holds that both forms of a step mean the same.
func TestSteps_OneLineAndMapping(t *testing.T) {
	for _, tt := range [][2]string{
		{"write 64KiB", "{write: 65536}"},
		{"read 4KiB x16", "{read: 4KiB, times: 16}"},
		{"server send 100", "{send: {size: 100}, from: server}"},
		{"send 16 solicited with invalidate", "{send: 16, solicited: true, invalidate: true}"},
		{"send with invalidate", "{send: 64, invalidate: true}"},
		{"fetch_add", "{fetch_add: 1}"},
		{"fetch_add 0x5", "{fetch_add: 5, mask: 0}"},
		{"cmp_swap", "{cmp_swap: {compare: 0, swap: 1}}"},
		{"terminate 2/0/06", "{terminate: 2/0/06}"},
		{"wait 5ms", "{wait: 5ms}"},
		{"server close", "{close: , from: server}"},
		{"wait 1ms x3", "{repeat: [{wait: 1ms}], times: 3}"},
		{"immediate 7", "{immediate: {hex: 00 00 00 00 00 00 00 07}}"},
	} {
		a := parse(t, "timeline: [ connect, \""+tt[0]+"\" ]\n").Script(false).Timeline[1:]
		b := parse(t, "timeline: [ {connect: }, "+tt[1]+" ]\n").Script(false).Timeline[1:]
		if d := cmp.Diff(a, b, cmpopts.IgnoreFields(synth.Place{}, "Column")); d != "" {
			t.Errorf("%s: -line +mapping\n%s", tt[0], d)
		}
	}
}

func TestSteps(t *testing.T) {
	s := parse(t, `
connections: [a, b]
timeline:
  - connect
  - {connect: , on: b}
  - {region: {name: buf, stag: 0x100, to: 0x1000, size: 64KiB, access: [write]}}
  - {write: "hello", to: {region: buf, offset: 16}, as: big}
  - write 5
  - {together: [server send 1, {read: 9, into: {stag: 7, to: 8}}], on: b}
  - {parallel: {a: [send 1], b: [close]}}
  - {load: [send 2], size: 1MiB}
  - {packet: {seq: -1, flags: [fin, ack], payload: {hex: ff}, deliver: true}}
  - {segment: {repeat: ab, count: 3}}
`).Script(false)
	stag, to := uint32(7), uint64(8)
	want := []synth.Step{
		{Verb: synth.Register, Name: "buf", From: synth.Server, Region: rnic.Region{
			Address: rnic.Address{STag: 0x100, TO: 0x1000}, Size: 64 << 10, Write: true,
		}},
		{Verb: synth.Post, Name: "big", Work: rnic.Work{Op: rnic.OpWrite, Size: 5, Data: []byte("hello")}, Remote: synth.Memory{Region: "buf", Offset: 16}},
		{Verb: synth.Post, Name: "write2", Work: rnic.Work{Op: rnic.OpWrite, Size: 5}},
		{Verb: synth.Together, Conn: "b", Steps: []synth.Step{
			{Verb: synth.Post, Name: "send1", Conn: "b", From: synth.Server, Work: rnic.Work{Op: rnic.OpSend, Size: 1}},
			{Verb: synth.Post, Name: "read1", Conn: "b", Work: rnic.Work{Op: rnic.OpRead, Size: 9}, Local: synth.Memory{STag: &stag, TO: &to}},
		}},
		{Verb: synth.Parallel, Branches: [][]synth.Step{
			{{Verb: synth.Post, Name: "send2", Conn: "a", Work: rnic.Work{Op: rnic.OpSend, Size: 1}}},
			{{Verb: synth.Close, Conn: "b"}},
		}},
		{Verb: synth.Load, Size: 1 << 20, Steps: []synth.Step{
			{Verb: synth.Post, Name: "send3", Work: rnic.Work{Op: rnic.OpSend, Size: 2}},
		}},
		{Verb: synth.Packet, Craft: synth.Craft{Seq: -1, Flags: packet.FlagFIN | packet.FlagACK, Payload: []byte{0xff}, Deliver: true}},
		{Verb: synth.Post, Name: "segment1", Work: rnic.Work{Op: rnic.OpSegment, Data: []byte{0xab, 0xab, 0xab}}},
	}
	if d := cmp.Diff(want, s.Timeline[2:], cmpopts.IgnoreTypes(synth.Place{})); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestSteps_Only(t *testing.T) {
	s := parse(t, "timeline: [connect, {write: 1, only: faulty}, {write: 2, only: clean}, {write: 3}]\n")
	if !s.HasFaults() {
		t.Error("no faults")
	}
	names := func(clean bool) (out []string) {
		for _, st := range s.Script(clean).Timeline[1:] {
			out = append(out, st.Name)
		}
		return out
	}
	if d := cmp.Diff([][]string{{"write1", "write3"}, {"write2", "write3"}}, [][]string{names(false), names(true)}); d != "" {
		t.Error(d)
	}
}

func TestFaults(t *testing.T) {
	s := parse(t, `
timeline: [connect, read 9 x3, write 9]
faults:
  - {at: read1#2.response/last, from: server, set: {iwarp_ddp.tagged_offset: -1, iwarp_ddp.dv: "2"}, crc: stale}
  - {at: write1/3, crc: 0x01234567, pad: {hex: ""}, cut: -4, marker: {number: 1, shift: 4, pointer: 0}}
  - {at: request, from: client, crc: none, markers: [{drop: true}, {reserved: 1}], join: true, hold: 2}
  - {at: write1, wire: {times: all, lose: after, flip: [3], set_flags: [fin], ack: -10, delay: 1ms}}
`)
	conn := s.Script(false).Connections[0]
	fates := cmpopts.IgnoreTypes((*pdu.Fate)(nil))
	read := pdu.Fault{
		At:  pdu.Selector{Message: "read1.response", Number: 2, Segment: -1},
		Set: []pdu.Value{{Name: "iwarp_ddp.tagged_offset", Number: math.MaxUint64, Add: true}, {Name: "iwarp_ddp.dv", Number: 2}},
		CRC: pdu.CRC{Mode: pdu.CRCStale},
	}
	write := pdu.Fault{
		At: pdu.Selector{Message: "write1", Segment: 3}, CRC: pdu.CRC{Mode: pdu.CRCValue, Value: 0x01234567},
		Pad: []byte{}, Cut: -4, Markers: []pdu.Marker{{Number: 1, Shift: 4, SetPointer: true}},
	}
	request := pdu.Fault{
		At: pdu.Selector{Message: "request"}, NoCRC: true, Join: true, Hold: 2,
		Markers: []pdu.Marker{{Drop: true}, {Reserved: 1, SetReserved: true}},
	}
	if d := cmp.Diff([]pdu.Fault{write, request}, conn.Hosts[synth.Client].RNIC.Faults, fates); d != "" {
		t.Errorf("client: -want +got\n%s", d)
	}
	if d := cmp.Diff([]pdu.Fault{read, write}, conn.Hosts[synth.Server].RNIC.Faults, fates); d != "" {
		t.Errorf("server: -want +got\n%s", d)
	}
	wire := []synth.Wire{{
		At: pdu.Selector{Message: "write1"}, Times: -1, Orders: link.Orders{LoseAfter: true, Delay: 1e6},
		Flip: []int{3}, Ack: -10, SetFlags: packet.FlagFIN,
	}}
	if d := cmp.Diff([2][]synth.Wire{wire, wire}, conn.Wire, fates); d != "" {
		t.Errorf("wire: -want +got\n%s", d)
	}
	clean := s.Script(true).Connections[0]
	if len(clean.Hosts[0].RNIC.Faults)+len(clean.Hosts[1].RNIC.Faults)+len(clean.Wire[0])+len(clean.Wire[1]) != 0 {
		t.Errorf("the clean one has faults: %+v", clean)
	}
}

func TestScenario_WithSeed(t *testing.T) {
	s := parse(t, "seed: 5\n")
	a, b := s.Script(false), s.WithSeed(6).Script(false)
	if a.Seed != 5 || b.Seed != 6 || a.Connections[0].Hosts[0].TCP.ISN == b.Connections[0].Hosts[0].TCP.ISN {
		t.Errorf("seeds %d and %d, ISN %#x", a.Seed, b.Seed, b.Connections[0].Hosts[0].TCP.ISN)
	}
	if d := cmp.Diff(a.Timeline, s.Script(false).Timeline); d != "" {
		t.Error(d)
	}
}

package startup_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// talk runs the startup of two ends, in pieces of at most n octets, and returns
// the machines and what went over the line.
func talk(t *testing.T, ini, rsp startup.Config, n int) (i, r *startup.Machine, frames []mpa.Startup) {
	t.Helper()
	ini.Initiator, rsp.Initiator = true, false
	i, r = startup.New(ini), startup.New(rsp)
	request := i.Start()
	frames = append(frames, request)
	reply := hand(t, r, request.Append(nil), n)
	if reply == nil {
		return i, r, frames
	}
	frames = append(frames, *reply)
	if third := hand(t, i, reply.Append(nil), n); third != nil {
		frames = append(frames, *third)
	}
	return i, r, frames
}

// hand hands octets to a machine in pieces. What follows a frame is not taken.
func hand(t *testing.T, m *startup.Machine, b []byte, n int) (answer *mpa.Startup) {
	t.Helper()
	b = append(b, "FPDU"...)
	for len(b) > 4 && m.State() <= startup.Waiting {
		k := min(n, len(b))
		took, a := m.Receive(b[:k])
		if a != nil {
			answer = a
		}
		if took == 0 {
			t.Fatal("it takes nothing and waits")
		}
		b = b[took:]
	}
	if m.State() == startup.Done && string(b) != "FPDU" {
		t.Fatalf("%q is left behind the frame", b)
	}
	return answer
}

func flags(s mpa.Startup) string { return hex.EncodeToString(s.Append(nil)[16:]) }

// terms are a result without the frames.
func terms(r startup.Result) startup.Result {
	r.Request, r.Reply = mpa.Startup{}, mpa.Startup{}
	return r
}

const all = mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead

func TestMachine_Patterns(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ini, rsp startup.Config
		frames   []string // behind the key
		state    startup.State
		want     startup.Result // of the initiator, without the frames
		server   startup.Result // of the responder, likewise
		term     uint8
	}{
		{
			"revision 1",
			startup.Config{Rev: 1, CRC: true, IRD: 1, ORD: 2},
			startup.Config{Rev: 1, Markers: true, IRD: 3, ORD: 4},
			[]string{"40010000", "c0010000"},
			startup.Done,
			startup.Result{SendMarkers: true, CRC: true, Version: 1, IRD: 1, ORD: 2},
			startup.Result{RecvMarkers: true, CRC: true, Version: 1, IRD: 3, ORD: 4},
			0,
		},
		{
			"private data",
			startup.Config{Rev: 1, Private: []byte("hi")},
			startup.Config{Rev: 1, Private: []byte("you")},
			[]string{"000100026869", "00010003796f75"},
			startup.Done,
			startup.Result{Version: 1},
			startup.Result{Version: 1},
			0,
		},
		{
			"revision 0",
			startup.Config{Rev: 0},
			startup.Config{Rev: 0},
			[]string{"c0000000", "c0000000"},
			startup.Done,
			startup.Result{SendMarkers: true, RecvMarkers: true, CRC: true},
			startup.Result{SendMarkers: true, RecvMarkers: true, CRC: true},
			0,
		},
		{
			"revision 1 and an RDMA Consortium's",
			startup.Config{Rev: 1},
			startup.Config{Rev: 0},
			[]string{"00010000", "c0000000"},
			startup.Done,
			startup.Result{SendMarkers: true, RecvMarkers: true, CRC: true},
			startup.Result{SendMarkers: true, RecvMarkers: true, CRC: true},
			0,
		},
		{
			"reject",
			startup.Config{Rev: 1},
			startup.Config{Rev: 1, Reject: true, Private: []byte("no")},
			[]string{"00010000", "200100026e6f"},
			startup.Rejected,
			startup.Result{Version: 1},
			startup.Result{Version: 1},
			0,
		},
		{
			"enhanced, client and server",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, CRC: true, IRD: 4, ORD: 8},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 6, ORD: 16},
			[]string{"5002000400040008", "5002000400060004"},
			startup.Done,
			startup.Result{CRC: true, Version: 1, IRD: 4, ORD: 6},
			startup.Result{CRC: true, Version: 1, IRD: 6, ORD: 4},
			0,
		},
		{
			"depths left open",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 0x3fff, ORD: 0x3fff},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 6, ORD: 16},
			[]string{"100200043fff3fff", "100200043fff3fff"},
			startup.Done,
			startup.Result{Version: 1, IRD: 0x3fff, ORD: 0x3fff},
			startup.Result{Version: 1, IRD: 6, ORD: 16},
			0,
		},
		{
			"peer to peer",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 1, ORD: 1, PeerToPeer: true, RTR: all},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 1, ORD: 1, PeerToPeer: true, RTR: mpa.RTRWrite | mpa.RTRRead},
			[]string{"10020004c001c001", "100200048001c001"},
			startup.Done,
			startup.Result{Version: 1, IRD: 1, ORD: 1, RTR: mpa.RTRRead, RTRs: mpa.RTRWrite | mpa.RTRRead},
			startup.Result{Version: 1, IRD: 1, ORD: 1, RTRs: mpa.RTRWrite | mpa.RTRRead},
			0,
		},
		{
			"no indication in common",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, PeerToPeer: true, RTR: mpa.RTRWrite},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, PeerToPeer: true, RTR: mpa.RTRRead},
			[]string{"1002000480008000", "1002000480014000"},
			startup.Done,
			startup.Result{Version: 1, RTRs: mpa.RTRRead},
			startup.Result{Version: 1, IRD: 1, RTRs: mpa.RTRRead},
			7,
		},
		{
			"draft -01",
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 2, ORD: 2, RTR: mpa.RTRSend | mpa.RTRWrite},
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 2, ORD: 2, RTR: mpa.RTRWrite},
			[]string{"10020004c0020002", "1002000440020002"},
			startup.Done,
			startup.Result{Version: 1, IRD: 2, ORD: 2, RTR: mpa.RTRWrite, RTRs: mpa.RTRWrite},
			startup.Result{Version: 1, IRD: 2, ORD: 2, RTRs: mpa.RTRWrite},
			0,
		},
		{
			"2007",
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true},
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true},
			[]string{"10010000", "10010000", "00010000"},
			startup.Done,
			startup.Result{Version: 1, Frame: true},
			startup.Result{Version: 1, Frame: true},
			0,
		},
		{
			"2007, not awaited",
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true},
			startup.Config{Rev: 1},
			[]string{"10010000", "00010000"},
			startup.Done,
			startup.Result{Version: 1},
			startup.Result{Version: 1},
			0,
		},
		{
			"revision 2 and a server of revision 1",
			startup.Config{Rev: 2, Dialect: startup.Enhanced},
			startup.Config{Rev: 1, Strict: true},
			[]string{"1002000400000000"},
			startup.Waiting,
			startup.Result{},
			startup.Result{},
			0,
		},
		{
			"a server that only markers are sent to",
			startup.Config{Rev: 1, Markers: true},
			startup.Config{Rev: 1, CRC: true},
			[]string{"80010000", "40010000"},
			startup.Done,
			startup.Result{RecvMarkers: true, CRC: true, Version: 1},
			startup.Result{SendMarkers: true, CRC: true, Version: 1},
			0,
		},
		{
			"an RDMA Consortium's and revision 1",
			startup.Config{Rev: 0, Strict: true},
			startup.Config{Rev: 1, Strict: true},
			[]string{"c0000000", "c0000000"},
			startup.Done,
			startup.Result{SendMarkers: true, RecvMarkers: true, CRC: true},
			startup.Result{SendMarkers: true, RecvMarkers: true, CRC: true},
			0,
		},
		{
			"revision 2 without the word",
			startup.Config{Rev: 2, Strict: true, CRC: true, IRD: 1, ORD: 1},
			startup.Config{Rev: 2, Strict: true, Dialect: startup.Enhanced, IRD: 2, ORD: 2, RTR: all},
			[]string{"40020000", "40020000"},
			startup.Done,
			startup.Result{CRC: true, Version: 1, IRD: 1, ORD: 1},
			startup.Result{CRC: true, Version: 1, IRD: 2, ORD: 2},
			0,
		},
		{
			"revision 1 and an enhanced server",
			startup.Config{Rev: 1, Strict: true},
			startup.Config{Rev: 2, Strict: true, Dialect: startup.Enhanced, IRD: 2, ORD: 2},
			[]string{"00010000", "00010000"},
			startup.Done,
			startup.Result{Version: 1},
			startup.Result{Version: 1, IRD: 2, ORD: 2},
			0,
		},
		{
			"enhanced and a lenient server of revision 1",
			startup.Config{Rev: 2, Strict: true, Dialect: startup.Enhanced, IRD: 1, ORD: 1},
			startup.Config{Rev: 1},
			[]string{"1002000400010001", "00010000"},
			startup.Done,
			startup.Result{Version: 1, IRD: 1, ORD: 1},
			startup.Result{Version: 1},
			4,
		},
		{
			"enhanced and lenient, both",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 1, ORD: 1},
			startup.Config{Rev: 1},
			[]string{"1002000400010001", "00010000"},
			startup.Done,
			startup.Result{Version: 1, IRD: 1, ORD: 1},
			startup.Result{Version: 1},
			0,
		},
		{
			"enhanced and a server without the word",
			startup.Config{Rev: 2, Strict: true, Dialect: startup.Enhanced},
			startup.Config{Rev: 2, Strict: true},
			[]string{"1002000400000000"},
			startup.Waiting,
			startup.Result{},
			startup.Result{},
			0,
		},
		{
			"enhanced reject",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 1, ORD: 8, CRC: true},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 32, ORD: 32, Reject: true, Private: []byte("no")},
			[]string{"5002000400010008", "70020006000800016e6f"},
			startup.Rejected,
			startup.Result{CRC: true, Version: 1, IRD: 1, ORD: 8},
			startup.Result{CRC: true, Version: 1, IRD: 8, ORD: 1},
			0,
		},
		{
			"depths that do not fit are left open",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 0x4000, ORD: 0xffff},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 0x5000, ORD: 2},
			[]string{"100200043fff3fff", "100200043fff3fff"},
			startup.Done,
			startup.Result{Version: 1, IRD: 0x4000, ORD: 0xffff},
			startup.Result{Version: 1, IRD: 0x5000, ORD: 2},
			0,
		},
		{
			"only the reads of the client are left open",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 4, ORD: 0x3fff},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 6, ORD: 16},
			[]string{"1002000400043fff", "100200043fff0004"},
			startup.Done,
			startup.Result{Version: 1, IRD: 4, ORD: 0x3fff},
			startup.Result{Version: 1, IRD: 6, ORD: 4},
			0,
		},
		{
			"the A bit is repeated, and a server without any indication takes all",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, PeerToPeer: true, RTR: mpa.RTRSend | mpa.RTRWrite},
			startup.Config{Rev: 2, Dialect: startup.Enhanced},
			[]string{"10020004c0008000", "10020004c0008000"},
			startup.Done,
			startup.Result{Version: 1, RTR: mpa.RTRWrite, RTRs: mpa.RTRSend | mpa.RTRWrite},
			startup.Result{Version: 1, RTRs: mpa.RTRSend | mpa.RTRWrite},
			0,
		},
		{
			"a peer-to-peer server and a client",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, RTR: all},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, PeerToPeer: true, RTR: all},
			[]string{"1002000400000000", "1002000400000000"},
			startup.Done,
			startup.Result{Version: 1},
			startup.Result{Version: 1},
			0,
		},
		{
			"room for a Read as indication",
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 4, PeerToPeer: true, RTR: mpa.RTRRead},
			startup.Config{Rev: 2, Dialect: startup.Enhanced, IRD: 8, ORD: 8, RTR: all},
			[]string{"1002000480044000", "1002000480014004"},
			startup.Done,
			startup.Result{Version: 1, IRD: 4, RTR: mpa.RTRRead, RTRs: mpa.RTRRead},
			startup.Result{Version: 1, IRD: 1, ORD: 4, RTRs: mpa.RTRRead},
			0,
		},
		{
			"draft -01, a Send is required",
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 2, ORD: 2, RTR: mpa.RTRWrite},
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 2, ORD: 2},
			[]string{"1002000440020002", "1002000400020002"},
			startup.Done,
			startup.Result{Version: 1, IRD: 2, ORD: 2, RTR: mpa.RTRSend, RTRs: mpa.RTRSend},
			startup.Result{Version: 1, IRD: 2, ORD: 2, RTRs: mpa.RTRSend},
			0,
		},
		{
			"draft -01, depths left open in place",
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 0x3fff, ORD: 2, RTR: mpa.RTRWrite},
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 8, ORD: 8, RTR: mpa.RTRWrite},
			[]string{"100200047fff0002", "100200047fff0008"},
			startup.Done,
			startup.Result{Version: 1, IRD: 0x3fff, ORD: 2, RTR: mpa.RTRWrite, RTRs: mpa.RTRWrite},
			startup.Result{Version: 1, IRD: 8, ORD: 8, RTRs: mpa.RTRWrite},
			0,
		},
		{
			"draft -01, a Reply without the word takes all",
			startup.Config{Rev: 2, Dialect: startup.Draft01, IRD: 2, ORD: 2, RTR: mpa.RTRWrite},
			startup.Config{Rev: 2},
			[]string{"1002000440020002", "00020000"},
			startup.Done,
			startup.Result{Version: 1, IRD: 2, ORD: 2, RTR: mpa.RTRWrite, RTRs: all},
			startup.Result{Version: 1},
			0,
		},
		{
			"2007, the frame has the C bit of the Reply",
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true, Markers: true},
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true, CRC: true},
			[]string{"90010000", "50010000", "c0010000"},
			startup.Done,
			startup.Result{RecvMarkers: true, CRC: true, Version: 1, Frame: true},
			startup.Result{SendMarkers: true, CRC: true, Version: 1, Frame: true},
			0,
		},
		{
			"2007, a reject ends it",
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true},
			startup.Config{Rev: 1, Dialect: startup.RTR2007, PeerToPeer: true, Reject: true},
			[]string{"10010000", "30010000"},
			startup.Rejected,
			startup.Result{Version: 1},
			startup.Result{Version: 1},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i, r, frames := talk(t, tt.ini, tt.rsp, 1<<16)
			var got []string
			for _, f := range frames {
				got = append(got, flags(f))
			}
			if !reflect.DeepEqual(got, tt.frames) || i.State() != tt.state {
				t.Errorf("frames %v, want %v; state %d", got, tt.frames, i.State())
			}
			if got := terms(i.Result()); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("agreed %+v\n want %+v", got, tt.want)
			}
			if got := terms(r.Result()); !reflect.DeepEqual(got, tt.server) {
				t.Errorf("server agreed %+v\n        want %+v", got, tt.server)
			}
			if term, due := i.Terminate(); due != (tt.term != 0) || term.Code != tt.term || due && (term.Layer != 2 || term.EType != 0) {
				t.Errorf("Terminate %+v %v", term, due)
			}
			if term, due := r.Terminate(); due {
				t.Errorf("a responder is to send Terminate %+v", term)
			}
		})
	}
}

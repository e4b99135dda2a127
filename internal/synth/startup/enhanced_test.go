package startup_test

import (
	"encoding/hex"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

const (
	requestKey = "4d504120494420526571204672616d65"
	replyKey   = "4d504120494420526570204672616d65"
)

// The startup frames of the vectors, octet for octet.
func TestMachine_Vectors(t *testing.T) {
	word := startup.Config{Rev: 2, Dialect: startup.Enhanced, CRC: true, IRD: 16, ORD: 16, PeerToPeer: true, RTR: mpa.RTRWrite | mpa.RTRRead, Private: []byte{0xaa, 0xbb}}
	taken := startup.Config{Rev: 2, Dialect: startup.Enhanced, CRC: true, IRD: 16, ORD: 8, RTR: mpa.RTRRead}
	for _, tt := range []struct {
		name           string
		ini, rsp       startup.Config
		request, reply string
	}{
		{"revision 1", startup.Config{Rev: 1, CRC: true}, startup.Config{Rev: 1, CRC: true}, "40010000", "40010000"},
		{"private data", startup.Config{Rev: 1, CRC: true, Markers: true, Private: []byte{1, 2, 3, 4, 5}}, startup.Config{Rev: 1}, "c00100050102030405", "40010000"},
		{"reject", startup.Config{Rev: 1, CRC: true}, startup.Config{Rev: 1, Reject: true}, "40010000", "60010000"},
		{"enhanced", word, taken, "500200068010c010aabb", "5002000480104008"},
		{"revision 0", startup.Config{}, startup.Config{}, "c0000000", "c0000000"},
	} {
		_, _, frames := talk(t, tt.ini, tt.rsp, 7)
		if got := hex.EncodeToString(frames[0].Append(nil)); got != requestKey+tt.request {
			t.Errorf("%s: Request %s", tt.name, got)
		}
		if got := hex.EncodeToString(frames[1].Append(nil)); got != replyKey+tt.reply {
			t.Errorf("%s: Reply %s", tt.name, got)
		}
	}
}

// The pairs of depths of the vectors, as an initiator reads them.
func TestMachine_Depths(t *testing.T) {
	const open = mpa.DepthNotNegotiated
	for _, tt := range []struct{ qIRD, qORD, rIRD, rORD, limit uint16 }{
		{16, 16, 16, 16, 16},
		{4, 8, 8, 4, 8},
		{4, 8, 2, 4, 2},
		{4, 0, 1, 4, 0}, // not even the Read of an indication raises its own limit
		{4, 8, 16, 4, 8},
		{4, 8, 8, open, 8},
		{open, 8, 8, open, 8},
		{open, 8, 8, 4, 8},
		{4, open, open, 4, open},
		{4, open, 4, 4, 4},
	} {
		i := startup.New(startup.Config{Initiator: true, Rev: 2, Dialect: startup.Enhanced, IRD: tt.qIRD, ORD: tt.qORD})
		i.Start()
		i.Receive(reply(mpa.Enhanced{IRD: tt.rIRD, ORD: tt.rORD}))
		if r := i.Result(); r.ORD != tt.limit || r.IRD != tt.qIRD || i.State() != startup.Done {
			t.Errorf("%+v: agreed %d/%d", tt, r.IRD, r.ORD)
		}
		if c, due := i.Terminate(); due {
			t.Errorf("%+v: %+v", tt, c)
		}
	}
}

func reply(e mpa.Enhanced) []byte {
	return mpa.Startup{Kind: mpa.StartupReply, Rev: 2, S: true, PDLength: mpa.EnhancedLen, PrivateData: e.Append(nil)}.Append(nil)
}

// Replies that a client cannot do as told get a Terminate, or another
// indication than the first choice (RFC 6581 sections 8 and 9.2).
func TestMachine_Terminate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		peer  bool
		types mpa.RTRSet
		reply mpa.Enhanced
		rtr   mpa.RTRSet
		code  uint8
	}{
		{"ORD above the own IRD", false, 0, mpa.Enhanced{IRD: 4, ORD: 5}, 0, 6},
		{"both reasons", true, mpa.RTRSend, mpa.Enhanced{A: true, C: true, IRD: 4, ORD: 5}, 0, 6},
		{"no common type", true, mpa.RTRSend, mpa.Enhanced{A: true, C: true, D: true, IRD: 4, ORD: 4}, 0, 7},
		{"no type at all", true, all, mpa.Enhanced{A: true, IRD: 4, ORD: 4}, 0, 7},
		{"none offered", true, 0, mpa.Enhanced{A: true, B: true, IRD: 4, ORD: 4}, 0, 7},
		{"all", true, all, mpa.Enhanced{A: true, B: true, C: true, D: true, IRD: 4, ORD: 4}, mpa.RTRRead, 0},
		{"a Write or a Send", true, all, mpa.Enhanced{A: true, B: true, C: true, IRD: 4, ORD: 4}, mpa.RTRWrite, 0},
		{"a Send", true, all, mpa.Enhanced{A: true, B: true, IRD: 4, ORD: 4}, mpa.RTRSend, 0},
		{"no room for the Read", true, all, mpa.Enhanced{A: true, B: true, D: true, ORD: 4}, mpa.RTRSend, 0},
		{"only a Read, and no room", true, all, mpa.Enhanced{A: true, D: true, ORD: 4}, mpa.RTRRead, 0},
		{"client and server after all", true, all, mpa.Enhanced{B: true, C: true, D: true, IRD: 4, ORD: 4}, 0, 0},
		{"peer to peer unasked", false, all, mpa.Enhanced{A: true, D: true, IRD: 4, ORD: 4}, 0, 0},
	} {
		i := startup.New(startup.Config{Initiator: true, Rev: 2, Dialect: startup.Enhanced, IRD: 4, ORD: 4, PeerToPeer: tt.peer, RTR: tt.types})
		i.Start()
		if c, due := i.Terminate(); due {
			t.Errorf("%s: %+v before the Reply", tt.name, c)
		}
		i.Receive(reply(tt.reply))
		c, due := i.Terminate()
		if due != (tt.code != 0) || c.Code != tt.code || due && (c.Layer != 2 || c.EType != 0) {
			t.Errorf("%s: %+v, %v", tt.name, c, due)
		}
		if got := i.Result().RTR; got != tt.rtr {
			t.Errorf("%s: indication %v", tt.name, got)
		}
	}
}

// What the siw driver of Linux has answered, from a capture.
func TestMachine_SIW(t *testing.T) {
	enhanced := startup.Config{Rev: 2, CRC: true, Dialect: startup.Enhanced, IRD: 4, ORD: 4}
	peer := func(types mpa.RTRSet) startup.Config {
		c := enhanced
		c.PeerToPeer, c.RTR = true, types
		return c
	}
	for _, tt := range []struct {
		name           string
		cfg            startup.Config
		request, reply string
		rtr            mpa.RTRSet
		code           uint8
	}{
		{"revision 1", startup.Config{Rev: 1, CRC: true}, "40010000", "40010000", 0, 0},
		{"revision 2 without the word", startup.Config{Rev: 2, CRC: true}, "40020000", "40020000", 0, 0},
		{"enhanced", enhanced, "5002000400040004", "5002000400040004", 0, 0},
		{"a Read", peer(mpa.RTRRead), "5002000480044004", "5002000480044004", mpa.RTRRead, 0},
		{"it prefers a Write", peer(mpa.RTRWrite | mpa.RTRRead), "500200048004c004", "5002000480048004", mpa.RTRWrite, 0},
		{"it takes no Send", peer(mpa.RTRSend), "50020004c0040004", "5002000480048004", 0, 7},
	} {
		tt.cfg.Initiator, tt.cfg.Strict = true, true
		i := startup.New(tt.cfg)
		if got := flags(i.Start()); got != tt.request {
			t.Errorf("%s: Request %s", tt.name, got)
		}
		b, err := hex.DecodeString(replyKey + tt.reply)
		if err != nil {
			t.Fatal(err)
		}
		i.Receive(b)
		r := i.Result()
		if c, _ := i.Terminate(); i.State() != startup.Done || c.Code != tt.code || r.RTR != tt.rtr || !r.CRC {
			t.Errorf("%s: state %d, %+v, Terminate %+v", tt.name, i.State(), r, c)
		}
	}
}
